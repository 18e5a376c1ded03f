//! State that the requests of one thread share.

use std::rc::Rc;
use std::sync::Arc;

use super::connections::Connections;
use crate::service::Shared;

/// The functions of the project, and this thread's connections to them.
pub(super) struct WorkerState {
    pub(super) shared: Arc<Shared>,
    pub(super) connections: Rc<Connections>,
}

impl WorkerState {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            connections: Rc::default(),
        }
    }
}
