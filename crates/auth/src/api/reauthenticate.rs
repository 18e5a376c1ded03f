//! `GET /reauthenticate`: mails the nonce that a password change may ask for. Source: Auth contract §2.7, AUTH-074.

use actix_web::{HttpResponse, web};
use serde_json::json;

use crate::accounts;
use crate::error::AuthError;
use crate::letters;
use crate::request::{RequestInfo, SignedIn};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::users;

/// `GET /reauthenticate`
pub(crate) async fn reauthenticate(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
) -> Result<HttpResponse, AuthError> {
    if caller.user.email.is_empty() {
        return Err(AuthError::invalid(
            "Reauthentication requires the user to have an email or a phone number",
        ));
    }
    if !caller.user.is_confirmed() {
        return Err(AuthError::EmailNotConfirmed { status: 422 });
    }
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let user = users::lock_by_id(&db, caller.user.id)
        .await?
        .ok_or(AuthError::TokenUserNotFound)?;
    accounts::log(
        &state,
        &db,
        &info,
        Actor::User(&user),
        Action::ReauthenticateRequested,
    )
    .await?;
    letters::send_reauthentication(&state, &db, &user).await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(json!({})))
}
