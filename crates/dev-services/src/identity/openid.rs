//! OpenID Connect: discovery document, keys and ID tokens.
//!
//! Source: OpenID Connect Discovery §3, OpenID Connect Core §2.

use actix_web::HttpResponse;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use selvedge_token::unix_now;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::provider::{Account, IdToken, Provider};
use super::settings::ProviderClient;
use super::state::IdentityState;

/// Path of the discovery document below an issuer.
pub(super) const DISCOVERY_PATH: &str = "/.well-known/openid-configuration";
/// Path of the keys, in the discovery documents of this provider.
pub(super) const KEYS_PATH: &str = "/selvedge/keys";
/// How long an ID token is valid; an hour, as Google's.
const LIFETIME_S: i64 = 3600;

/// The discovery document: issuer and claims are the provider's, the endpoints are answered here.
pub(super) fn respond_discovery(
    state: &IdentityState,
    provider: &'static Provider,
    client: &ProviderClient,
) -> HttpResponse {
    let Some(id_token) = &provider.id_token else {
        return HttpResponse::NotFound().finish();
    };
    let issuer = (id_token.issuer)(client.url.as_deref());
    let host_and_path = issuer.split_once("://").map_or(issuer.as_str(), |(_, rest)| rest);
    let endpoint = |path: &str| format!("{}/{host_and_path}{path}", state.provider_url(provider.name));
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": endpoint(provider.authorize_path),
        "token_endpoint": endpoint(provider.token_path),
        "jwks_uri": endpoint(KEYS_PATH),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "code_challenge_methods_supported": ["S256"],
    });
    if let Some(path) = id_token.userinfo_path {
        document["userinfo_endpoint"] = json!(endpoint(path));
    }
    HttpResponse::Ok().json(document)
}

/// Returns the public key that verifies ID tokens (JWKS).
pub(super) fn respond_keys(state: &IdentityState) -> HttpResponse {
    HttpResponse::Ok().json(state.keys().public_jwks())
}

/// For whom and for which request an ID token is signed.
pub(super) struct TokenPurpose<'a> {
    /// The client id for which the token is issued.
    pub(super) audience: &'a str,
    /// Sent back as it came; empty leaves the claim out.
    pub(super) nonce: &'a str,
    /// The access token that comes with it; empty leaves `at_hash` out.
    pub(super) access_token: &'a str,
}

/// Signs an ID token with the provider's own claims; `None` when the key cannot sign, which a generated key always can.
pub(super) fn sign_id_token(
    state: &IdentityState,
    client: &ProviderClient,
    id_token: &IdToken,
    account: &Account<'_>,
    purpose: &TokenPurpose<'_>,
) -> Option<String> {
    let now = unix_now();
    let mut claims = Map::new();
    claims.insert("iss".to_owned(), json!((id_token.issuer)(client.url.as_deref())));
    claims.insert("aud".to_owned(), json!(purpose.audience));
    claims.insert("sub".to_owned(), json!(account.subject));
    claims.insert("iat".to_owned(), json!(now));
    claims.insert("exp".to_owned(), json!(now + LIFETIME_S));
    if !purpose.nonce.is_empty() {
        claims.insert("nonce".to_owned(), json!(purpose.nonce));
    }
    if !purpose.access_token.is_empty() {
        claims.insert("at_hash".to_owned(), json!(hash_token(purpose.access_token)));
    }
    // The provider's own claims come last, because a few providers replace `sub`.
    if let Value::Object(own) = (id_token.claims)(account) {
        claims.extend(own.into_iter().filter(|(_, value)| !value.is_null()));
    }
    state.keys().sign(&Value::Object(claims)).ok()
}

/// `at_hash`: base64url of the left half of the token's SHA-256 (OpenID Connect Core §3.1.3.6).
fn hash_token(access_token: &str) -> String {
    let digest = Sha256::digest(access_token);
    URL_SAFE_NO_PAD.encode(&digest[..digest.len() / 2])
}
