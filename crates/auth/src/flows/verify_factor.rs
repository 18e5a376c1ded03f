//! Verifies the response to a challenge of a second factor and raises the session to `aal2`. Source: Auth contract
//! §2.12, AUTH-075, AUTH-076.
//!
//! A challenge can be answered once, from the IP address that it was created for. Attempts are counted per factor and network,
//! and those of a code that was sent per code, too.

use chrono::{DateTime, Utc};
use deadpool_postgres::{GenericClient, Transaction};
use selvedge_mail::MailKind;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::crypto::counter_token::CounterToken;
use crate::crypto::one_time_code::AttemptSubject;
use crate::crypto::webauthn::{Ceremony, Credential, WebauthnError};
use crate::crypto::{equal_hashes, totp};
use crate::error::{AuthError, MfaError};
use crate::flows::accounts;
use crate::flows::locked_caller::{self, LockedCaller};
use crate::flows::mfa::{self, read_credential};
use crate::flows::sign_in::{SessionToSign, TokenPair, rotate_refresh_token, sign_tokens};
use crate::hooks;
use crate::mailer::{self, Notice};
use crate::request::{AuthRequest, SignedIn, read_text};
use crate::sms;
use crate::store::audit::{Action, Actor};
use crate::store::factors::{self, Challenge, Factor, FactorType};
use crate::store::one_time_codes::{self, AttemptOutcome, FACTOR_LIMITS, TryingNetwork};
use crate::store::user_access::{self, AccessEnd};
use crate::user::User;

/// Body of the request: `{challenge_id, code}` for TOTP and phone, `{challenge_id, webauthn}` for WebAuthn.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VerifyFactorBody {
    challenge_id: Option<String>,
    #[serde(deserialize_with = "read_text")]
    code: String,
    webauthn: Option<WebauthnBody>,
}

/// `webauthn` of the body: the result of a WebAuthn ceremony in the browser. `type` is `create` or `request`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WebauthnBody {
    #[serde(rename = "type", deserialize_with = "read_text")]
    kind: String,
    credential_response: Value,
}

/// Whether the code or credential in the body answers the challenge.
enum Proof {
    Invalid,
    Valid,
    /// A valid WebAuthn credential, with its signature counter updated.
    Credential(Box<Credential>),
}

/// Verifies the code or credential in `body` for the factor of the caller whose id is `factor_id`. Returns
/// the tokens of the session at `aal2`; the user's other sessions below `aal2` end.
///
/// # Errors
/// 400 `validation_failed` for an empty code or a malformed credential; 403 `mfa_verification_rejected` by the hook;
/// 404 `mfa_factor_not_found`; 422 `mfa_factor_not_found` for an unknown challenge, `mfa_ip_address_mismatch`,
/// `mfa_challenge_expired`, `mfa_verification_failed` or `mfa_…_verify_not_enabled`; 403 `otp_expired` when the SMS
/// provider rejects the code; 429 `over_request_rate_limit` after 20 wrong codes for the factor from one network; the same
/// errors for a right code that was used before or was tried five times.
pub(crate) async fn verify_factor(
    request: &AuthRequest,
    caller: &SignedIn,
    factor_id: &str,
    body: &VerifyFactorBody,
) -> Result<TokenPair, AuthError> {
    let session_id = mfa::require_session(caller)?.id;
    let (factor, challenge) = load_challenge(request, caller, factor_id, body).await?;
    let attempts = count_attempt(request, &factor).await?;
    let proof = check_proof(request, &factor, &challenge, body).await?;
    let is_valid = !matches!(proof, Proof::Invalid);
    let subject = (caller.user.id, factor.id, factor.kind.as_str());
    // The hook is called after wrong codes, too, so that a project can count them and reject further attempts.
    hooks::report_factor_attempt(request, subject, is_valid).await?;
    if !is_valid {
        return Err(wrong_proof(factor.kind));
    }
    if let Some(attempts) = attempts {
        one_time_codes::record_success(&request.connect().await?, &attempts).await?;
    }
    let answered = AnsweredChallenge {
        factor: &factor,
        challenge: &challenge,
        proof: &proof,
        body,
    };
    let tokens = raise_session(request, caller, session_id, &answered).await?;
    if !factor.is_verified {
        notify_of_enrolment(request, &tokens.user, factor.kind).await;
    }
    Ok(tokens)
}

/// Counts an attempt before its code is compared, so that many at once count as well; a right one clears the count. Attempts
/// of one network do not stop another: whoever knows only the password must not lock the owner out. The signature of a WebAuthn
/// credential cannot be guessed, so `None`: it is not counted.
///
/// # Errors
/// 429 `over_request_rate_limit` after 20 wrong codes for the factor from one network.
async fn count_attempt(request: &AuthRequest, factor: &Factor) -> Result<Option<AttemptSubject>, AuthError> {
    if factor.kind == FactorType::Webauthn {
        return Ok(None);
    }
    let network = request.info.attempt_network();
    let key = &request.state.code_key;
    let subject = key.attempt_subject("factor", factor.id.as_bytes(), network);
    let client = request.connect().await?;
    match one_time_codes::take_counted_attempt(&client, &subject, FACTOR_LIMITS).await? {
        AttemptOutcome::Free => Ok(Some(subject)),
        _ => Err(AuthError::RequestRateLimit),
    }
}

/// A challenge with the proof that answers it.
struct AnsweredChallenge<'a> {
    factor: &'a Factor,
    challenge: &'a Challenge,
    proof: &'a Proof,
    body: &'a VerifyFactorBody,
}

/// Reads the factor and its challenge, and checks that the challenge can still be answered. An expired challenge is
/// deleted. The connection is returned before hooks and SMS providers are called.
///
/// # Errors
/// See [`verify_factor`].
async fn load_challenge(
    request: &AuthRequest,
    caller: &SignedIn,
    factor_id: &str,
    body: &VerifyFactorBody,
) -> Result<(Factor, Challenge), AuthError> {
    let client = request.connect().await?;
    let factor = mfa::get_challenged_factor(&client, caller.user.id, factor_id).await?;
    let challenge_id = parse_challenge_id(body.challenge_id.as_deref())?;
    if body.code.is_empty() && factor.kind != FactorType::Webauthn {
        return Err(AuthError::invalid("Code needs to be non-empty"));
    }
    mfa::check_verify_enabled(&request.state, factor.kind)?;
    let challenge = find_challenge(&client, factor.id, challenge_id).await?;
    if let Err(error) = check_challenge(request, &challenge) {
        if matches!(&error, AuthError::Mfa(MfaError::ChallengeExpired(_))) {
            factors::delete_challenge(&client, challenge.id).await?;
        }
        return Err(error);
    }
    Ok((factor, challenge))
}

/// Tells the user by mail that a factor now protects the account.
async fn notify_of_enrolment(request: &AuthRequest, user: &User, kind: FactorType) {
    let notice = Notice {
        factor_type: kind.as_str(),
        ..Notice::default()
    };
    mailer::notify_user(request, user, MailKind::MfaFactorEnrolled, notice).await;
}

/// Reads the id of the challenge; `None` when the body has none. Called once the factor is known: an unknown factor is
/// reported before a malformed body.
///
/// # Errors
/// 400 `bad_json` for text that is not a UUID.
fn parse_challenge_id(text: Option<&str>) -> Result<Option<Uuid>, AuthError> {
    text.map(str::parse)
        .transpose()
        .map_err(|error: uuid::Error| AuthError::BadJson(format!("challenge_id: {error}")))
}

/// The challenge of this factor that the body names.
///
/// # Errors
/// 422 `mfa_factor_not_found`, also without an id.
async fn find_challenge(
    db: &impl GenericClient,
    factor_id: Uuid,
    challenge_id: Option<Uuid>,
) -> Result<Challenge, AuthError> {
    let Some(id) = challenge_id else {
        return Err(MfaError::ChallengeNotFound.into());
    };
    let found = factors::find_challenge(db, factor_id, id).await?;
    found.ok_or(MfaError::ChallengeNotFound.into())
}

/// Refuses a challenge that is used, expired, or from another IP address. Compat: a used challenge gets the error of
/// the address.
///
/// # Errors
/// 422 `mfa_ip_address_mismatch` or `mfa_challenge_expired`.
fn check_challenge(request: &AuthRequest, challenge: &Challenge) -> Result<(), AuthError> {
    if challenge.is_used || challenge.ip != request.info.ip {
        return Err(MfaError::ChallengeIpMismatch.into());
    }
    if request.now() > challenge.created_at + request.config().mfa.challenge_expiry {
        return Err(MfaError::ChallengeExpired(challenge.id).into());
    }
    Ok(())
}

/// Checks the code or credential against the challenge. Codes of SMS providers that verify their own codes are
/// checked there.
///
/// # Errors
/// 400 `validation_failed` for a malformed credential, 403 `otp_expired` for a code that the SMS provider rejects.
async fn check_proof(
    request: &AuthRequest,
    factor: &Factor,
    challenge: &Challenge,
    body: &VerifyFactorBody,
) -> Result<Proof, AuthError> {
    let state = &request.state;
    let is_valid = match factor.kind {
        FactorType::Totp => {
            let step = totp::find_step(&factor.secret, &body.code, state.now().timestamp());
            let Some(step) = step else {
                return Ok(Proof::Invalid);
            };
            // A code that was used, or seen over somebody's shoulder before, is wrong (RFC 6238 §5.2).
            one_time_codes::use_step(&request.connect().await?, factor.id, step).await?
        }
        FactorType::Phone if sms::provider_checks_codes(state) => {
            if !sms::check_code_with_provider(state, &factor.phone, &body.code).await {
                return Err(AuthError::OtpExpired("Token has expired or is invalid"));
            }
            true
        }
        FactorType::Phone => is_right_code(request, factor, challenge, &body.code).await?,
        FactorType::Webauthn => return check_ceremony(factor, challenge, body.webauthn.as_ref()),
        // Refused when the challenge was looked up.
        FactorType::RecoveryCode => false,
    };
    Ok(if is_valid { Proof::Valid } else { Proof::Invalid })
}

/// Whether the code is the one that was sent with the challenge; each attempt counts, and five of a network are accepted.
async fn is_right_code(
    request: &AuthRequest,
    factor: &Factor,
    challenge: &Challenge,
    code: &str,
) -> Result<bool, AuthError> {
    let client = request.connect().await?;
    let key = &request.state.code_key;
    let network = TryingNetwork {
        hash: &key.hash_network(request.info.attempt_network()),
        has_asked: false,
    };
    let stored = one_time_codes::take_attempt(&client, challenge.id, network).await?;
    let presented = key.hash_code(challenge.id, &factor.phone, code);
    Ok(stored.is_some_and(|stored| equal_hashes(&stored, &presented)))
}

/// Checks the response to a WebAuthn ceremony. A new factor must register a credential and a verified one must use
/// its own, so that a verified credential cannot be replaced.
///
/// # Errors
/// 400 `validation_failed` for a response that cannot be read or is of the wrong type.
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
    let own = read_credential(factor).filter(|_| factor.is_verified);
    let checked = match (&own, body.kind.as_str()) {
        (None, "create") => ceremony.verify_registration(&body.credential_response),
        (Some(own), "request") => ceremony.verify_assertion(&body.credential_response, own),
        _ => return Err(AuthError::invalid("WebAuthn type does not fit the factor")),
    };
    match checked {
        Ok(credential) => Ok(Proof::Credential(Box::new(credential))),
        Err(WebauthnError::Malformed) => Err(AuthError::invalid("Invalid credential_response")),
        Err(error) => {
            tracing::info!(%error, "a WebAuthn factor was not verified");
            Ok(Proof::Invalid)
        }
    }
}

/// The 422 `mfa_verification_failed` with the message for this type of factor.
fn wrong_proof(kind: FactorType) -> AuthError {
    match kind {
        FactorType::Totp => MfaError::WrongTotpCode,
        FactorType::Phone => MfaError::WrongPhoneCode,
        FactorType::Webauthn => MfaError::WrongCredential,
        FactorType::RecoveryCode => MfaError::WrongRecoveryCode,
    }
    .into()
}

/// Marks the challenge as used and raises the session, in one transaction.
async fn raise_session(
    request: &AuthRequest,
    caller: &SignedIn,
    session_id: Uuid,
    answered: &AnsweredChallenge<'_>,
) -> Result<TokenPair, AuthError> {
    let now = request.now();
    let user_id = caller.user.id;
    let challenge = answered.challenge;
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    let caller_now = locked_caller::lock_caller(request, &db, caller).await?;
    let factor = &find_same_factor(&db, &caller_now, answered.factor).await?;
    // The UPDATE succeeds for one request only, so a challenge that is answered twice at the same moment raises one
    // session.
    if !factors::mark_challenge_used(&db, challenge.id, now).await? {
        return Err(MfaError::ChallengeIpMismatch.into());
    }
    let traits = json!({
        "factor_id": factor.id, "challenge_id": challenge.id, "factor_type": factor.kind.as_str(),
    });
    let actor = Actor::User(&caller.user);
    accounts::log_action_with_traits(request, &db, actor, Action::VerificationAttempted, traits).await?;
    store_credential(&db, user_id, (factor, answered), now).await?;
    if !caller_now.user.has_verified_factor() {
        // Whoever knew only the password may have asked for a change of the address, or for a code of another session.
        let kept = Some(session_id);
        user_access::end(&db, user_id, AccessEnd::SignedOut { kept }, now).await?;
    }
    let tokens = raise_to_aal2(request, &db, caller, session_id, factor).await?;
    db.commit().await?;
    Ok(tokens)
}

/// Raises the caller's session for a proven factor, ends the user's other sessions below `aal2`, and signs new tokens.
pub(crate) async fn raise_to_aal2(
    request: &AuthRequest,
    db: &Transaction<'_>,
    caller: &SignedIn,
    session_id: Uuid,
    factor: &Factor,
) -> Result<TokenPair, AuthError> {
    let (now, user_id) = (request.now(), caller.user.id);
    factors::upgrade_session(db, (user_id, session_id), factor, now).await?;
    let refresh_token = rotate_refresh_token(db, (user_id, session_id), now).await?;
    // Counter tokens have no rows that could be revoked, so the audit log gets no entry for them.
    if CounterToken::parse(&refresh_token).is_none() {
        accounts::log_action(request, db, Actor::User(&caller.user), Action::TokenRevoked).await?;
    }
    let session = SessionToSign {
        user_id,
        session_id,
        aal: "aal2",
        refresh_token,
        method: factor.kind.amr_method(),
    };
    sign_tokens(request, db, session).await
}

/// The factor as it is now that its user is locked, if the proof still proves it.
///
/// # Errors
/// 404 `mfa_factor_not_found`; 422 `mfa_verification_failed` when it was verified meanwhile; 403 `insufficient_aal`.
async fn find_same_factor(
    db: &Transaction<'_>,
    caller: &LockedCaller,
    proven: &Factor,
) -> Result<Factor, AuthError> {
    let factor = factors::find_by_id(db, caller.user.id, proven.id).await?;
    let factor = factor.ok_or(MfaError::FactorNotFound)?;
    // The proof was that of a factor which registers its credential. One that was verified since has to prove its own.
    if factor.is_verified != proven.is_verified {
        return Err(wrong_proof(factor.kind));
    }
    // A factor of somebody who only knew the password must not stand in for the one that protects the account since.
    if !factor.is_verified && caller.lacks_second_factor() {
        return Err(MfaError::EnrollNeedsAal2.into());
    }
    Ok(factor)
}

/// Marks the factor as verified, and stores the WebAuthn credential with its signature counter after this ceremony.
async fn store_credential(
    db: &Transaction<'_>,
    user_id: Uuid,
    (factor, answered): (&Factor, &AnsweredChallenge<'_>),
    now: DateTime<Utc>,
) -> Result<(), AuthError> {
    let challenge = answered.challenge;
    let credential = match answered.proof {
        Proof::Credential(credential) => Some((json!(credential), credential.aaguid)),
        _ => None,
    };
    if !factor.is_verified {
        let credential = credential.as_ref().map(|(json, aaguid)| (json, *aaguid));
        factors::set_verified(db, user_id, factor, credential, now).await?;
    }
    if let (Some((credential, _)), Some(ceremony)) = (&credential, &answered.body.webauthn) {
        let data = json!({
            "challenge": {"id": challenge.id, "created_at": challenge.created_at},
            "type": ceremony.kind,
            "credential_response": ceremony.credential_response,
        });
        factors::set_last_ceremony(db, factor.id, &data, credential, now).await?;
    }
    Ok(())
}
