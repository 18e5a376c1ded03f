//! `POST /recover`: mails a link with which the user can choose a new password. The response is `{}` for registered
//! and unregistered addresses alike. Source: Auth contract §2.7, AUTH-020, AUTH-023, AUTH-024.

use actix_web::HttpResponse;
use serde::Deserialize;

use super::response_bodies::EmptyBody;
use crate::crypto::pkce::CodeChallenge;
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::unanswered_requests::{Recipient, count_unanswered};
use crate::mailer;
use crate::protection::captcha::{self, Captcha};
use crate::protection::constant_time;
use crate::request::{AuthRequest, Json, read_text};
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::audit::{Action, Actor};
use crate::store::users;
use crate::validation::address::parse_email;
use crate::validation::verify_type::VerifyType;

/// Body of `POST /recover`: `{email}` and the PKCE challenge, if any.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RecoverBody {
    #[serde(deserialize_with = "read_text")]
    email: String,
    #[serde(deserialize_with = "read_text")]
    code_challenge: String,
    #[serde(deserialize_with = "read_text")]
    code_challenge_method: String,
    gotrue_meta_security: Captcha,
}

/// `POST /recover?redirect_to=` → 200 `{}`.
///
/// # Errors
/// 400 `validation_failed` for a missing or malformed address, `captcha_failed` or `email_provider_disabled`; 429
/// `over_request_rate_limit`, or `over_email_send_rate_limit` within the pause between two mails, also for
/// unregistered addresses.
pub(crate) async fn send_recovery(
    request: AuthRequest,
    Json(body): Json<RecoverBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::Recover)?;
    captcha::check_captcha(&request, &body.gotrue_meta_security).await?;
    if !request.config().email.enabled {
        return Err(AuthError::EmailProviderDisabled {
            status: 400,
            text: "Email logins are disabled",
        });
    }
    if body.email.is_empty() {
        return Err(AuthError::invalid("Password recovery requires an email"));
    }
    let email = parse_email(&body.email)?;
    let challenge = CodeChallenge::parse(&body.code_challenge, &body.code_challenge_method)?;
    constant_time::delay_to_full_interval(send_recovery_mail(&request, &email, challenge.as_ref())).await?;
    Ok(HttpResponse::Ok().json(EmptyBody {}))
}

/// Mails the link, if the address is registered; otherwise only counts the request, so that a second one is limited
/// likewise.
///
/// # Errors
/// 429 `over_email_send_rate_limit`, 500 when the mail cannot be sent.
async fn send_recovery_mail(
    request: &AuthRequest,
    email: &str,
    challenge: Option<&CodeChallenge>,
) -> Result<(), AuthError> {
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let found = users::find_by_email(&db, email, &request.info.audience).await?;
    // The account of somebody who only claims the address is not given to its owner.
    match found.filter(|user| !user.only_claims_email()) {
        Some(user) => {
            // The pause between two mails is checked against the row, so concurrent requests must wait for each
            // other.
            let user = users::lock_by_id(&db, user.id).await?.unwrap_or(user);
            accounts::log_action(request, &db, Actor::User(&user), Action::RecoveryRequested).await?;
            mailer::send_recovery(request, &db, &user, VerifyType::Recovery, challenge).await?;
        }
        None => count_unanswered(request, &db, LimitedEndpoint::Recover, Recipient::Email(email)).await?,
    }
    Ok(db.commit().await?)
}
