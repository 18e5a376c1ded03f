//! `POST /factors/{id}/challenge`: creates a challenge that `POST /factors/{id}/verify` answers, and sends the code
//! of a phone factor. Source: Auth contract §2.12, AUTH-075, AUTH-076.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::crypto::one_time_code::OneTimeCode;
use crate::crypto::webauthn::{Ceremony, CreationOptions, Registrant, RequestOptions};
use crate::error::AuthError;
use crate::flows::accounts;
use crate::flows::mfa::{self, RequestedRelyingParty, read_credential};
use crate::request::{AuthRequest, OptionalJson, SignedIn, read_text};
use crate::sms::{self, Channel};
use crate::state::AuthState;
use crate::state::rate_limits::{LimitedEndpoint, seconds_left};
use crate::store::audit::{Action, Actor};
use crate::store::factors::{self, Challenge, Factor, FactorType};
use crate::store::one_time_codes;

/// The optional body: `{channel?}` for a phone factor, `{webauthn: {rpId, rpOrigins}}` for WebAuthn; TOTP needs none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChallengeBody {
    #[serde(deserialize_with = "read_text")]
    channel: String,
    webauthn: Option<RequestedRelyingParty>,
}

/// Body of the response. `type` is the factor type, and `webauthn` is present for WebAuthn only.
#[derive(Serialize)]
struct ChallengeResponse {
    id: Uuid,
    #[serde(rename = "type")]
    kind: &'static str,
    /// When the challenge expires, in Unix seconds.
    expires_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    webauthn: Option<CeremonyOptions>,
}

/// Options of a WebAuthn ceremony, which the browser starts with them.
#[derive(Serialize)]
struct CeremonyOptions {
    /// `create` for a new factor, `request` for a verified one.
    #[serde(rename = "type")]
    kind: &'static str,
    credential_options: CredentialOptions,
}

/// The argument of `navigator.credentials.create` or `.get`.
#[derive(Serialize)]
struct CredentialOptions {
    #[serde(rename = "publicKey")]
    public_key: PublicKeyOptions,
}

/// The options of a registration or of a sign-in; the JSON has no member that tells them apart.
#[derive(Serialize)]
#[serde(untagged)]
enum PublicKeyOptions {
    Creation(Box<CreationOptions>),
    Request(RequestOptions),
}

impl CeremonyOptions {
    fn new(kind: &'static str, public_key: PublicKeyOptions) -> Self {
        Self {
            kind,
            credential_options: CredentialOptions { public_key },
        }
    }
}

/// `POST /factors/{id}/challenge` → 200 `{id, type, expires_at, webauthn?}`.
///
/// # Errors
/// 400 `validation_failed` for recovery codes; 403 `no_authorization` or `session_not_found`; 404 `mfa_factor_not_found`; 422
/// `mfa_…_verify_not_enabled` while the configuration switches the factor's type off; 429 `over_request_rate_limit`, or
/// `over_sms_send_rate_limit` within the pause between two messages; 500 when the message cannot be sent.
pub(crate) async fn challenge_factor(
    request: AuthRequest,
    caller: SignedIn,
    id: web::Path<String>,
    OptionalJson(body): OptionalJson<ChallengeBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::FactorChallenge)?;
    mfa::require_session(&caller)?;
    let factor = {
        let client = request.connect().await?;
        mfa::get_challenged_factor(&client, caller.user.id, &id).await?
    };
    mfa::check_verify_enabled(&request.state, factor.kind)?;
    let now = request.now();
    let id = Uuid::new_v4();
    let mut challenge = Challenge {
        id,
        created_at: now,
        is_used: false,
        // A challenge can be answered only from the address that created it, so a stolen challenge id is useless
        // elsewhere.
        ip: request.info.ip.clone(),
        ceremony: None,
    };
    let mut webauthn = None;
    match factor.kind {
        FactorType::Totp | FactorType::RecoveryCode => {
            store_challenge(&request, &caller, &factor, &challenge).await?
        }
        FactorType::Phone => {
            let channel = Channel::parse(&body.channel, &request.state)?;
            send_code_and_store_challenge(&request, &caller, &factor, challenge, channel).await?;
        }
        FactorType::Webauthn => {
            let (ceremony, options) =
                begin_ceremony(&request.state, &caller, &factor, body.webauthn.as_ref()).await?;
            challenge.ceremony = Some(ceremony);
            webauthn = Some(options);
            store_challenge(&request, &caller, &factor, &challenge).await?;
        }
    }
    Ok(HttpResponse::Ok().json(ChallengeResponse {
        id,
        kind: factor.kind.as_str(),
        expires_at: (now + request.config().mfa.challenge_expiry).timestamp(),
        webauthn,
    }))
}

/// Stores the challenge and its audit entry in one transaction.
async fn store_challenge(
    request: &AuthRequest,
    caller: &SignedIn,
    factor: &Factor,
    challenge: &Challenge,
) -> Result<(), AuthError> {
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    factors::insert_challenge(&db, factor.id, challenge).await?;
    let (actor, traits) = (Actor::User(&caller.user), mfa::build_factor_traits(factor));
    accounts::log_action_with_traits(request, &db, actor, Action::ChallengeCreated, traits).await?;
    Ok(db.commit().await?)
}

/// Sends a code by text message, then stores the challenge and the hash of the code. A failed message leaves no
/// challenge.
async fn send_code_and_store_challenge(
    request: &AuthRequest,
    caller: &SignedIn,
    factor: &Factor,
    challenge: Challenge,
    channel: Channel,
) -> Result<(), AuthError> {
    let config = &request.config().mfa.phone;
    if let Some(seconds) = seconds_left(factor.last_challenged_at, config.max_frequency, request.now()) {
        return Err(AuthError::TooSoonSms { seconds });
    }
    let code = OneTimeCode::generate(config.otp_length, false);
    let key = &request.state.code_key;
    let hash = key.hash_code(challenge.id, &factor.phone, &code.otp);
    let _slot = request.state.acquire_mail_slot().await?;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let message = (factor, code.otp.as_str());
    // Sent before the INSERT, whose transaction is rolled back when the message fails.
    sms::send_factor_code(request, &db, &caller.user, message, channel).await?;
    factors::insert_challenge(&db, factor.id, &challenge).await?;
    one_time_codes::insert(&db, challenge.id, &hash, challenge.created_at).await?;
    let (actor, traits) = (Actor::User(&caller.user), mfa::build_factor_traits(factor));
    accounts::log_action_with_traits(request, &db, actor, Action::ChallengeCreated, traits).await?;
    Ok(db.commit().await?)
}

/// Begins a WebAuthn ceremony: a new factor registers its credential (`create`), a verified one proves it
/// (`request`). Returns the state to store and the options for the browser.
async fn begin_ceremony(
    state: &AuthState,
    caller: &SignedIn,
    factor: &Factor,
    site: Option<&RequestedRelyingParty>,
) -> Result<(Value, CeremonyOptions), AuthError> {
    let ceremony = Ceremony::new(mfa::choose_relying_party(state, site));
    // Credentials of the user's other factors are excluded, so that one authenticator is not registered twice.
    let known = {
        let client = state.connect().await?;
        let factors = factors::list_by_user(&client, caller.user.id).await?;
        factors.iter().filter_map(read_credential).collect::<Vec<_>>()
    };
    let user = &caller.user;
    let name = if user.email.is_empty() {
        &user.phone
    } else {
        &user.email
    };
    let registrant = Registrant { id: user.id, name };
    let options = match read_credential(factor).filter(|_| factor.is_verified) {
        Some(own) => CeremonyOptions::new(
            "request",
            PublicKeyOptions::Request(ceremony.build_request_options(&[own])),
        ),
        None => {
            let options = ceremony.build_creation_options(registrant, &known, false);
            CeremonyOptions::new("create", PublicKeyOptions::Creation(Box::new(options)))
        }
    };
    Ok((json!(ceremony), options))
}
