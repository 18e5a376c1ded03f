//! `GET /reauthenticate`: mails (or texts) the nonce that a password change may ask for. Source: Auth contract §2.7, AUTH-074.

use actix_web::{HttpResponse, web};
use serde_json::json;

use crate::accounts;
use crate::error::AuthError;
use crate::letters;
use crate::request::{RequestInfo, SignedIn};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::users;
use crate::text_messages::{self, Channel, CodePurpose};

/// `GET /reauthenticate`
pub(crate) async fn reauthenticate(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
) -> Result<HttpResponse, AuthError> {
    let by_phone = caller.user.email.is_empty();
    if by_phone && caller.user.phone.is_empty() {
        return Err(AuthError::invalid(
            "Reauthentication requires the user to have an email or a phone number",
        ));
    }
    if by_phone && !caller.user.is_phone_confirmed() {
        let text = "Please verify your phone first.";
        return Err(AuthError::coded(422, "phone_not_confirmed", text));
    }
    if !by_phone && !caller.user.is_confirmed() {
        let text = "Please verify your email first.";
        return Err(AuthError::coded(422, "email_not_confirmed", text));
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
    let message_id = if by_phone {
        let purpose = CodePurpose::Reauthentication;
        text_messages::send_code(&state, &db, &info, &user, &user.phone, purpose, Channel::Sms).await?
    } else {
        letters::send_reauthentication(&state, &db, &info, &user).await?;
        None
    };
    db.commit().await?;
    Ok(HttpResponse::Ok().json(message_id.map_or_else(|| json!({}), |id| json!({ "message_id": id }))))
}
