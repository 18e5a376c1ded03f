//! What the endpoints of second factors and passkeys share.

use deadpool_postgres::GenericClient;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::config::FactorSwitch;
use crate::error::AuthError;
use crate::request::SignedIn;
use crate::rules::webauthn::RelyingParty;
use crate::state::AuthState;
use crate::store::factors::{self, Factor, FactorType};
use crate::store::sessions::Session;

/// What may be done with factors of a kind.
pub(crate) fn switch_of(state: &AuthState, kind: FactorType) -> FactorSwitch {
    let mfa = &state.config.mfa;
    match kind {
        FactorType::Totp => mfa.totp,
        FactorType::Phone => mfa.phone.switch,
        FactorType::Webauthn => mfa.webauthn,
    }
}

/// Refuses kinds that the project does not let users add.
///
/// # Errors
/// 422 `mfa_<kind>_enroll_not_enabled`.
pub(crate) fn check_enroll(state: &AuthState, kind: FactorType) -> Result<(), AuthError> {
    if switch_of(state, kind).enroll {
        return Ok(());
    }
    let (code, text) = match kind {
        FactorType::Totp => ("mfa_totp_enroll_not_enabled", "MFA enroll is disabled for TOTP"),
        FactorType::Phone => ("mfa_phone_enroll_not_enabled", "MFA enroll is disabled for Phone"),
        FactorType::Webauthn => (
            "mfa_webauthn_enroll_not_enabled",
            "MFA enroll is disabled for WebAuthn",
        ),
    };
    Err(AuthError::coded(422, code, text))
}

/// Refuses kinds that the project does not let users prove.
///
/// # Errors
/// 422 `mfa_<kind>_verify_not_enabled`.
pub(crate) fn check_verify(state: &AuthState, kind: FactorType) -> Result<(), AuthError> {
    if switch_of(state, kind).verify {
        return Ok(());
    }
    let (code, text) = match kind {
        FactorType::Totp => (
            "mfa_totp_verify_not_enabled",
            "MFA verification is disabled for TOTP",
        ),
        FactorType::Phone => (
            "mfa_phone_verify_not_enabled",
            "MFA verification is disabled for Phone",
        ),
        FactorType::Webauthn => (
            "mfa_webauthn_verify_not_enabled",
            "MFA verification is disabled for WebAuthn",
        ),
    };
    Err(AuthError::coded(422, code, text))
}

/// The caller's session: factors belong to users who are known and signed in.
///
/// # Errors
/// 403 for anonymous users and for tokens without a session.
pub(crate) fn session_of(caller: &SignedIn) -> Result<&Session, AuthError> {
    caller.check_permanent()?;
    caller.session.as_ref().ok_or(AuthError::TokenSessionNotFound)
}

/// The factor of this user that a path names.
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
        .ok_or_else(|| AuthError::coded(404, "mfa_factor_not_found", "Factor not found"))
}

/// What the audit log says about a factor.
pub(crate) fn traits(factor: &Factor) -> Value {
    json!({"factor_id": factor.id, "factor_type": factor.kind.as_str(), "factor_status": factor.status()})
}

/// Where a client says that its ceremony takes place.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClientSite {
    #[serde(rename = "rpId", deserialize_with = "crate::request::text")]
    rp_id: String,
    #[serde(rename = "rpOrigins")]
    rp_origins: Option<Vec<String>>,
}

/// The site that WebAuthn credentials are for. The configuration decides; where it is silent, a client may name a site that
/// sign-ins may lead to, and otherwise it is the project's own.
pub(crate) fn relying_party(state: &AuthState, client: Option<&ClientSite>) -> RelyingParty {
    let config = &state.config.webauthn;
    let site = url::Url::parse(&state.config.site_url).ok();
    let host = site.as_ref().and_then(url::Url::host_str).unwrap_or("localhost");
    let (id, origins) = if !config.rp_id.is_empty() || !config.rp_origins.is_empty() {
        (config.rp_id.clone(), config.rp_origins.clone())
    } else {
        client
            .and_then(|client| allowed_site(state, client))
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

/// The client's site, if sign-ins may lead there and the domain is that of every origin, or one above it.
fn allowed_site(state: &AuthState, client: &ClientSite) -> Option<(String, Vec<String>)> {
    let rp_id = &client.rp_id;
    let allowed = |origin: &String| {
        let url = url::Url::parse(origin).ok()?;
        let host = url.host_str()?;
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
