//! `POST /recover`: mails a link to choose a new password. `{}` for known and unknown addresses alike. Source: AUTH-020,
//! AUTH-023, AUTH-024.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::json;

use crate::accounts;
use crate::captcha::{self, Captcha};
use crate::error::AuthError;
use crate::letters;
use crate::limits::Limited;
use crate::machine::verify::VerifyType;
use crate::pace;
use crate::request::{Json, RequestInfo, text};
use crate::rules::address::parse_email;
use crate::rules::pkce::CodeChallenge;
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::users;

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RecoverBody {
    #[serde(deserialize_with = "text")]
    email: String,
    #[serde(deserialize_with = "text")]
    code_challenge: String,
    #[serde(deserialize_with = "text")]
    code_challenge_method: String,
    gotrue_meta_security: Captcha,
}

/// `POST /recover`
pub(crate) async fn recover(
    state: web::Data<AuthState>,
    info: RequestInfo,
    Json(body): Json<RecoverBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Recover)?;
    captcha::check(&state, &info, &body.gotrue_meta_security).await?;
    if !state.config.email.enabled {
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
    pace::evenly(deliver(&state, &info, &email, challenge.as_ref())).await?;
    Ok(HttpResponse::Ok().json(json!({})))
}

/// Mails the link, if there is somebody to mail it to.
async fn deliver(
    state: &AuthState,
    info: &RequestInfo,
    email: &str,
    challenge: Option<&CodeChallenge>,
) -> Result<(), AuthError> {
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    match users::find_by_email(&db, email, &info.audience).await? {
        Some(user) => {
            let user = users::lock_by_id(&db, user.id).await?.unwrap_or(user);
            accounts::log(state, &db, info, Actor::User(&user), Action::RecoveryRequested).await?;
            letters::send_recovery(state, &db, info, &user, VerifyType::Recovery, challenge).await?;
            db.commit().await?;
        }
        None => state.limits.check_unknown_address(Limited::Recover, email)?,
    }
    Ok(())
}
