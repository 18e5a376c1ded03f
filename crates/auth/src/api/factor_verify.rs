//! `POST /factors/{id}/verify`: a second factor proves itself, and the session rises to `aal2`. Source: Auth contract §2.12,
//! AUTH-075, AUTH-076.
//!
//! A challenge is answered once and from the address that asked for it; wrong codes are counted per factor, wherever they come
//! from.

use actix_web::{HttpResponse, web};
use selvedge_mail::MailKind;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::factor_challenge::credential_of;
use crate::accounts;
use crate::error::AuthError;
use crate::hooks;
use crate::letters::{self, Notice};
use crate::limits::Limited;
use crate::mfa;
use crate::request::{Json, RequestInfo, SignedIn, text};
use crate::rules::counter_token::CounterToken;
use crate::rules::webauthn::{Ceremony, Credential, WebauthnError};
use crate::rules::{equal_secrets, one_time_code, totp};
use crate::sign_in::{TokenPair, rotate, sign};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::factors::{self, Challenge, Factor, FactorType};
use crate::text_messages;

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VerifyFactorBody {
    #[serde(deserialize_with = "text")]
    challenge_id: String,
    #[serde(deserialize_with = "text")]
    code: String,
    webauthn: Option<WebauthnBody>,
}

/// The answer of an authenticator.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WebauthnBody {
    #[serde(rename = "type", deserialize_with = "text")]
    kind: String,
    credential_response: Value,
}

/// What the answer was worth.
enum Proof {
    Wrong,
    Right,
    /// A WebAuthn credential, with its counter moved.
    Credential(Box<Credential>),
}

/// `POST /factors/{id}/verify` → a session at `aal2`.
pub(crate) async fn verify_factor(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
    id: web::Path<String>,
    Json(body): Json<VerifyFactorBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::FactorVerify)?;
    let session_id = mfa::session_of(&caller)?.id;
    let (factor, challenge) = {
        let client = state.client().await?;
        let factor = mfa::get_factor(&client, caller.user.id, &id).await?;
        if body.code.is_empty() && factor.kind != FactorType::Webauthn {
            return Err(AuthError::invalid("Code needs to be non-empty"));
        }
        mfa::check_verify(&state, factor.kind)?;
        let challenge = match body.challenge_id.parse::<Uuid>() {
            Ok(challenge) => factors::find_challenge(&client, factor.id, challenge).await?,
            Err(_) => None,
        };
        let challenge = challenge.ok_or_else(|| {
            AuthError::coded(
                422,
                "mfa_factor_not_found",
                "MFA factor with the provided challenge ID not found",
            )
        })?;
        if let Err(error) = check_challenge(&state, &info, &challenge) {
            if matches!(&error, AuthError::Coded { code, .. } if *code == "mfa_challenge_expired") {
                factors::delete_challenge(&client, challenge.id).await?;
            }
            return Err(error);
        }
        (factor, challenge)
    };
    state.limits.check_factor_guesses(factor.id)?;
    let proof = check_answer(&state, &factor, &challenge, &body).await?;
    let is_right = !matches!(proof, Proof::Wrong);
    let subject = (caller.user.id, factor.id, factor.kind.as_str());
    hooks::factor_attempted(&state, &info, subject, is_right).await?;
    if !is_right {
        state.limits.count_factor_guess(factor.id);
        return Err(wrong(factor.kind));
    }
    let tokens = raise(
        &state,
        &info,
        &caller,
        session_id,
        (&factor, &challenge),
        (proof, &body),
    )
    .await?;
    if !factor.is_verified {
        let notice = Notice {
            factor_type: factor.kind.as_str(),
            ..Notice::default()
        };
        letters::notify(&state, &info, &tokens.user, MailKind::MfaFactorEnrolled, notice).await;
    }
    Ok(tokens.response([]))
}

/// Whether the challenge may still be answered, and from here.
fn check_challenge(state: &AuthState, info: &RequestInfo, challenge: &Challenge) -> Result<(), AuthError> {
    if challenge.is_used || challenge.ip != info.ip {
        return Err(AuthError::coded(
            422,
            "mfa_ip_address_mismatch",
            "Challenge and verify IP addresses mismatch.",
        ));
    }
    if state.now() > challenge.created_at + state.config.mfa.challenge_expiry {
        return Err(AuthError::coded(
            422,
            "mfa_challenge_expired",
            format!(
                "MFA challenge {} has expired, verify against another challenge or create a new challenge.",
                challenge.id
            ),
        ));
    }
    Ok(())
}

async fn check_answer(
    state: &AuthState,
    factor: &Factor,
    challenge: &Challenge,
    body: &VerifyFactorBody,
) -> Result<Proof, AuthError> {
    let judged = |is_right| if is_right { Proof::Right } else { Proof::Wrong };
    match factor.kind {
        FactorType::Totp => Ok(judged(totp::is_valid(
            &factor.secret,
            &body.code,
            state.now().timestamp(),
        ))),
        FactorType::Phone if text_messages::provider_checks_codes(state) => {
            let accepted = text_messages::provider_accepts(state, &factor.phone, &body.code).await;
            if accepted {
                Ok(Proof::Right)
            } else {
                Err(AuthError::OtpExpired("Token has expired or is invalid"))
            }
        }
        FactorType::Phone => {
            let hash = one_time_code::hash(&factor.phone, &body.code);
            Ok(judged(
                !challenge.otp_hash.is_empty() && equal_secrets(&hash, &challenge.otp_hash),
            ))
        }
        FactorType::Webauthn => check_ceremony(factor, challenge, body.webauthn.as_ref()),
    }
}

/// A new factor registers, a verified one proves itself: nobody replaces a credential that has been verified.
fn check_ceremony(
    factor: &Factor,
    challenge: &Challenge,
    body: Option<&WebauthnBody>,
) -> Result<Proof, AuthError> {
    let body = body.ok_or_else(|| AuthError::invalid("WebAuthn config required"))?;
    if !matches!(body.kind.as_str(), "create" | "request") {
        return Err(AuthError::invalid("WebAuthn type must be create or request"));
    }
    if body.credential_response.is_null() {
        return Err(AuthError::invalid("credential_response required"));
    }
    let ceremony = challenge.ceremony.clone().unwrap_or_default();
    let ceremony: Ceremony = serde_json::from_value(ceremony)
        .map_err(|_| AuthError::invalid("The challenge is not one of WebAuthn"))?;
    let own = credential_of(factor).filter(|_| factor.is_verified);
    let checked = match (&own, body.kind.as_str()) {
        (None, "create") => ceremony.register(&body.credential_response),
        (Some(own), "request") => ceremony.authenticate(&body.credential_response, own),
        _ => return Err(AuthError::invalid("WebAuthn type does not fit the factor")),
    };
    match checked {
        Ok(credential) => Ok(Proof::Credential(Box::new(credential))),
        Err(WebauthnError::Malformed) => Err(AuthError::invalid("Invalid credential_response")),
        Err(error) => {
            tracing::info!(%error, "a WebAuthn factor was not verified");
            Ok(Proof::Wrong)
        }
    }
}

fn wrong(kind: FactorType) -> AuthError {
    let text = match kind {
        FactorType::Totp => "Invalid TOTP code entered",
        FactorType::Phone => "Invalid MFA Phone code entered",
        FactorType::Webauthn => "Invalid WebAuthn credential",
    };
    AuthError::coded(422, "mfa_verification_failed", text)
}

/// Uses the challenge up and raises the session, all or nothing.
async fn raise(
    state: &AuthState,
    info: &RequestInfo,
    caller: &SignedIn,
    session_id: Uuid,
    (factor, challenge): (&Factor, &Challenge),
    (proof, body): (Proof, &VerifyFactorBody),
) -> Result<TokenPair, AuthError> {
    let now = state.now();
    let user_id = caller.user.id;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    if !factors::use_challenge(&db, challenge.id, now).await? {
        return Err(AuthError::coded(
            422,
            "mfa_ip_address_mismatch",
            "Challenge and verify IP addresses mismatch.",
        ));
    }
    let traits = json!({
        "factor_id": factor.id, "challenge_id": challenge.id, "factor_type": factor.kind.as_str(),
    });
    let actor = Actor::User(&caller.user);
    accounts::log_as(state, &db, info, actor, Action::VerificationAttempted, traits).await?;
    let credential = match &proof {
        Proof::Credential(credential) => Some((json!(credential), credential.aaguid)),
        _ => None,
    };
    if !factor.is_verified {
        let credential = credential.as_ref().map(|(json, aaguid)| (json, *aaguid));
        factors::set_verified(&db, user_id, factor, credential, now).await?;
    }
    if let (Some((credential, _)), Some(answer)) = (&credential, &body.webauthn) {
        let data = json!({
            "challenge": {"id": challenge.id, "created_at": challenge.created_at},
            "type": answer.kind,
            "credential_response": answer.credential_response,
        });
        factors::set_last_ceremony(&db, factor.id, &data, credential, now).await?;
    }
    factors::raise_session(&db, (user_id, session_id), factor, now).await?;
    let refresh_token = rotate(&db, (user_id, session_id), now).await?;
    if CounterToken::parse(&refresh_token).is_none() {
        accounts::log(state, &db, info, actor, Action::TokenRevoked).await?;
    }
    let session = (session_id, "aal2");
    let method = factor.kind.amr_method();
    let tokens = sign(state, &db, info, user_id, session, (refresh_token, method), now).await?;
    db.commit().await?;
    Ok(tokens)
}
