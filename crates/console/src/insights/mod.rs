//! What the overview shows: findings of the advisors, slow queries and sizes (CONSOLE-041, 042).

mod advisors;
mod sizes;
mod slow_queries;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let (viewer, admin) = (Access::From(Level::Viewer), Access::From(Level::Admin));
    // A key holds names of objects, in which a slash may be.
    let muted = "/api/advisors/muted/{key:.*}";
    vec![
        ApiRoute::new(Method::GET, "/api/advisors", viewer, advisors::list),
        ApiRoute::new(Method::PUT, muted, admin, advisors::mute),
        ApiRoute::new(Method::DELETE, muted, admin, advisors::unmute),
        ApiRoute::new(Method::GET, "/api/slow-queries", viewer, slow_queries::list),
        ApiRoute::new(Method::GET, "/api/sizes", viewer, sizes::show),
    ]
}
