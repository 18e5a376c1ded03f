//! `GET /reauthenticate`: sends a code to the user's confirmed e-mail address, or else phone number. `PUT /user`
//! takes it as `nonce` where the project requires it for a password change. Source: Auth contract §2.7, AUTH-074.

use actix_web::HttpResponse;

use super::response_bodies::MessageBody;
use crate::error::AuthError;
use crate::flows::accounts;
use crate::mailer;
use crate::request::{AuthRequest, SignedIn};
use crate::sms::{self, Channel, CodePurpose, TextCode};
use crate::store::audit::{Action, Actor};
use crate::store::users;

/// `GET /reauthenticate` → 200 `{}`, or `{message_id?}` for a text message.
///
/// # Errors
/// 400 `validation_failed` for a user without address; 422 `email_not_confirmed` or `phone_not_confirmed`; 429
/// `over_email_send_rate_limit` or `over_sms_send_rate_limit`.
pub(crate) async fn send_reauthentication_code(
    request: AuthRequest,
    caller: SignedIn,
) -> Result<HttpResponse, AuthError> {
    let by_phone = caller.user.email.is_empty();
    if by_phone && caller.user.phone.is_empty() {
        return Err(AuthError::invalid(
            "Reauthentication requires the user to have an email or a phone number",
        ));
    }
    if by_phone && !caller.user.is_phone_confirmed() {
        return Err(AuthError::ReauthenticationPhoneNotConfirmed);
    }
    if !by_phone && !caller.user.is_confirmed() {
        return Err(AuthError::ReauthenticationEmailNotConfirmed);
    }
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    // The pause between two codes is checked against the row, so concurrent requests must wait for each other.
    let user = users::lock_by_id(&db, caller.user.id)
        .await?
        .ok_or(AuthError::TokenUserNotFound)?;
    accounts::log_action(&request, &db, Actor::User(&user), Action::ReauthenticateRequested).await?;
    let message_id = if by_phone {
        let purpose = CodePurpose::Reauthentication;
        sms::send_code(
            &request,
            &db,
            &user,
            TextCode {
                phone: &user.phone,
                purpose,
                channel: Channel::Sms,
            },
        )
        .await?
    } else {
        mailer::send_reauthentication(&request, &db, &user).await?;
        None
    };
    db.commit().await?;
    Ok(HttpResponse::Ok().json(MessageBody { message_id }))
}
