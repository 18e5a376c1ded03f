//! Which rows a role may read and change, and why: the access matrix and the simulator (CONSOLE-080 to 084).

mod access;
mod simulate;
mod subject;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let viewer = Access::From(Level::Viewer);
    vec![
        ApiRoute::new(Method::GET, "/api/access", viewer, access::show),
        ApiRoute::new(Method::POST, "/api/simulate", viewer, simulate::run),
    ]
}
