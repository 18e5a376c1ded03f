//! `POST /factors/{id}/challenge`: asks a second factor to prove itself. Source: Auth contract §2.12, AUTH-075, AUTH-076.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::accounts;
use crate::error::AuthError;
use crate::limits::{Limited, seconds_left};
use crate::mfa::{self, ClientSite};
use crate::request::{OptionalJson, RequestInfo, SignedIn, text};
use crate::rules::one_time_code::{self, OneTimeCode};
use crate::rules::webauthn::{Ceremony, Credential, Registrant};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::factors::{self, Challenge, Factor, FactorType};
use crate::text_messages::{self, Channel};

/// What a client sends; nothing for an authenticator app.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChallengeBody {
    #[serde(deserialize_with = "text")]
    channel: String,
    webauthn: Option<ClientSite>,
}

/// `POST /factors/{id}/challenge` → `{id, type, expires_at, webauthn?}`
pub(crate) async fn challenge_factor(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
    id: web::Path<String>,
    OptionalJson(body): OptionalJson<ChallengeBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::FactorChallenge)?;
    mfa::session_of(&caller)?;
    let factor = {
        let client = state.client().await?;
        mfa::get_factor(&client, caller.user.id, &id).await?
    };
    mfa::check_verify(&state, factor.kind)?;
    let now = state.now();
    let mut challenge = Challenge {
        id: Uuid::new_v4(),
        created_at: now,
        is_used: false,
        ip: info.ip.clone(),
        otp_hash: String::new(),
        ceremony: None,
    };
    let mut answer = json!({
        "id": challenge.id,
        "type": factor.kind.as_str(),
        "expires_at": (now + state.config.mfa.challenge_expiry).timestamp(),
    });
    match factor.kind {
        FactorType::Totp => keep(&state, &info, &caller, &factor, &challenge).await?,
        FactorType::Phone => {
            let channel = Channel::parse(&body.channel, &state)?;
            send_and_keep(&state, &info, &caller, &factor, challenge, channel).await?;
        }
        FactorType::Webauthn => {
            let (ceremony, question) = begin(&state, &caller, &factor, body.webauthn.as_ref()).await?;
            challenge.ceremony = Some(ceremony);
            answer["webauthn"] = question;
            keep(&state, &info, &caller, &factor, &challenge).await?;
        }
    }
    Ok(HttpResponse::Ok().json(answer))
}

async fn keep(
    state: &AuthState,
    info: &RequestInfo,
    caller: &SignedIn,
    factor: &Factor,
    challenge: &Challenge,
) -> Result<(), AuthError> {
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    factors::insert_challenge(&db, factor.id, challenge).await?;
    let (actor, traits) = (Actor::User(&caller.user), mfa::traits(factor));
    accounts::log_as(state, &db, info, actor, Action::ChallengeCreated, traits).await?;
    Ok(db.commit().await?)
}

/// Sends a code by text message; a message that does not leave is no challenge.
async fn send_and_keep(
    state: &AuthState,
    info: &RequestInfo,
    caller: &SignedIn,
    factor: &Factor,
    challenge: Challenge,
    channel: Channel,
) -> Result<(), AuthError> {
    let config = &state.config.mfa.phone;
    if let Some(seconds) = seconds_left(factor.last_challenged_at, config.max_frequency, state.now()) {
        return Err(AuthError::TooSoonSms { seconds });
    }
    let code = OneTimeCode::generate(&factor.phone, config.otp_length, false);
    let challenge = Challenge {
        otp_hash: one_time_code::hash(&factor.phone, &code.otp),
        ..challenge
    };
    let _slot = state.mail_slot().await?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    let message = (factor.phone.as_str(), code.otp.as_str());
    text_messages::send_factor_code(state, &db, info, &caller.user, message, channel).await?;
    factors::insert_challenge(&db, factor.id, &challenge).await?;
    let (actor, traits) = (Actor::User(&caller.user), mfa::traits(factor));
    accounts::log_as(state, &db, info, actor, Action::ChallengeCreated, traits).await?;
    Ok(db.commit().await?)
}

/// Begins a WebAuthn ceremony: a new factor registers its credential, a verified one proves it.
async fn begin(
    state: &AuthState,
    caller: &SignedIn,
    factor: &Factor,
    site: Option<&ClientSite>,
) -> Result<(Value, Value), AuthError> {
    let ceremony = Ceremony::new(mfa::relying_party(state, site));
    let known = {
        let client = state.client().await?;
        let factors = factors::list_of_user(&client, caller.user.id).await?;
        factors.iter().filter_map(credential_of).collect::<Vec<_>>()
    };
    let user = &caller.user;
    let name = if user.email.is_empty() {
        &user.phone
    } else {
        &user.email
    };
    let registrant = Registrant { id: user.id, name };
    let question = match credential_of(factor).filter(|_| factor.is_verified) {
        Some(own) => json!({
            "type": "request",
            "credential_options": {"publicKey": ceremony.request_options(&[own])},
        }),
        None => json!({
            "type": "create",
            "credential_options": {"publicKey": ceremony.creation_options(registrant, &known, false)},
        }),
    };
    Ok((json!(ceremony), question))
}

/// The credential of a WebAuthn factor.
pub(super) fn credential_of(factor: &Factor) -> Option<Credential> {
    serde_json::from_value(factor.credential.clone()?).ok()
}
