//! The latest requests and log lines of this node, in memory (CONSOLE-130, 131): `/api/logs`, one request, and a live tail.

mod api;
mod entry;
mod filter;
mod lines;
mod log;
mod redact;
mod ring;
mod statements;
mod tail;
mod trace;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

pub use log::ConsoleLog;
pub use trace::StatementTracing;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    vec![
        ApiRoute::new(Method::GET, "/api/logs", Access::From(Level::Viewer), api::list),
        ApiRoute::new(
            Method::GET,
            "/api/logs/tail",
            Access::From(Level::Viewer),
            tail::follow,
        ),
        ApiRoute::new(
            Method::GET,
            "/api/logs/{request_id}",
            Access::From(Level::Viewer),
            api::show,
        ),
    ]
}
