//! SQL texts that users run: `/api/sql/…` (CONSOLE-017, 090 to 095).
//!
//! Each run has a new connection, because a text can change its session in ways that cannot be reset. It logs in as the
//! account's level, or as the API's authenticator if the text runs as one of its roles, so PostgreSQL decides what it may
//! do.

mod count;
mod events;
mod explain;
mod registry;
mod request;
mod rows;
mod session;
mod start;
mod stop;
mod task;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let viewer = Access::From(Level::Viewer);
    vec![
        ApiRoute::new(Method::POST, "/api/sql/runs", viewer, start::start_run),
        ApiRoute::new(Method::DELETE, "/api/sql/runs/{id}", viewer, start::cancel_run),
        ApiRoute::new(Method::POST, "/api/sql/explain", viewer, explain::explain),
        ApiRoute::new(Method::POST, "/api/sql/count", viewer, count::count_objects),
    ]
}
