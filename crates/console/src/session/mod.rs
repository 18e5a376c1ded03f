//! Accounts, sign-in, sessions and their limits (CONSOLE-013, 014, 020).

mod accounts;
mod api;
mod caller;
mod cookie;
mod limits;
mod lookup;
mod member_lookup;
mod password;
mod project_member;
mod secret;
mod sign_in;
mod store;
mod throttle;

use actix_web::http::Method;

use crate::access::Access;
use crate::endpoint::ApiRoute;
use crate::state::Level;

pub use accounts::{Account, AccountError, add_account, list_accounts, remove_account, set_account_level};
pub use caller::Session;
pub use limits::StatementPermit;
pub(crate) use lookup::find;
pub(crate) use secret::random_secret;
pub(crate) use store::SessionStore;

/// Returns this area's endpoints.
pub(crate) fn routes() -> Vec<ApiRoute> {
    vec![
        ApiRoute::new(Method::GET, "/api/session", Access::Open, api::describe),
        ApiRoute::new(Method::POST, "/api/session", Access::Open, sign_in::sign_in),
        ApiRoute::new(
            Method::DELETE,
            "/api/session",
            Access::From(Level::Viewer),
            api::sign_out,
        ),
        ApiRoute::new(
            Method::GET,
            "/api/accounts",
            Access::From(Level::Admin),
            api::list,
        ),
    ]
}
