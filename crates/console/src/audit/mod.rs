//! The audit: who has done what, from where, with which outcome (CONSOLE-019).
//!
//! An entry is written in the transaction of the change, so that there is neither a change without an entry nor an entry of
//! a change that was rolled back. Where the change is a service's, the entry comes before the call.

mod api;
mod entry;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

pub use entry::{AuditEntry, record, write};

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::new(
        Method::GET,
        "/api/audit",
        Access::From(Level::Admin),
        api::list,
    )]
}
