//! Checks and look-ups that the endpoints of second factors and passkeys share.

use deadpool_postgres::GenericClient;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::config::FactorSwitch;
use crate::crypto::webauthn::{Credential, RelyingParty};
use crate::error::{AuthError, MfaError};
use crate::request::SignedIn;
use crate::state::AuthState;
use crate::store::factors::{self, Factor, FactorType};
use crate::store::sessions::Session;

/// The message about a type that cannot be enrolled or challenged by its factor's id.
pub(crate) const UNKNOWN_FACTOR_TYPE: &str = "factor_type needs to be totp, phone, or webauthn";

/// Whether factors of this type may be enrolled and verified in this project.
pub(crate) fn get_factor_switch(state: &AuthState, kind: FactorType) -> FactorSwitch {
    let mfa = &state.config.mfa;
    match kind {
        FactorType::Totp => mfa.totp,
        FactorType::Phone => mfa.phone.switch,
        FactorType::Webauthn => mfa.webauthn,
        FactorType::RecoveryCode => mfa.recovery_codes.switch,
    }
}

/// Refuses factor types whose enrolment the project has disabled.
///
/// # Errors
/// 422 `mfa_<kind>_enroll_not_enabled`.
pub(crate) fn check_enroll_enabled(state: &AuthState, kind: FactorType) -> Result<(), AuthError> {
    if get_factor_switch(state, kind).enroll {
        return Ok(());
    }
    Err(match kind {
        FactorType::Totp => MfaError::TotpEnrollDisabled,
        FactorType::Phone => MfaError::PhoneEnrollDisabled,
        FactorType::Webauthn => MfaError::WebauthnEnrollDisabled,
        FactorType::RecoveryCode => MfaError::RecoveryCodesEnrollDisabled,
    }
    .into())
}

/// Refuses factor types whose verification the project has disabled.
///
/// # Errors
/// 422 `mfa_<kind>_verify_not_enabled`.
pub(crate) fn check_verify_enabled(state: &AuthState, kind: FactorType) -> Result<(), AuthError> {
    if get_factor_switch(state, kind).verify {
        return Ok(());
    }
    Err(match kind {
        FactorType::Totp => MfaError::TotpVerifyDisabled,
        FactorType::Phone => MfaError::PhoneVerifyDisabled,
        FactorType::Webauthn => MfaError::WebauthnVerifyDisabled,
        FactorType::RecoveryCode => MfaError::RecoveryCodesVerifyDisabled,
    }
    .into())
}

/// The caller's session. Anonymous users and tokens without a session cannot use second factors.
///
/// # Errors
/// 403 for anonymous users and for tokens without a session.
pub(crate) fn require_session(caller: &SignedIn) -> Result<&Session, AuthError> {
    caller.check_permanent()?;
    caller.session.as_ref().ok_or(AuthError::TokenSessionNotFound)
}

/// The factor of this user that the path names.
///
/// # Errors
/// 404 `mfa_factor_not_found`.
pub(crate) async fn get_factor(
    db: &impl GenericClient,
    user_id: Uuid,
    id: &str,
) -> Result<Factor, AuthError> {
    let id: Uuid = id
        .parse()
        .map_err(|_| AuthError::InvalidPathId("factor_id must be an UUID"))?;
    factors::find_by_id(db, user_id, id)
        .await?
        .ok_or_else(|| MfaError::FactorNotFound.into())
}

/// The factor of this user that the path names, if it is of a type that is challenged.
///
/// # Errors
/// 400 `validation_failed` for recovery codes, 404 `mfa_factor_not_found`.
pub(crate) async fn get_challenged_factor(
    db: &impl GenericClient,
    user_id: Uuid,
    id: &str,
) -> Result<Factor, AuthError> {
    let factor = get_factor(db, user_id, id).await?;
    if factor.kind == FactorType::RecoveryCode {
        return Err(AuthError::invalid(UNKNOWN_FACTOR_TYPE));
    }
    Ok(factor)
}

/// Traits of an audit entry about a factor.
pub(crate) fn build_factor_traits(factor: &Factor) -> Value {
    json!({"factor_id": factor.id, "factor_type": factor.kind.as_str(), "factor_status": factor.status()})
}

/// The relying party that a client asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RequestedRelyingParty {
    #[serde(rename = "rpId", deserialize_with = "crate::request::read_text")]
    rp_id: String,
    #[serde(rename = "rpOrigins")]
    rp_origins: Option<Vec<String>>,
}

/// The relying party of WebAuthn credentials: the configured one, else the client's if it is among the allowed redirect
/// URLs, else the site's host.
pub(crate) fn choose_relying_party(
    state: &AuthState,
    client: Option<&RequestedRelyingParty>,
) -> RelyingParty {
    let config = &state.config.webauthn;
    let site = url::Url::parse(&state.config.site_url).ok();
    let host = site.as_ref().and_then(url::Url::host_str).unwrap_or("localhost");
    let (id, origins) = if !config.rp_id.is_empty() || !config.rp_origins.is_empty() {
        (config.rp_id.clone(), config.rp_origins.clone())
    } else {
        client
            .and_then(|client| find_allowed_relying_party(state, client))
            .unwrap_or_default()
    };
    let own_origin = || {
        site.iter()
            .map(|site| site.origin().ascii_serialization())
            .collect()
    };
    let id = if id.is_empty() { host.to_owned() } else { id };
    let name = &config.rp_display_name;
    RelyingParty {
        name: if name.is_empty() { id.clone() } else { name.clone() },
        origins: if origins.is_empty() { own_origin() } else { origins },
        id,
    }
}

/// The client's relying party, if every origin is an allowed redirect URL and lies on its domain or below it.
fn find_allowed_relying_party(
    state: &AuthState,
    client: &RequestedRelyingParty,
) -> Option<(String, Vec<String>)> {
    let rp_id = &client.rp_id;
    let allowed = |origin: &String| {
        let url = url::Url::parse(origin).ok()?;
        let host = url.host_str()?;
        // An RP id without a dot, such as `com`, would be shared by foreign sites.
        let is_above = rp_id.contains('.') && host.ends_with(&format!(".{rp_id}"));
        let origin = url.origin().ascii_serialization();
        let is_allowed = |target: &str| state.redirects.is_allowed(target);
        let may_lead = is_allowed(&origin) || is_allowed(&format!("{origin}/"));
        (may_lead && (host == rp_id || is_above)).then_some(origin)
    };
    let origins: Vec<String> = client
        .rp_origins
        .iter()
        .flatten()
        .map(allowed)
        .collect::<Option<_>>()?;
    (!origins.is_empty()).then(|| (rp_id.clone(), origins))
}

/// The credential of a WebAuthn factor; `None` before its registration and for other types.
pub(crate) fn read_credential(factor: &Factor) -> Option<Credential> {
    serde_json::from_value(factor.credential.clone()?).ok()
}
