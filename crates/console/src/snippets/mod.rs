//! Saved queries (CONSOLE-096): `/api/sql/snippets`. They are files of the project in `start`, and rows of each account where
//! the console serves several people.

mod api;
mod files;
mod rows;
mod snippet;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let viewer = Access::From(Level::Viewer);
    let one = "/api/sql/snippets/{name}";
    vec![
        ApiRoute::new(Method::GET, "/api/sql/snippets", viewer, api::list),
        ApiRoute::new(Method::GET, one, viewer, api::show),
        ApiRoute::new(Method::PUT, one, viewer, api::save),
        ApiRoute::new(Method::DELETE, one, viewer, api::delete),
    ]
}
