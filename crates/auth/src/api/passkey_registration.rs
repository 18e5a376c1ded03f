//! `/passkeys/registration`: a signed-in user adds a passkey. Source: Auth contract §2.13.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::passkeys::check_management;
use crate::accounts;
use crate::error::AuthError;
use crate::limits::Limited;
use crate::mfa;
use crate::request::{Json, RequestInfo, SignedIn, text};
use crate::rules::webauthn::{Ceremony, Credential, Registrant, WebauthnError};
use crate::state::AuthState;
use crate::store::audit::{Action, Actor};
use crate::store::passkeys::{self, Passkey};
use crate::store::users;

const MOST: usize = 10;

/// The answer of a browser.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CeremonyBody {
    #[serde(deserialize_with = "text")]
    challenge_id: String,
    pub(super) credential: Value,
}

/// `POST /passkeys/registration/options` → `{challenge_id, options, expires_at}`
pub(crate) async fn options(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Passkey)?;
    check(&caller)?;
    let user = &caller.user;
    let client = state.client().await?;
    let known = passkeys::list_of_user(&client, user.id).await?;
    if known.len() >= MOST {
        return Err(too_many());
    }
    let credentials: Vec<Credential> = known.into_iter().map(|passkey| passkey.credential).collect();
    let ceremony = Ceremony::new(mfa::relying_party(&state, None));
    let now = state.now();
    let expires_at = now + state.config.mfa.challenge_expiry;
    let kept = json!(ceremony);
    let id = passkeys::insert_challenge(&client, Some(user.id), &kept, now, expires_at).await?;
    let name = if user.email.is_empty() {
        &user.phone
    } else {
        &user.email
    };
    let registrant = Registrant { id: user.id, name };
    Ok(HttpResponse::Ok().json(json!({
        "challenge_id": id,
        "options": ceremony.creation_options(registrant, &credentials, true),
        "expires_at": expires_at.timestamp(),
    })))
}

/// `POST /passkeys/registration/verify` `{challenge_id, credential}` → the passkey.
pub(crate) async fn verify(
    state: web::Data<AuthState>,
    info: RequestInfo,
    caller: SignedIn,
    Json(body): Json<CeremonyBody>,
) -> Result<HttpResponse, AuthError> {
    info.limit(&state, Limited::Passkey)?;
    check(&caller)?;
    let user = &caller.user;
    let ceremony = take(&state, Some(user.id), &body).await?;
    let credential = ceremony.register(&body.credential).map_err(failed)?;
    let passkey = Passkey {
        id: Uuid::new_v4(),
        user_id: user.id,
        friendly_name: name_of(credential.aaguid).to_owned(),
        credential,
        created_at: state.now(),
        last_used_at: None,
    };
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    // The user's row is the lock, so that two registrations at once do not pass the limit.
    users::lock_by_id(&db, user.id).await?;
    if passkeys::list_of_user(&db, user.id).await?.len() >= MOST {
        return Err(too_many());
    }
    passkeys::insert(&db, &passkey)
        .await
        .map_err(|error| known_already(error.into()))?;
    let traits = json!({ "passkey_id": passkey.id });
    accounts::log_as(
        &state,
        &db,
        &info,
        Actor::User(user),
        Action::PasskeyCreated,
        traits,
    )
    .await?;
    db.commit().await?;
    Ok(HttpResponse::Ok().json(passkey.body()))
}

fn check(caller: &SignedIn) -> Result<(), AuthError> {
    check_management(caller)?;
    if caller.user.is_sso_user {
        return Err(AuthError::Unprocessable("SSO users cannot register passkeys"));
    }
    Ok(())
}

/// The ceremony that an answer belongs to. It is taken away, so that nobody answers it twice.
pub(super) async fn take(
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
    let client = state.client().await?;
    let found = passkeys::take_challenge(&client, user_id, id).await?;
    let (ceremony, expires_at) = found.ok_or_else(|| {
        AuthError::coded(
            400,
            "webauthn_challenge_not_found",
            "Challenge not found or already used",
        )
    })?;
    if state.now() > expires_at {
        return Err(AuthError::coded(
            400,
            "webauthn_challenge_expired",
            "Challenge has expired",
        ));
    }
    serde_json::from_value(ceremony).map_err(|_| failed(WebauthnError::Malformed))
}

/// Why a credential was not accepted stays in the log.
pub(super) fn failed(error: WebauthnError) -> AuthError {
    tracing::info!(%error, "a passkey was not accepted");
    let text = match error {
        WebauthnError::Malformed => "Invalid credential response",
        _ => "Credential verification failed",
    };
    AuthError::coded(400, "webauthn_verification_failed", text)
}

fn too_many() -> AuthError {
    AuthError::coded(422, "too_many_passkeys", "Maximum number of passkeys reached")
}

fn known_already(error: AuthError) -> AuthError {
    let constraint = error.db_error().and_then(|db| db.constraint());
    if constraint == Some("webauthn_credentials_credential_id_key") {
        return AuthError::coded(
            422,
            "webauthn_credential_exists",
            "This credential is already registered",
        );
    }
    error
}

/// What people call the keeper of a passkey; empty for those that do not say.
fn name_of(aaguid: Uuid) -> &'static str {
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
