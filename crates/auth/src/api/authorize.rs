//! `GET /authorize` and `GET /user/identities/authorize`: the browser goes to the provider, its return address is remembered.
//!
//! Source: Auth contract §2.10, §2.11, AUTH-038, AUTH-043, AUTH-083.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::RngExt;
use serde_json::json;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::AuthError;
use crate::external_accounts::find_invited;
use crate::providers::{AuthorizeRequest, Provider, RESERVED_PARAMS, SignedToken};
use crate::request::{RequestInfo, SignedIn};
use crate::rules::pkce::CodeChallenge;
use crate::state::AuthState;
use crate::store::custom_providers;
use crate::store::provider_flows::{self, NewProviderFlow};

/// Parameters for us, which the provider does not need to see; the key and the invitation it must not see.
const OURS: [&str; 7] = [
    "provider",
    "scopes",
    "redirect_to",
    "invite_token",
    "skip_http_redirect",
    "apikey",
    "sb_flow_id",
];

/// `GET /authorize?provider=…` → 302 to the provider.
pub(crate) async fn authorize(
    state: web::Data<AuthState>,
    info: RequestInfo,
    request: HttpRequest,
) -> Result<HttpResponse, AuthError> {
    let url = provider_url(&state, &info, &Query::of(&request), None).await?;
    Ok(redirect(&url))
}

/// `GET /user/identities/authorize?provider=…`: the same for a user who wants the identity as a further one.
pub(crate) async fn authorize_link(
    state: web::Data<AuthState>,
    caller: SignedIn,
    info: RequestInfo,
    request: HttpRequest,
) -> Result<HttpResponse, AuthError> {
    check_linking(&state)?;
    let query = Query::of(&request);
    let url = provider_url(&state, &info, &query, Some(caller.user.id)).await?;
    if query.get("skip_http_redirect") == "true" {
        return Ok(HttpResponse::Ok()
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .json(json!({ "url": url })));
    }
    Ok(redirect(&url))
}

/// 404 where users may not change their identities themselves.
pub(crate) fn check_linking(state: &AuthState) -> Result<(), AuthError> {
    if state.config.manual_linking_enabled {
        return Ok(());
    }
    Err(AuthError::FeatureOff {
        status: 404,
        code: "manual_linking_disabled",
        text: "Manual linking is disabled",
    })
}

fn redirect(url: &str) -> HttpResponse {
    HttpResponse::Found()
        .insert_header((header::LOCATION, url))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

/// The query as it came; the first value of a name counts.
struct Query(Vec<(String, String)>);

impl Query {
    fn of(request: &HttpRequest) -> Self {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(request.query_string().as_bytes()) {
            if !pairs.iter().any(|(known, _)| *known == name) {
                pairs.push((name.into_owned(), value.into_owned()));
            }
        }
        Self(pairs)
    }

    fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// What the provider gets to see: everything but what is ours or the protocol's.
    fn passed_on(&self) -> Vec<(String, String)> {
        let is_kept = |name: &str| {
            !RESERVED_PARAMS.contains(&name.to_ascii_lowercase().as_str()) && !OURS.contains(&name)
        };
        let kept = self.0.iter().filter(|(name, _)| is_kept(name));
        kept.map(|(name, value)| match name.as_str() {
            "workos_provider" => ("provider".to_owned(), value.clone()),
            _ => (name.clone(), value.clone()),
        })
        .collect()
    }
}

async fn provider_url(
    state: &AuthState,
    info: &RequestInfo,
    query: &Query,
    linking_target: Option<Uuid>,
) -> Result<String, AuthError> {
    let name = query.get("provider").to_lowercase();
    let provider = find_provider(state, &name).await?.ok_or_else(not_enabled)?;
    let challenge = CodeChallenge::parse(query.get("code_challenge"), query.get("code_challenge_method"))?;
    let invite_token = query.get("invite_token");
    let unreachable = |error| AuthError::internal("Error reaching external provider", error);
    let flow_id = Uuid::new_v4();
    let visit = flow_id.to_string();
    let announced = provider
        .announce(&state.http, &visit)
        .await
        .map_err(unreachable)?;
    let mut client = state.client().await?;
    let db = client.transaction().await?;
    if !invite_token.is_empty() && find_invited(&db, invite_token).await?.is_none() {
        return Err(AuthError::UserNotFound("User identified by token not found"));
    }
    let now = state.now();
    let verifier = provider.uses_pkce.then(new_verifier);
    let kept = verifier.clone().or(announced.as_ref().map(SignedToken::to_kept));
    let client_state = match &kept {
        Some(kept) => Some(provider_flows::insert_client_state(&db, &name, kept, now).await?),
        None => None,
    };
    let flow = NewProviderFlow {
        id: flow_id,
        provider: &name,
        challenge: challenge.as_ref(),
        invite_token,
        referrer: &info.redirect_to,
        client_state,
        linking_target,
        email_optional: provider.email_optional(),
    };
    provider_flows::insert(&db, &flow, now).await?;
    db.commit().await?;
    drop(client);
    let own_challenge = verifier.map(|verifier| URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)));
    let request = AuthorizeRequest {
        state: &visit,
        scopes: query.get("scopes"),
        passed_on: &query.passed_on(),
        challenge: own_challenge.as_deref(),
        announced: announced.as_ref(),
    };
    provider
        .authorize_url(&state.http, &state.issuers, &request)
        .await
        .map_err(unreachable)
}

/// The provider of this name: configured, or added by an administrator.
pub(crate) async fn find_provider(state: &AuthState, name: &str) -> Result<Option<Provider>, AuthError> {
    if name.starts_with("custom:") {
        let client = state.client().await?;
        let custom = custom_providers::find_by_identifier(&client, name).await?;
        let redirect_uri = format!("{}/callback", state.config.external_url.trim_end_matches('/'));
        return Ok(custom
            .filter(|custom| custom.enabled)
            .and_then(|custom| Provider::of_custom(&custom, redirect_uri)));
    }
    let config = state
        .config
        .external
        .iter()
        .find(|provider| provider.name == name);
    Ok(config.and_then(Provider::of))
}

fn not_enabled() -> AuthError {
    AuthError::invalid("Unsupported provider: provider is not enabled")
}

/// A verifier of our own (RFC 7636): 256 random bits.
fn new_verifier() -> String {
    let bytes: [u8; 32] = rand::rng().random();
    URL_SAFE_NO_PAD.encode(bytes)
}
