//! Mail: the development inbox, and in `serve` the mails that wait for the SMTP server (CONSOLE-140). The messages hold codes
//! and links that sign people in, so viewers do not see them.

mod inbox;
mod outgoing;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let admin = Access::From(Level::Admin);
    vec![
        ApiRoute::new(Method::GET, "/api/mail", admin, inbox::list),
        ApiRoute::new(Method::DELETE, "/api/mail", admin, inbox::clear),
        ApiRoute::new(Method::GET, "/api/mail/{id}", admin, inbox::show),
        ApiRoute::new(Method::DELETE, "/api/mail/{id}", admin, inbox::delete),
        ApiRoute::new(Method::POST, "/api/mail/{id}/retry", admin, outgoing::retry),
    ]
}
