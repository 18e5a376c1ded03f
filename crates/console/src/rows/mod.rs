//! Rows of a table: `/api/rows/…` (CONSOLE-050 to 060).
//!
//! A request names a table by its oid and columns by their names. Both are looked up in the system catalog, from which the
//! SQL is written. Values are PostgreSQL's text and always parameters.

mod apply;
mod export;
mod import;
mod read;
mod request;
mod sql;
mod table;
#[cfg(test)]
mod testing;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

pub(crate) use export::ExportTickets;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let viewer = Access::From(Level::Viewer);
    vec![
        ApiRoute::new(Method::POST, "/api/rows/read", viewer, read::read_rows),
        ApiRoute::new(Method::POST, "/api/rows/count", viewer, read::count_rows),
        ApiRoute::new(Method::POST, "/api/rows/cell", viewer, read::read_cell),
        ApiRoute::new(Method::POST, "/api/rows/export", viewer, export::create_ticket),
        ApiRoute::new(
            Method::GET,
            "/api/rows/export/{ticket}",
            Access::Ticket,
            export::download_export,
        ),
        ApiRoute::new(
            Method::POST,
            "/api/rows/import",
            Access::From(Level::Admin),
            import::import_rows,
        ),
        ApiRoute::new(
            Method::POST,
            "/api/rows/apply",
            Access::From(Level::Admin),
            apply::apply_changes,
        ),
        ApiRoute::new(
            Method::POST,
            "/api/rows/apply/settle",
            Access::From(Level::Admin),
            apply::settle_request,
        ),
    ]
}
