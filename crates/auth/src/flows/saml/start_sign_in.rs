//! Starts a sign-in by SAML: stores the flow and builds the URL of the identity provider. Source: SAML contract §3.

use selvedge_saml::{generate_request_id, name_id_format, parse_identity_provider};
use uuid::Uuid;

use crate::config::SamlConfig;
use crate::crypto::pkce::{ChallengeMethod, CodeChallenge};
use crate::error::{AuthError, Fault, FeatureError, SamlError};
use crate::request::AuthRequest;
use crate::state::AuthState;
use crate::store::saml::{self, NewSamlFlow, ProviderKey, SamlProvider};

/// What an application asks for at `/sso`.
#[derive(Debug)]
pub(crate) struct SamlSignIn<'a> {
    /// By its id or by an e-mail domain.
    pub(crate) provider: ProviderKey<'a>,
    pub(crate) redirect_to: &'a str,
    pub(crate) code_challenge: &'a str,
    pub(crate) code_challenge_method: &'a str,
}

/// The settings of SAML.
///
/// # Errors
/// 404 `saml_provider_disabled` while it is off.
pub(crate) fn get_config(state: &AuthState) -> Result<&SamlConfig, AuthError> {
    let config = state.config.saml.as_ref();
    config.ok_or_else(|| FeatureError::SamlDisabled.into())
}

/// Stores a new flow and returns the URL of the identity provider.
///
/// # Errors
/// 404 `sso_provider_not_found` or `sso_provider_disabled`; 400 `validation_failed` for bad PKCE parameters and for a
/// provider that browsers cannot be redirected to; 500 for stored metadata that cannot be read.
pub(crate) async fn start_sign_in(
    request: &AuthRequest,
    sign_in: &SamlSignIn<'_>,
) -> Result<String, AuthError> {
    let service = &get_config(&request.state)?.service;
    let client = request.connect().await?;
    let provider = saml::find_provider(&client, sign_in.provider).await?;
    let provider = provider.ok_or(match sign_in.provider {
        ProviderKey::Domain(_) => SamlError::NoProviderOfDomain,
        _ => SamlError::ProviderNotFound,
    })?;
    // Before the PKCE parameters, as with upstream, so that clients get the same error for the same request.
    if provider.is_disabled {
        return Err(SamlError::ProviderDisabled.into());
    }
    let challenge = parse_challenge(sign_in.code_challenge, sign_in.code_challenge_method)?;
    let location = find_redirect_location(&provider)?;
    // Two ids, so that whoever sees the relay state in a URL cannot name the request that a response must answer.
    let (request_id, relay_state) = (generate_request_id(), Uuid::new_v4());
    let flow = NewSamlFlow {
        relay_state,
        provider: provider.id,
        request_id: &request_id,
        redirect_to: sign_in.redirect_to,
        challenge: challenge.as_ref(),
    };
    saml::insert_flow(&client, &flow, request.now()).await?;
    let format = provider
        .name_id_format
        .as_deref()
        .unwrap_or(name_id_format::PERSISTENT);
    let relay_state = relay_state.to_string();
    Ok(service.sign_in_url(&location, &request_id, &relay_state, format, request.now()))
}

/// Compat: here an unknown method has another message than at the other endpoints.
fn parse_challenge(challenge: &str, method: &str) -> Result<Option<CodeChallenge>, AuthError> {
    let is_known = method.is_empty() || ChallengeMethod::parse(method).is_some();
    let checked = CodeChallenge::parse(challenge, if is_known { method } else { "s256" })?;
    if is_known {
        Ok(checked)
    } else {
        Err(AuthError::invalid("Invalid code_challenge_method"))
    }
}

fn find_redirect_location(provider: &SamlProvider) -> Result<String, AuthError> {
    let metadata = parse_identity_provider(provider.metadata_xml.as_bytes()).map_err(|_| {
        let fault = Fault::Other("the stored metadata cannot be read");
        AuthError::internal("Error parsing SAML Metadata for SAML provider", fault)
    })?;
    metadata
        .redirect_location
        .ok_or_else(|| SamlError::NoRedirectLocation.into())
}
