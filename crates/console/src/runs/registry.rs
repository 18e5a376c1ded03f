//! The runs in progress, by account and the id that the browser half has chosen.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::error::ConsoleError;
use crate::session::Session;

/// An account and the id of one of its runs, so that an account cannot cancel runs of others.
type Key = (String, String);

static RUNS: LazyLock<Mutex<HashMap<Key, Arc<Notify>>>> = LazyLock::new(Mutex::default);

/// The entry of a run in progress, which is removed when this is dropped.
pub(super) struct Registration {
    key: Key,
    pub(super) cancelled: Arc<Notify>,
}

fn runs() -> MutexGuard<'static, HashMap<Key, Arc<Notify>>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(session: &Session, id: &str) -> Key {
    // Without sign-in, callers are distinguished by their IP address.
    let account = format!("{}@{}", session.account_name(), session.address);
    (account, id.to_owned())
}

/// Registers a run, so that it can be cancelled by its id.
///
/// # Errors
/// 409 when the id is in use.
pub(super) fn register(session: &Session, id: &str) -> Result<Registration, ConsoleError> {
    let key = key(session, id);
    let cancelled = Arc::new(Notify::new());
    let mut runs = runs();
    if runs.contains_key(&key) {
        return Err(ConsoleError::conflict("A run with this id is in progress"));
    }
    runs.insert(key.clone(), Arc::clone(&cancelled));
    Ok(Registration { key, cancelled })
}

/// Cancels a run, and returns false when none has this id.
pub(super) fn cancel(session: &Session, id: &str) -> bool {
    match runs().get(&key(session, id)) {
        // A permit is kept when the run is not waiting at this moment.
        Some(cancelled) => {
            cancelled.notify_one();
            true
        }
        None => false,
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        runs().remove(&self.key);
    }
}
