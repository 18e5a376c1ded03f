//! The audit: who has done what, from where, with which outcome (CONSOLE-019).
//!
//! An entry is written in the transaction of the change, so that there is neither a change without an entry nor an entry of
//! a change that was rolled back. Where the change is a service's, the entry comes before the call. Entries are sealed a moment later.

mod api;
mod entry;
mod seal;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

pub use entry::{AuditEntry, AuditPermit, record, write_by_service};
pub(crate) use seal::seal_forever;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::new(
        Method::GET,
        "/api/audit",
        Access::From(Level::Admin),
        api::list,
    )]
}
