//! `/functions/v1` on one worker thread of the server: routing, authorization, and forwarding to the function.

mod authorize;
mod connections;
mod forward;
mod invoke;
mod request_body;
mod response_body;
mod state;
#[cfg(test)]
mod tests;
mod upgrade;

use std::rc::Rc;

use actix_web::web;
use selvedge_gateway::UpgradeHandler;

use crate::service::Functions;
use state::WorkerState;
use upgrade::Upgrades;

/// The service on one thread of the server, with that thread's connections to the functions.
#[derive(Clone)]
pub struct FunctionsWorker {
    state: Rc<WorkerState>,
}

impl Functions {
    /// The service on the current thread.
    pub fn worker(&self) -> FunctionsWorker {
        FunctionsWorker {
            state: Rc::new(WorkerState::new(&self.shared)),
        }
    }
}

impl FunctionsWorker {
    /// Answers every path below the prefix at which this is mounted.
    pub fn configure(self) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
        Box::new(move |app| {
            app.app_data(web::ThinData(self.state))
                .default_service(web::to(invoke::invoke_function));
        })
    }

    /// The handler of WebSocket handshakes.
    pub fn upgrades(&self) -> Rc<dyn UpgradeHandler> {
        Rc::new(Upgrades::new(Rc::clone(&self.state)))
    }
}
