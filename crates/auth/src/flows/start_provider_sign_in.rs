//! Starts a sign-in by an external provider: stores the flow, and builds the URL of the provider's sign-in page. The
//! id of the flow is the `state` that the provider sends back to the callback. Source: Auth contract §2.10, §2.11.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::RngExt;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::crypto::pkce::CodeChallenge;
use crate::error::{AuthError, ProviderError};
use crate::flows::external_accounts::find_invited_user;
use crate::providers::{AuthorizeRequest, OAuth1Token, Provider};
use crate::request::AuthRequest;
use crate::state::AuthState;
use crate::store::custom_providers;
use crate::store::provider_flows::{self, NewProviderFlow};

/// What a browser asks for at `/authorize`.
pub(crate) struct ProviderSignIn<'a> {
    /// The provider's name, in any case.
    pub(crate) provider: &'a str,
    /// Empty when the caller asks for none.
    pub(crate) scopes: &'a str,
    /// The PKCE challenge of the application; both empty for the implicit flow.
    pub(crate) code_challenge: &'a str,
    pub(crate) code_challenge_method: &'a str,
    /// The token of an invitation that the sign-in accepts; empty for none.
    pub(crate) invite_token: &'a str,
    /// Further parameters for the provider, such as `prompt`.
    pub(crate) extra_params: &'a [(String, String)],
    /// The signed-in user who gets the identity; `None` for a sign-in.
    pub(crate) linking_target: Option<LinkTarget>,
}

/// The user who gets an identity, and the session that asks for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkTarget {
    pub(crate) user_id: Uuid,
    pub(crate) session_id: Uuid,
}

/// What this server must remember for the provider until the browser is back. A provider uses PKCE, OAuth
/// 1.0a or neither.
struct ProviderSecrets {
    verifier: Option<String>,
    request_token: Option<OAuth1Token>,
}

impl ProviderSecrets {
    /// Makes a verifier, or fetches a request token for OAuth 1.0a (Twitter). The provider, of this name, is called before a
    /// connection is taken from the pool.
    async fn prepare(
        request: &AuthRequest,
        provider: &Provider,
        (name, state): (&str, &str),
    ) -> Result<Self, AuthError> {
        let http = request.state.http_for_provider(name);
        let request_token = provider.fetch_request_token(http, state).await;
        Ok(Self {
            verifier: provider.uses_pkce().then(generate_verifier),
            request_token: request_token.map_err(unreachable)?,
        })
    }
}

/// The 500 for a provider that does not answer.
fn unreachable(error: ProviderError) -> AuthError {
    AuthError::internal("Error reaching external provider", error)
}

/// A stored flow.
pub(crate) struct StartedSignIn {
    pub(crate) flow_id: Uuid,
    /// Where the provider signs the user in.
    pub(crate) url: String,
}

/// Stores a new flow and builds the provider's authorization URL.
///
/// # Errors
/// 400 `validation_failed` for an unknown or disabled provider and for bad PKCE parameters; 404 `user_not_found` for an
/// unknown invitation; 500 when the provider cannot be reached.
pub(crate) async fn start_provider_sign_in(
    request: &AuthRequest,
    sign_in: &ProviderSignIn<'_>,
) -> Result<StartedSignIn, AuthError> {
    let name = sign_in.provider.to_lowercase();
    let provider = find_provider(&request.state, &name)
        .await?
        .ok_or_else(provider_not_enabled)?;
    let challenge = CodeChallenge::parse(sign_in.code_challenge, sign_in.code_challenge_method)?;
    let flow_id = Uuid::new_v4();
    let state = flow_id.to_string();
    let secrets = ProviderSecrets::prepare(request, &provider, (&name, &state)).await?;
    let flow = NewProviderFlow {
        id: flow_id,
        provider: &name,
        challenge: challenge.as_ref(),
        invite_token: sign_in.invite_token,
        referrer: &request.info.redirect_to,
        client_state: None,
        linking_target: sign_in.linking_target.map(|target| target.user_id),
        session: sign_in.linking_target.map(|target| target.session_id),
        email_optional: provider.is_email_optional(),
    };
    store_flow(request, flow, &secrets).await?;
    // The provider's discovery document may have to be fetched here, which must not hold a connection.
    let own_challenge = secrets.verifier.as_deref().map(compute_s256_challenge);
    let authorization = AuthorizeRequest {
        state: &state,
        scopes: sign_in.scopes,
        extra_params: sign_in.extra_params,
        challenge: own_challenge.as_deref(),
        request_token: secrets.request_token.as_ref(),
    };
    let url = provider
        .build_authorize_url(
            request.state.http_for_provider(&name),
            &request.state.issuers,
            &authorization,
        )
        .await
        .map_err(unreachable)?;
    Ok(StartedSignIn { flow_id, url })
}

/// Stores the flow, and the secrets that belong to it, in one transaction.
///
/// # Errors
/// 404 `user_not_found` for an unknown invitation.
async fn store_flow(
    request: &AuthRequest,
    mut flow: NewProviderFlow<'_>,
    secrets: &ProviderSecrets,
) -> Result<(), AuthError> {
    let now = request.now();
    let mut client = request.connect().await?;
    let db = client.transaction().await?;
    if !flow.invite_token.is_empty()
        && find_invited_user(request, &db, flow.invite_token)
            .await?
            .is_none()
    {
        return Err(AuthError::UserNotFound("User identified by token not found"));
    }
    // A provider uses either PKCE or OAuth 1.0a, so one column stores the verifier or the request token's secret.
    let token = secrets.request_token.as_ref().map(OAuth1Token::to_database_text);
    if let Some(secret) = secrets.verifier.clone().or(token) {
        let id = provider_flows::insert_client_state(&db, flow.provider, &secret, now).await?;
        flow.client_state = Some(id);
    }
    provider_flows::insert(&db, &flow, now).await?;
    Ok(db.commit().await?)
}

/// The S256 challenge of a verifier (RFC 7636 §4.2).
fn compute_s256_challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

/// The enabled provider of this name: a configured one, or `custom:…` from the database.
pub(crate) async fn find_provider(state: &AuthState, name: &str) -> Result<Option<Provider>, AuthError> {
    if name.starts_with("custom:") {
        let client = state.connect().await?;
        let custom = custom_providers::find_by_identifier(&client, name).await?;
        // Administrators register this callback URL with their provider.
        let redirect_uri = format!("{}/callback", state.config.external_url.trim_end_matches('/'));
        return Ok(custom
            .filter(|custom| custom.enabled)
            .and_then(|custom| Provider::from_custom(&custom, redirect_uri)));
    }
    let config = state
        .config
        .external
        .iter()
        .find(|provider| provider.name == name);
    Ok(config.and_then(Provider::from_config))
}

/// The same 400 for unknown and for disabled providers.
fn provider_not_enabled() -> AuthError {
    AuthError::invalid("Unsupported provider: provider is not enabled")
}

/// Generates the PKCE verifier of this server towards the provider (RFC 7636 §4.1), of 256 random bits. The
/// challenge of the application is another one.
fn generate_verifier() -> String {
    let bytes: [u8; 32] = rand::rng().random();
    URL_SAFE_NO_PAD.encode(bytes)
}
