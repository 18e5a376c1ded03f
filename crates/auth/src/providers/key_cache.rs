//! The key set (JWKS) of one issuer, and when it is fetched again.
//!
//! A token signed with a known key is verified without waiting, also while another request fetches keys. Keys are fetched
//! when there are none, when they are older than [`KEYS_LIFETIME`], and when a token names a key that is not among
//! them, because the issuer may have rotated its keys. Anyone can send tokens with invented key ids, so that happens at
//! most once per [`REFETCH_PAUSE`].

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use selvedge_token::{Claims, IssuerKeys};
use serde_json::Value;

use crate::error::ProviderError;
use crate::http_client::CallError;

/// How long a key set is used before it is fetched again. Tokens signed with a key that the issuer has withdrawn are
/// accepted for as long.
const KEYS_LIFETIME: Duration = Duration::from_secs(600);

/// Shortest time between two fetches of one issuer's key set, successful or not, while there are keys to go on with.
const REFETCH_PAUSE: Duration = Duration::from_secs(10);

/// The keys of one issuer.
pub(super) struct KeyCache {
    life: Duration,
    pause: Duration,
    /// `None` before the first token.
    known: Mutex<Option<KeySet>>,
    /// When the last fetch ended. The lock is held during a fetch, so that concurrent sign-ins share one.
    last_fetch: tokio::sync::Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct KeySet {
    keys: Arc<IssuerKeys>,
    fetched_at: Instant,
}

impl Default for KeyCache {
    fn default() -> Self {
        Self::new(KEYS_LIFETIME, REFETCH_PAUSE)
    }
}

impl KeyCache {
    fn new(life: Duration, pause: Duration) -> Self {
        Self {
            life,
            pause,
            known: Mutex::default(),
            last_fetch: tokio::sync::Mutex::default(),
        }
    }

    /// Verifies a token's signature and returns its claims; `fetch` returns the issuer's JWKS and is called only when it
    /// is needed.
    ///
    /// # Errors
    /// [`ProviderError::Signature`] when no key of the issuer has signed the token, [`ProviderError::Call`] and
    /// [`ProviderError::NoKeys`] when there are no keys and none can be fetched.
    pub(super) async fn verify(
        &self,
        token: &str,
        fetch: impl AsyncFnOnce() -> Result<Value, CallError>,
    ) -> Result<Arc<Claims>, ProviderError> {
        let arrived_at = Instant::now();
        if let Some(known) = self.cached_keys()
            && known.fetched_at.elapsed() <= self.life
        {
            let result = known.keys.verify(token);
            if !matches!(&result, Err(error) if error.is_of_unknown_key()) {
                return Ok(result?);
            }
        }
        let mut last_fetch = self.last_fetch.lock().await;
        let has_keys = self.cached_keys().is_some();
        let is_due = last_fetch.is_none_or(|ended_at| {
            // Without keys only the requests that waited for the failed fetch share its failure; the next one tries again.
            ended_at < arrived_at && (!has_keys || ended_at.elapsed() >= self.pause)
        });
        if is_due {
            let fetched = fetch().await;
            *last_fetch = Some(Instant::now());
            match fetched {
                Ok(jwks) => self.set_known(&jwks),
                // The issuer cannot be reached at the moment. Its old keys stay in use, so that sign-ins go on.
                Err(_) if has_keys => {}
                Err(error) => return Err(error.into()),
            }
        }
        drop(last_fetch);
        let known = self.cached_keys().ok_or(ProviderError::NoKeys)?;
        Ok(known.keys.verify(token)?)
    }

    fn cached_keys(&self) -> Option<KeySet> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_known(&self, jwks: &Value) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(KeySet {
            keys: Arc::new(IssuerKeys::from_jwks(jwks)),
            fetched_at: Instant::now(),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use selvedge_http_client::FailedStep;
    use selvedge_token::{KeyAlgorithm, KeyRing, TokenError, generate_signing_key};
    use serde_json::json;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn issuer() -> KeyRing {
        let key = generate_signing_key(KeyAlgorithm::EdDsa);
        KeyRing::new(b"nobody-signs-with-this-secret-here", &[key]).expect("a key ring")
    }

    fn unreachable() -> CallError {
        CallError::Unreachable {
            host: "id.example".to_owned(),
            step: FailedStep::Connect,
        }
    }

    #[tokio::test]
    async fn auth_081_a_stale_key_set_is_fetched_once_by_concurrent_sign_ins_and_used_when_that_fails() {
        let issuer = issuer();
        let token = issuer.sign(&json!({"sub": "1"})).expect("a token");
        let cache = KeyCache::new(Duration::ZERO, LONG);
        cache
            .verify(&token, async || Ok(issuer.public_jwks()))
            .await
            .expect("the first fetch");
        // Ends the pause of the first fetch.
        *cache.last_fetch.lock().await = None;
        let fetches = AtomicUsize::new(0);
        let sign_in = || {
            cache.verify(&token, async || {
                fetches.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Err(unreachable())
            })
        };

        let results = tokio::join!(sign_in(), sign_in(), sign_in());

        assert!(results.0.is_ok() && results.1.is_ok() && results.2.is_ok());
        assert_eq!(fetches.load(Ordering::Relaxed), 1);
        assert!(
            sign_in().await.is_ok(),
            "the failed fetch is not repeated during the pause"
        );
        assert_eq!(fetches.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn auth_081_a_known_key_verifies_while_another_request_waits_for_a_fetch() {
        let (issuer, stranger) = (issuer(), self::issuer());
        let token = issuer.sign(&json!({"sub": "1"})).expect("a token");
        let invented = stranger.sign(&json!({"sub": "1"})).expect("a token");
        let cache = KeyCache::new(LONG, Duration::ZERO);
        cache
            .verify(&token, async || Ok(issuer.public_jwks()))
            .await
            .expect("the first fetch");
        let (release, released) = tokio::sync::oneshot::channel::<()>();
        let hanging = cache.verify(&invented, async || {
            released.await.ok();
            Err(unreachable())
        });
        let meanwhile = async {
            let result = cache.verify(&token, async || Err(unreachable())).await;
            release.send(()).expect("the other request waits");
            result
        };

        let (refused, accepted) = tokio::join!(hanging, meanwhile);

        assert!(accepted.is_ok());
        assert!(matches!(
            refused,
            Err(ProviderError::Signature(TokenError::NoSuitableKey))
        ));
    }

    #[tokio::test]
    async fn auth_081_without_keys_a_failed_fetch_is_shared_and_then_tried_again() {
        let issuer = issuer();
        let token = issuer.sign(&json!({"sub": "1"})).expect("a token");
        let cache = KeyCache::default();
        let fetches = AtomicUsize::new(0);
        let sign_in = || {
            cache.verify(&token, async || {
                fetches.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Err(unreachable())
            })
        };

        let (first, second) = tokio::join!(sign_in(), sign_in());
        assert!(matches!(first, Err(ProviderError::Call(_))), "{first:?}");
        assert!(matches!(second, Err(ProviderError::NoKeys)), "{second:?}");
        assert_eq!(fetches.load(Ordering::Relaxed), 1);

        let later = cache.verify(&token, async || Ok(issuer.public_jwks())).await;
        assert!(later.is_ok());
    }
}
