//! `/passkeys/registration`: a signed-in user adds a passkey, in two requests: options for the browser, then its
//! credential. Source: Auth contract §2.13.

use actix_web::HttpResponse;
use selvedge_mail::MailKind;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::passkeys::check_management;
use super::response_bodies::{PasskeyBody, PasskeyOptionsBody};
use crate::after_commit;
use crate::crypto::webauthn::{Ceremony, Credential, Registrant, WebauthnError};
use crate::error::{AuthError, PasskeyError};
use crate::flows::accounts;
use crate::flows::{linked_identities, locked_caller, mfa};
use crate::request::{AuthRequest, Json, SignedIn, read_text};
use crate::state::AuthState;
use crate::state::rate_limits::LimitedEndpoint;
use crate::store::audit::{Action, Actor};
use crate::store::passkeys::{self, Passkey};

/// The largest number of passkeys of a user.
const MAX_PASSKEYS: usize = 10;

/// Body of both `verify` endpoints: `{challenge_id, credential}`, where `credential` is the JSON form of the
/// browser's `PublicKeyCredential`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CeremonyBody {
    #[serde(deserialize_with = "read_text")]
    challenge_id: String,
    pub(super) credential: Value,
}

/// `POST /passkeys/registration/options` → 200 `{challenge_id, options, expires_at}`. The challenge is valid for five
/// minutes by default and for one attempt; authenticators that hold one of the user's passkeys are excluded.
///
/// # Errors
/// 400 `reauthentication_needed` in a session older than a day with `secure_password_change`; 404 `passkey_disabled`; 403 `no_authorization` for anonymous users, `insufficient_aal`; 422 `validation_failed`
/// for SSO users, `too_many_passkeys`; 429 `over_request_rate_limit`.
pub(crate) async fn create_registration_options(
    request: AuthRequest,
    caller: SignedIn,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::Passkey)?;
    check_registration(&request.state, &caller)?;
    let user = &caller.user;
    let client = request.connect().await?;
    let known = passkeys::list_by_user(&client, user.id).await?;
    // Checked early for the user's sake; `verify` repeats the check under a lock.
    if known.len() >= MAX_PASSKEYS {
        return Err(PasskeyError::TooMany.into());
    }
    let credentials: Vec<Credential> = known.into_iter().map(|passkey| passkey.credential).collect();
    let ceremony = Ceremony::new(mfa::choose_relying_party(&request.state, None));
    let now = request.now();
    let expires_at = now + request.config().mfa.challenge_expiry;
    let kept = json!(ceremony);
    let id = passkeys::insert_challenge(&client, Some(user.id), &kept, now, expires_at).await?;
    let name = if user.email.is_empty() {
        &user.phone
    } else {
        &user.email
    };
    let registrant = Registrant { id: user.id, name };
    Ok(HttpResponse::Ok().json(PasskeyOptionsBody {
        challenge_id: id,
        options: ceremony.build_creation_options(registrant, &credentials, true),
        expires_at: expires_at.timestamp(),
    }))
}

/// `POST /passkeys/registration/verify` → 200 `{id, friendly_name?, created_at}`.
///
/// # Errors
/// Those of [`create_registration_options`]; 400 `validation_failed`, `webauthn_challenge_not_found`,
/// `webauthn_challenge_expired` or `webauthn_verification_failed`; 422 `webauthn_credential_exists`.
pub(crate) async fn verify_registration(
    request: AuthRequest,
    caller: SignedIn,
    Json(body): Json<CeremonyBody>,
) -> Result<HttpResponse, AuthError> {
    request.check_rate_limit(LimitedEndpoint::Passkey)?;
    check_registration(&request.state, &caller)?;
    let user = &caller.user;
    let ceremony = take_ceremony(&request.state, Some(user.id), &body).await?;
    let credential = ceremony
        .verify_registration(&body.credential)
        .map_err(reject_credential)?;
    let passkey = Passkey {
        id: Uuid::new_v4(),
        user_id: user.id,
        friendly_name: find_manager_name(credential.aaguid).to_owned(),
        credential,
        created_at: request.now(),
        last_used_at: None,
    };
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    // The user's row is locked, so that two registrations at once cannot both pass the limit. A factor may have been added
    // since the checks above.
    let locked = locked_caller::lock_caller(&request, &db, &caller).await?;
    if locked.lacks_second_factor() {
        return Err(PasskeyError::NeedsAal2.into());
    }
    if passkeys::list_by_user(&db, user.id).await?.len() >= MAX_PASSKEYS {
        return Err(PasskeyError::TooMany.into());
    }
    passkeys::insert(&db, &passkey)
        .await
        .map_err(|error| map_unique_violation(error.into()))?;
    after_commit::record_passkey_change(&request, &locked.user, MailKind::PasskeyAdded);
    let traits = json!({ "passkey_id": passkey.id });
    accounts::log_action_with_traits(&request, &db, Actor::User(user), Action::PasskeyCreated, traits)
        .await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(PasskeyBody::new(&passkey)))
}

/// Refuses callers who may not register passkeys. SSO users sign in through their identity provider only.
///
/// # Errors
/// 400 `reauthentication_needed`, 403 `no_authorization` or `insufficient_aal`, 422 `validation_failed`.
fn check_registration(state: &AuthState, caller: &SignedIn) -> Result<(), AuthError> {
    check_management(caller)?;
    linked_identities::check_fresh_session(state, caller)?;
    if caller.user.is_sso_user {
        return Err(AuthError::Unprocessable("SSO users cannot register passkeys"));
    }
    Ok(())
}

/// Takes the ceremony of a challenge out of the database, so that it cannot be answered twice. `user_id` is `None`
/// for a sign-in.
///
/// # Errors
/// 400 `validation_failed`, `webauthn_challenge_not_found`, `webauthn_challenge_expired` or
/// `webauthn_verification_failed`.
pub(super) async fn take_ceremony(
    state: &AuthState,
    user_id: Option<Uuid>,
    body: &CeremonyBody,
) -> Result<Ceremony, AuthError> {
    if body.challenge_id.is_empty() {
        return Err(AuthError::invalid("challenge_id is required"));
    }
    if body.credential.is_null() {
        return Err(AuthError::invalid("credential is required"));
    }
    let id: Uuid = body
        .challenge_id
        .parse()
        .map_err(|_| AuthError::invalid("challenge_id must be a valid UUID"))?;
    let client = state.connect().await?;
    let found = passkeys::take_challenge(&client, user_id, id).await?;
    let (ceremony, expires_at) = found.ok_or(PasskeyError::ChallengeNotFound)?;
    if state.now() > expires_at {
        return Err(PasskeyError::ChallengeExpired.into());
    }
    serde_json::from_value(ceremony).map_err(|_| reject_credential(WebauthnError::Malformed))
}

/// The 400 `webauthn_verification_failed` for a credential that is not accepted; the cause is logged only, because it
/// would help an attacker.
pub(super) fn reject_credential(error: WebauthnError) -> AuthError {
    tracing::info!(%error, "a passkey was not accepted");
    match error {
        WebauthnError::Malformed => PasskeyError::MalformedCredential,
        _ => PasskeyError::VerificationFailed,
    }
    .into()
}

/// Maps a unique violation to 422 `webauthn_credential_exists`; other errors pass unchanged.
fn map_unique_violation(error: AuthError) -> AuthError {
    let constraint = error.db_error().and_then(|db| db.constraint());
    if constraint == Some("webauthn_credentials_credential_id_key") {
        return PasskeyError::CredentialExists.into();
    }
    error
}

/// The name of the passkey manager with this AAGUID, which the user sees until they rename the passkey; empty for an
/// unknown one.
fn find_manager_name(aaguid: Uuid) -> &'static str {
    match aaguid.to_string().as_str() {
        "fbfc3007-154e-4ecc-8c0b-6e020557d7bd" => "iCloud Keychain",
        "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4" => "Google Password Manager",
        "08987058-cadc-4b81-b6e1-30de50dcbe96" | "9ddd1817-af5a-4672-a2b9-3e3dd95000a9" => "Windows Hello",
        "bada5566-a7aa-401f-bd96-45619a55120d" => "1Password",
        "d548826e-79b4-db40-a3d8-11116f7e8349" => "Bitwarden",
        "531126d6-e717-415c-9320-3d9aa6981239" => "Dashlane",
        _ => "",
    }
}
