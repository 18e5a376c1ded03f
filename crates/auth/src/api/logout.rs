//! `POST /logout?scope=global|local|others` → 204. Source: Auth contract §2.9, AUTH-014 to AUTH-016.

use actix_web::HttpResponse;
use deadpool_postgres::Transaction;
use serde::Deserialize;
use uuid::Uuid;

use crate::error::AuthError;
use crate::flows::accounts;
use crate::request::{AnySession, AuthRequest, Query};
use crate::store::audit::{Action, Actor};
use crate::store::sessions;
use crate::store::user_access::{self, AccessEnd};

/// Query of `POST /logout`: `scope` is `global` (the default), `local` or `others`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LogoutQuery {
    scope: String,
}

/// `POST /logout?scope=` → 204 without a body. Refresh tokens are deleted with their sessions by a cascade of the
/// database.
///
/// `global` deletes all sessions of the user and what was begun in them, `local` the current one, `others` all but the current
/// one, and what was begun, in whichever session: a code or a change of address does not tell where it comes from. A client of the OAuth server ends its own session only, by `global` and by `local`.
///
/// # Errors
/// 400 `validation_failed` for any other scope, 403 `no_authorization` for a client that wants to end others.
pub(crate) async fn delete_sessions(
    request: AuthRequest,
    AnySession(caller): AnySession,
    query: Query<LogoutQuery>,
) -> Result<HttpResponse, AuthError> {
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let user_id = caller.user.id;
    let session = caller.session.as_ref();
    let is_client = session.is_some_and(|session| session.client_id.is_some());
    match (query.scope.as_str(), session.map(|session| session.id)) {
        ("" | "global", Some(session)) if is_client => sessions::delete(&db, session).await?,
        ("others", _) if is_client => return Err(AuthError::ClientNotAllowed),
        ("" | "global", _) => sign_out(&request, &db, (user_id, None)).await?,
        ("local", Some(session)) => sessions::delete(&db, session).await?,
        ("others", Some(session)) => sign_out(&request, &db, (user_id, Some(session))).await?,
        // A token without `session_id` was signed by the project itself, so there is no current session to delete or
        // keep.
        ("local" | "others", None) => {}
        (scope, _) => return Err(AuthError::invalid(format!("Unsupported logout scope {scope:?}"))),
    }
    accounts::log_action(&request, &db, Actor::User(&caller.user), Action::Logout).await?;
    db.commit().await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Ends the sessions of a user, except `kept`, and what was begun.
async fn sign_out(
    request: &AuthRequest,
    db: &Transaction<'_>,
    (user_id, kept): (Uuid, Option<Uuid>),
) -> Result<(), AuthError> {
    Ok(user_access::end(db, user_id, AccessEnd::SignedOut { kept }, request.now()).await?)
}
