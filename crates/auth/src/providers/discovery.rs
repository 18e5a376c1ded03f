//! Fetches and caches the discovery documents of OpenID Connect issuers, with their keys ([`super::key_cache`]).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use selvedge_token::Claims;
use serde_json::Value;

use super::issuer::Issuer;
use super::json_fields::Fields;
use super::key_cache::KeyCache;
use super::outgoing_url::is_callable;
use crate::error::ProviderError;
use crate::http_client::{Call, HttpClient};

/// How long a discovery document is used before it is fetched again. Source: Auth contract §8.1.
const DISCOVERY_LIFETIME: Duration = Duration::from_secs(3600);

/// How many issuers are cached. A project has fewer; only tokens that name arbitrary Azure tenants can reach this
/// number.
const MAX_CACHED_ISSUERS: usize = 64;

/// The endpoints of an issuer, from its discovery document.
#[derive(Debug, Clone)]
pub(super) struct Discovery {
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    /// `None` when the document has none that may be called.
    pub(super) userinfo_endpoint: Option<String>,
    /// Where the issuer publishes the public keys of its tokens.
    pub(super) jwks_uri: String,
    /// Whether the client secret may be sent in the Authorization header. True when the document does not list the
    /// methods, because `client_secret_basic` is the default (OpenID Connect Discovery §3).
    pub(super) accepts_basic: bool,
}

impl Discovery {
    /// Reads a discovery document.
    ///
    /// # Errors
    /// [`ProviderError::Discovery`] when its `issuer` is not exactly the expected one; otherwise the document and keys
    /// of one issuer could be used for the tokens of another (OpenID Connect Discovery §4.3).
    /// [`ProviderError::MissingEndpoint`] when a URL is missing or must not be called.
    fn parse(document: &Value, issuer: &str, insecure: bool) -> Result<Self, ProviderError> {
        let fields = Fields::from(document);
        if fields.text("issuer") != issuer {
            return Err(ProviderError::Discovery("it names another issuer"));
        }
        let endpoint = |name: &'static str| {
            let url = fields.text(name);
            if is_callable(url, insecure) {
                Ok(url.to_owned())
            } else {
                Err(ProviderError::MissingEndpoint(name))
            }
        };
        let methods = document
            .get("token_endpoint_auth_methods_supported")
            .and_then(Value::as_array);
        Ok(Self {
            authorization_endpoint: endpoint("authorization_endpoint")?,
            token_endpoint: endpoint("token_endpoint")?,
            jwks_uri: endpoint("jwks_uri")?,
            // Optional: Apple, for example, has none.
            userinfo_endpoint: endpoint("userinfo_endpoint").ok(),
            accepts_basic: methods.is_none_or(|methods| {
                methods.is_empty() || methods.iter().any(|method| method == "client_secret_basic")
            }),
        })
    }
}

/// Cache entry of one issuer.
struct CachedIssuer {
    discovery: Discovery,
    fetched_at: Instant,
    keys: Arc<KeyCache>,
}

/// Cache of all issuers; one per process.
#[derive(Default)]
pub(crate) struct Issuers {
    cached: Mutex<HashMap<Issuer, Arc<CachedIssuer>>>,
    /// Whether URLs with plain http may be called (`insecure_providers`, for development and tests).
    insecure: bool,
}

impl Issuers {
    /// An empty cache; `insecure` allows plain http.
    pub(crate) fn new(insecure: bool) -> Self {
        Self {
            cached: Mutex::default(),
            insecure,
        }
    }

    /// Returns the issuer's endpoints, from the cache or its discovery document.
    pub(super) async fn find_endpoints(
        &self,
        http: &HttpClient,
        issuer: &Issuer,
    ) -> Result<Discovery, ProviderError> {
        Ok(self.find_or_fetch(http, issuer).await?.discovery.clone())
    }

    /// Removes an issuer from the cache, after an administrator has changed its provider.
    pub(crate) fn forget_issuer(&self, issuer: &str) {
        self.lock().retain(|cached, _| cached.name != issuer);
    }

    /// Fetches the discovery document, even if it is cached, and checks that it is usable.
    ///
    /// # Errors
    /// A URL that must not be called, a failed call, or a document that is unusable.
    pub(crate) async fn fetch_document(
        &self,
        http: &HttpClient,
        issuer: &Issuer,
    ) -> Result<Value, ProviderError> {
        let url = issuer.document_url();
        if !is_callable(&url, self.insecure) {
            return Err(ProviderError::Discovery("its URL is not https"));
        }
        let document = http.send(Call::get(url)).await?.json()?;
        Discovery::parse(&document, &issuer.name, self.insecure)?;
        Ok(document)
    }

    /// Verifies a token's signature with the issuer's keys and returns its claims; the caller checks the claims.
    ///
    /// # Errors
    /// [`ProviderError::Signature`] when no key of the issuer has signed the token; other variants when document or keys
    /// cannot be fetched.
    pub(super) async fn verify_signature(
        &self,
        http: &HttpClient,
        issuer: &Issuer,
        token: &str,
    ) -> Result<Arc<Claims>, ProviderError> {
        let cached = self.find_or_fetch(http, issuer).await?;
        let fetch = async || http.send(Call::get(&cached.discovery.jwks_uri)).await?.json();
        cached.keys.verify(token, fetch).await
    }

    /// Returns the cache entry of an issuer; fetches its document when there is no entry or it is older than
    /// [`DISCOVERY_LIFETIME`]. The keys of an older entry are kept. A full cache loses its oldest entry.
    async fn find_or_fetch(
        &self,
        http: &HttpClient,
        issuer: &Issuer,
    ) -> Result<Arc<CachedIssuer>, ProviderError> {
        let found = self.lock().get(issuer).cloned();
        if let Some(cached) = &found
            && cached.fetched_at.elapsed() < DISCOVERY_LIFETIME
        {
            return Ok(cached.clone());
        }
        let document = self.fetch_document(http, issuer).await?;
        let discovery = Discovery::parse(&document, &issuer.name, self.insecure)?;
        // The keys belong to the address that they were fetched from.
        let keys = found
            .filter(|old| old.discovery.jwks_uri == discovery.jwks_uri)
            .map_or_else(Arc::default, |old| old.keys.clone());
        let cached = Arc::new(CachedIssuer {
            discovery,
            fetched_at: Instant::now(),
            keys,
        });
        // The map was not locked during the fetch, so two requests may have fetched the same document; the later entry
        // replaces the earlier one.
        let mut all = self.lock();
        // Bounds the memory that tokens of arbitrary Azure tenants can fill.
        if all.len() >= MAX_CACHED_ISSUERS {
            let oldest = all
                .iter()
                .min_by_key(|(_, cached)| cached.fetched_at)
                .map(|(issuer, _)| issuer.clone());
            oldest.and_then(|issuer| all.remove(&issuer));
        }
        all.insert(issuer.clone(), cached.clone());
        Ok(cached)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Issuer, Arc<CachedIssuer>>> {
        // Each change of the map is a single call, so it is consistent even if a thread panicked while it held the
        // lock.
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn discovery_rejects_documents_of_another_issuer_or_with_unsafe_endpoints() {
        let document = json!({
            "issuer": "https://id.example", "authorization_endpoint": "https://id.example/a",
            "token_endpoint": "https://id.example/t", "jwks_uri": "https://id.example/k",
        });
        let is_usable = |document: &Value, issuer: &str| Discovery::parse(document, issuer, false).is_ok();

        assert!(is_usable(&document, "https://id.example"));
        assert!(!is_usable(&document, "https://id.example/"));
        for (member, value) in [
            ("jwks_uri", json!("http://id.example/k")),
            ("token_endpoint", json!("file:///etc/passwd")),
            ("authorization_endpoint", json!(null)),
        ] {
            let mut changed = document.clone();
            changed[member] = value;
            assert!(!is_usable(&changed, "https://id.example"), "{member}");
        }
    }
}
