//! Finishes a sign-in by SAML: the identity provider has let the browser post its response. Source: SAML contract §4.

use chrono::{DateTime, Utc};
use selvedge_saml::{Claims, MessageError, UnverifiedResponse};
use url::Url;
use uuid::Uuid;

use super::accounts::find_or_create_account;
use super::claims::{SamlIdentity, read_identity};
use super::provider_metadata::read_fresh_metadata;
use super::start_sign_in::get_config;
use crate::error::{AuthError, SamlError};
use crate::flows::sign_in::{SAML_METHOD, TokenPair, start_session_until};
use crate::request::AuthRequest;
use crate::store::saml::{self, ProviderKey, RelayState, SamlProvider};

/// The fields of the posted form.
#[derive(Debug)]
pub(crate) struct PostedResponse<'a> {
    pub(crate) relay_state: &'a str,
    pub(crate) saml_response: &'a str,
    /// Whether the provider has sent a reference to its response instead.
    pub(crate) has_artifact: bool,
}

/// What the browser takes to the application.
#[derive(Debug)]
pub(crate) enum SamlOutcome {
    AuthCode(String),
    Session(Box<TokenPair>),
}

/// A response, with the provider whose keys must have signed it and what it must answer.
struct ReceivedResponse {
    response: UnverifiedResponse,
    provider: SamlProvider,
    request_id: Option<String>,
    redirect_to: String,
    pkce_flow: Option<Uuid>,
}

/// Verifies the response and signs the user in. Returns where the browser goes, and with what.
///
/// # Errors
/// Those of [`SamlError`], of `find_or_create_account`, and 400 `flow_state_already_used`.
pub(crate) async fn finish_sign_in(
    request: &AuthRequest,
    posted: &PostedResponse<'_>,
) -> Result<(String, SamlOutcome), AuthError> {
    let received = match Uuid::parse_str(posted.relay_state) {
        Ok(id) if !id.is_nil() => find_requested_response(request, posted, id).await?,
        _ => find_unasked_response(request, posted).await?,
    };
    let claims = verify_response(request, &received).await?;
    let provider = &received.provider;
    let identity = read_identity(&claims, &provider.entity_id, &provider.attribute_mapping)?;
    let mut client = request.connect().await?;
    // Outside of the transaction below: an assertion that was refused for its user must not be tried again either.
    if !saml::use_assertion(&client, provider.id, &claims.assertion_id, claims.expires_at).await? {
        tracing::info!(provider = %provider.id, "an assertion was used twice");
        return Err(SamlError::InvalidAssertion.into());
    }
    let db = client.transaction().await?;
    let ends_at = claims.session_not_on_or_after;
    let outcome = sign_in(request, &db, &received, &identity, ends_at).await?;
    db.commit().await?;
    // The project's allow list decides even about targets that the provider has sent; what is not allowed becomes the site.
    let redirect_to = request.state.redirects.choose([received.redirect_to.as_str()]);
    Ok((redirect_to, outcome))
}

async fn sign_in(
    request: &AuthRequest,
    db: &deadpool_postgres::Transaction<'_>,
    received: &ReceivedResponse,
    identity: &SamlIdentity,
    ends_at: Option<DateTime<Utc>>,
) -> Result<SamlOutcome, AuthError> {
    let user_id = find_or_create_account(request, db, received.provider.id, identity).await?;
    let Some(flow) = received.pkce_flow else {
        let tokens = start_session_until(request, db, user_id, SAML_METHOD, ends_at).await?;
        return Ok(SamlOutcome::Session(Box::new(tokens)));
    };
    let code = saml::finish_pkce_flow(db, flow, user_id, ends_at, request.now()).await?;
    Ok(SamlOutcome::AuthCode(
        code.ok_or(AuthError::FlowStateAlreadyUsed)?,
    ))
}

/// The response to a request of this service. The relay state is used up, whatever the response is worth.
///
/// # Errors
/// 404 `saml_relay_state_not_found`, 422 `saml_relay_state_expired`, 404 `sso_provider_disabled`, 400
/// `validation_failed` for what is no response.
async fn find_requested_response(
    request: &AuthRequest,
    posted: &PostedResponse<'_>,
    id: Uuid,
) -> Result<ReceivedResponse, AuthError> {
    let client = request.connect().await?;
    let relay = saml::find_relay_state(&client, id).await?;
    let relay = relay.ok_or(SamlError::RelayStateNotFound)?;
    let provider = find_enabled_provider(request, &client, &relay).await?;
    // Another request may have taken it since it was found.
    if !saml::take_relay_state(&client, relay.id).await? {
        return Err(SamlError::RelayStateNotFound.into());
    }
    let response = UnverifiedResponse::from_base64(posted.saml_response).map_err(|error| {
        tracing::info!(provider = %provider.id, reason = %error, "SAML response refused");
        SamlError::InvalidAssertion
    })?;
    Ok(ReceivedResponse {
        response,
        provider,
        request_id: Some(relay.request_id),
        redirect_to: relay.redirect_to,
        pkce_flow: relay.pkce_flow,
    })
}

async fn find_enabled_provider(
    request: &AuthRequest,
    client: &deadpool_postgres::Client,
    relay: &RelayState,
) -> Result<SamlProvider, AuthError> {
    let validity = get_config(&request.state)?.relay_state_validity;
    let age = (request.now() - relay.created_at).to_std().unwrap_or_default();
    if age >= validity {
        // Deleted at once, as upstream does: the next try with it is answered by "does not exist".
        saml::take_relay_state(client, relay.id).await?;
        return Err(SamlError::RelayStateExpired.into());
    }
    let provider = saml::find_provider(client, ProviderKey::Id(relay.provider)).await?;
    let provider = provider.ok_or(SamlError::RelayStateNotFound)?;
    if provider.is_disabled {
        return Err(SamlError::ProviderOfDomainDisabled.into());
    }
    Ok(provider)
}

/// A response that the identity provider has sent unasked; its relay state is where the user wants to go.
///
/// # Errors
/// 400 `validation_failed` for what is no response; 404 `saml_idp_not_found` or `sso_provider_disabled`.
async fn find_unasked_response(
    request: &AuthRequest,
    posted: &PostedResponse<'_>,
) -> Result<ReceivedResponse, AuthError> {
    let target = posted.relay_state;
    if !target.is_empty() && !target.starts_with('/') && Url::parse(target).is_err() {
        return Err(AuthError::invalid("SAML RelayState is not a valid UUID or URL"));
    }
    if posted.has_artifact {
        return Err(AuthError::invalid(
            "SAML Artifact response can only be used with SP initiated flow",
        ));
    }
    if posted.saml_response.is_empty() {
        return Err(AuthError::invalid("SAMLResponse is missing"));
    }
    let response = UnverifiedResponse::from_base64(posted.saml_response);
    let response = response.map_err(|error: MessageError| AuthError::invalid(error.to_string()))?;
    let client = request.connect().await?;
    // The issuer is not verified yet; it only chooses whose keys the signature must be made with.
    let issuer = response.claimed_issuer();
    let provider = saml::find_provider(&client, ProviderKey::EntityId(&issuer)).await?;
    let provider = provider.ok_or(SamlError::UnknownIdentityProvider)?;
    if provider.is_disabled {
        return Err(SamlError::ProviderOfDomainDisabled.into());
    }
    Ok(ReceivedResponse {
        response,
        provider,
        request_id: None,
        redirect_to: target.to_owned(),
        pkce_flow: None,
    })
}

/// Verifies the response with fresh metadata of its provider. No connection is held meanwhile, because the metadata may
/// have to be fetched.
async fn verify_response(request: &AuthRequest, received: &ReceivedResponse) -> Result<Claims, AuthError> {
    let service = &get_config(&request.state)?.service;
    let provider = &received.provider;
    let metadata = read_fresh_metadata(request, provider).await?;
    let Some(metadata) = metadata.filter(|metadata| metadata.entity_id == provider.entity_id) else {
        tracing::warn!(provider = %provider.id, "the stored SAML metadata cannot be used");
        return Err(SamlError::InvalidAssertion.into());
    };
    let verified =
        received
            .response
            .verify(service, &metadata, received.request_id.as_deref(), request.now());
    verified.map_err(|error| {
        // The reasons are constant texts; nothing of the response may get into a log.
        tracing::info!(provider = %provider.id, reason = %error, "SAML response refused");
        SamlError::InvalidAssertion.into()
    })
}
