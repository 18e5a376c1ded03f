//! Users of the project beyond Auth's admin API: their sessions, and tokens to act as one of them (CONSOLE-110, 112).
//!
//! Users themselves are created, changed and deleted through `/api/proxy/auth`, which is Auth's public path.

mod impersonate;
mod sessions;

use actix_web::http::Method;

use crate::endpoint::{Access, ApiRoute};
use crate::state::Level;

/// The endpoints of this area.
pub(crate) fn routes() -> Vec<ApiRoute> {
    let (viewer, admin) = (Access::From(Level::Viewer), Access::From(Level::Admin));
    vec![
        ApiRoute::new(Method::GET, "/api/auth/sessions", viewer, sessions::list),
        ApiRoute::new(Method::DELETE, "/api/auth/sessions", admin, sessions::end_all),
        ApiRoute::new(
            Method::DELETE,
            "/api/auth/sessions/{id}",
            admin,
            sessions::end_one,
        ),
        ApiRoute::new(
            Method::POST,
            "/api/auth/impersonate",
            admin,
            impersonate::create_token,
        ),
    ]
}
