//! `POST /logout?scope=global|local|others` → 204. Source: Auth contract §2.9, AUTH-014 to AUTH-016.

use actix_web::{HttpResponse, web};
use serde::Deserialize;

use crate::accounts;
use crate::error::AuthError;
use crate::request::{Query, RequestInfo, SignedIn};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::sessions;

/// The query of the endpoint.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LogoutQuery {
    scope: String,
}

/// `POST /logout`
pub(crate) async fn logout(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
    query: Query<LogoutQuery>,
) -> Result<HttpResponse, AuthError> {
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user_id = caller.user.id;
    match (
        query.scope.as_str(),
        caller.session.as_ref().map(|session| session.id),
    ) {
        ("" | "global", _) => sessions::delete_of_user(&db, user_id).await?,
        ("local", Some(session)) => sessions::delete(&db, session).await?,
        ("others", Some(session)) => sessions::delete_others(&db, user_id, session).await?,
        ("local" | "others", None) => {}
        (scope, _) => return Err(AuthError::invalid(format!("Unsupported logout scope {scope:?}"))),
    }
    accounts::log(&state, &db, &info, Actor::User(&caller.user), Action::Logout).await?;
    db.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}
