//! OpenID Connect discovery and key sets, remembered for a while.
//!
//! A key set is read again when a token names a key that is not in it (the issuer has rotated), at most once in ten seconds:
//! strangers choose the tokens, so they must not choose how often we call.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use selvedge_token::{Claims, IssuerKeys, TokenError};
use serde_json::Value;

use super::ProviderError;
use crate::http_client::{Call, HttpClient};

const DISCOVERY_LIFE: Duration = Duration::from_secs(3600);
const KEYS_LIFE: Duration = Duration::from_secs(600);
const LEAST_PAUSE: Duration = Duration::from_secs(10);

/// More issuers than a project has; tokens of arbitrary Azure tenants are the only way to reach it.
const MOST_ISSUERS: usize = 64;

/// Where the endpoints of an issuer are described.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Issuer {
    pub(crate) name: String,
    /// `None`: below the issuer, where the standard says.
    pub(crate) discovery_url: Option<String>,
}

impl Issuer {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            discovery_url: None,
        }
    }

    fn url(&self) -> String {
        self.discovery_url.clone().unwrap_or_else(|| {
            format!(
                "{}/.well-known/openid-configuration",
                self.name.trim_end_matches('/')
            )
        })
    }
}

/// What the issuer's document says.
#[derive(Debug, Clone)]
pub(crate) struct Discovery {
    pub(crate) authorization_endpoint: String,
    pub(crate) token_endpoint: String,
    pub(crate) userinfo_endpoint: Option<String>,
    pub(crate) jwks_uri: String,
    /// Whether a client may show its secret in the header; the standard's default.
    pub(crate) takes_basic: bool,
}

impl Discovery {
    /// Reads the document. Its issuer must be the one asked for, and every URL must be safe to call.
    pub(crate) fn read(document: &Value, issuer: &str, insecure: bool) -> Result<Self, ProviderError> {
        let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
        if text("issuer") != issuer {
            return Err(ProviderError::Discovery("its issuer is another one"));
        }
        let endpoint = |name: &'static str| {
            let url = text(name);
            if is_callable(&url, insecure) {
                Ok(url)
            } else {
                Err(ProviderError::MissingEndpoint(name))
            }
        };
        let methods = document["token_endpoint_auth_methods_supported"].as_array();
        Ok(Self {
            authorization_endpoint: endpoint("authorization_endpoint")?,
            token_endpoint: endpoint("token_endpoint")?,
            jwks_uri: endpoint("jwks_uri")?,
            userinfo_endpoint: endpoint("userinfo_endpoint").ok(),
            takes_basic: methods.is_none_or(|methods| {
                methods.is_empty() || methods.iter().any(|method| method == "client_secret_basic")
            }),
        })
    }
}

/// Whether we call this URL: https, or http to this machine where the project develops.
pub(crate) fn is_callable(url: &str, insecure: bool) -> bool {
    let Ok(url) = url::Url::parse(url) else {
        return false;
    };
    match url.scheme() {
        "https" => url.host_str().is_some(),
        "http" => insecure && url.host_str().is_some(),
        _ => false,
    }
}

/// Whether a URL names this machine or a private network outright: nothing that a provider of the outside world is.
pub(crate) fn is_internal(url: &str) -> bool {
    let Ok(url) = url::Url::parse(url) else {
        return true;
    };
    let is_internal_v4 = |ip: Ipv4Addr| {
        ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified() || ip.is_multicast()
    };
    match url.host() {
        None => true,
        Some(url::Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(url::Host::Ipv4(ip)) => is_internal_v4(ip),
        Some(url::Host::Ipv6(ip)) => match ip.to_ipv4_mapped() {
            Some(ip) => is_internal_v4(ip),
            None => {
                ip.is_loopback()
                    || ip.is_unspecified()
                    || ip.is_multicast()
                    || ip.is_unique_local()
                    || ip.is_unicast_link_local()
            }
        },
    }
}

struct Known {
    discovery: Discovery,
    read_at: Instant,
    keys: tokio::sync::Mutex<Option<(Arc<IssuerKeys>, Instant)>>,
}

/// All issuers that were met lately.
#[derive(Default)]
pub(crate) struct Issuers {
    known: Mutex<HashMap<Issuer, Arc<Known>>>,
    /// Whether plain http is called.
    insecure: bool,
}

impl Issuers {
    pub(crate) fn new(insecure: bool) -> Self {
        Self {
            known: Mutex::default(),
            insecure,
        }
    }

    /// The issuer's endpoints.
    pub(crate) async fn discover(
        &self,
        http: &HttpClient,
        issuer: &Issuer,
    ) -> Result<Discovery, ProviderError> {
        Ok(self.known(http, issuer).await?.discovery.clone())
    }

    /// Forgets what was read: an administrator has changed something.
    pub(crate) fn forget(&self, issuer: &str) {
        self.lock().retain(|known, _| known.name != issuer);
    }

    /// Reads the document now, whatever is remembered.
    pub(crate) async fn read(&self, http: &HttpClient, issuer: &Issuer) -> Result<Value, ProviderError> {
        let url = issuer.url();
        if !is_callable(&url, self.insecure) {
            return Err(ProviderError::Discovery("its URL is not https"));
        }
        let document = http.send(Call::get(url)).await?.json()?;
        Discovery::read(&document, &issuer.name, self.insecure)?;
        Ok(document)
    }

    /// Checks the signature of a token with the issuer's keys. Everything in it is the caller's to check.
    pub(crate) async fn verify(
        &self,
        http: &HttpClient,
        issuer: &Issuer,
        token: &str,
    ) -> Result<Arc<Claims>, ProviderError> {
        let known = self.known(http, issuer).await?;
        let mut slot = known.keys.lock().await;
        let mut read = slot.take();
        let mut verdict = Err(TokenError::NoSuitableKey);
        if let Some((keys, read_at)) = &read {
            verdict = keys.verify(token);
            let age = read_at.elapsed();
            let is_stale =
                age > KEYS_LIFE || (matches!(verdict, Err(TokenError::NoSuitableKey)) && age > LEAST_PAUSE);
            if !is_stale {
                *slot = read;
                return Ok(verdict?);
            }
        }
        match http
            .send(Call::get(&known.discovery.jwks_uri))
            .await
            .and_then(|answer| answer.json())
        {
            Ok(jwks) => {
                let keys = Arc::new(IssuerKeys::from_jwks(&jwks));
                verdict = keys.verify(token);
                read = Some((keys, Instant::now()));
            }
            // An issuer that cannot be reached for a moment: what we know of it still holds.
            Err(_) if read.is_some() => {}
            Err(error) => return Err(error.into()),
        }
        *slot = read;
        Ok(verdict?)
    }

    async fn known(&self, http: &HttpClient, issuer: &Issuer) -> Result<Arc<Known>, ProviderError> {
        let found = self.lock().get(issuer).cloned();
        if let Some(known) = found.filter(|known| known.read_at.elapsed() < DISCOVERY_LIFE) {
            return Ok(known);
        }
        let document = self.read(http, issuer).await?;
        let known = Arc::new(Known {
            discovery: Discovery::read(&document, &issuer.name, self.insecure)?,
            read_at: Instant::now(),
            keys: tokio::sync::Mutex::new(None),
        });
        let mut all = self.lock();
        if all.len() >= MOST_ISSUERS {
            let oldest = all
                .iter()
                .min_by_key(|(_, known)| known.read_at)
                .map(|(issuer, _)| issuer.clone());
            oldest.and_then(|issuer| all.remove(&issuer));
        }
        all.insert(issuer.clone(), known.clone());
        Ok(known)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Issuer, Arc<Known>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_of_another_issuer_or_with_unsafe_endpoints_is_refused() {
        let document = json!({
            "issuer": "https://id.example", "authorization_endpoint": "https://id.example/a",
            "token_endpoint": "https://id.example/t", "jwks_uri": "https://id.example/k",
        });
        let read = |document: &Value, issuer: &str| Discovery::read(document, issuer, false).is_ok();

        assert!(read(&document, "https://id.example"));
        assert!(!read(&document, "https://id.example/"));
        for (member, value) in [
            ("jwks_uri", json!("http://id.example/k")),
            ("token_endpoint", json!("file:///etc/passwd")),
            ("authorization_endpoint", json!(null)),
        ] {
            let mut changed = document.clone();
            changed[member] = value;
            assert!(!read(&changed, "https://id.example"), "{member}");
        }
    }
}
