//! What the console does with users and Auth beyond Auth's admin API: sessions, tokens to act as a user, and the configuration
//! (CONSOLE-110, 112, 113).
//!
//! Users themselves are created, changed and deleted through `/api/proxy/auth`, which is Auth's public path.

mod configuration;
mod impersonate;
mod sessions;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

/// Returns this area's endpoints.
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
        ApiRoute::new(Method::GET, "/api/auth/configuration", admin, configuration::show),
        ApiRoute::new(
            Method::POST,
            "/api/auth/configuration/trials",
            admin,
            configuration::run_trial,
        ),
    ]
}
