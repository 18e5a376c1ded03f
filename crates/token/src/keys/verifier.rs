//! Verifies the form and signature of tokens, and caches the claims of verified ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foldhash::quality::RandomState;
use jsonwebtoken::{Algorithm, DecodingKey};
use moka::sync::Cache;
use serde_json::{Map, Value};

use crate::{Claims, JsonWebKey, JwkError, TokenError};

/// Longer tokens are verified each time, which bounds the memory of the cache.
const LONGEST_CACHED_TOKEN_BYTES: usize = 8 * 1024;

/// Whether keys without a `kid` are tried for tokens that have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnnamedKeys {
    /// Keys without a `kid` are tried unless another key has the token's `kid`; a project's shared secret has none.
    VerifyAll,
    /// Keys without a `kid` are tried only for tokens without one, because a token that names its key is refused by every other.
    VerifyUnnamed,
}

/// Verifies tokens of a fixed set of keys. Shared by all workers.
pub struct Verifier {
    keys: Vec<VerificationKey>,
    unnamed: UnnamedKeys,
    verified: Option<Cache<String, Arc<Claims>, RandomState>>,
    counters: Arc<Counters>,
}

#[derive(Default)]
struct Counters {
    lookups: AtomicU64,
    hits: AtomicU64,
    evictions: AtomicU64,
}

/// Counters of the cache of verified tokens since the process started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCacheMetrics {
    pub lookups: u64,
    pub hits: u64,
    pub evictions: u64,
}

struct VerificationKey {
    kid: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

impl Verifier {
    /// A verifier for these keys. A token with a `kid` is verified only with the key of that name. Caches up to
    /// `cached_tokens` tokens; 0 means no cache.
    ///
    /// # Errors
    /// A key that cannot be used is named; its material is not shown.
    pub fn new(keys: &[JsonWebKey], cached_tokens: u64) -> Result<Self, JwkError> {
        Self::from_keys(keys.iter(), UnnamedKeys::VerifyUnnamed, cached_tokens)
    }

    pub(crate) fn from_keys<'k>(
        keys: impl Iterator<Item = &'k JsonWebKey>,
        unnamed: UnnamedKeys,
        cached_tokens: u64,
    ) -> Result<Self, JwkError> {
        let counters = Arc::<Counters>::default();
        let cache_counters = counters.clone();
        let cache = (cached_tokens > 0).then(|| {
            Cache::builder()
                .max_capacity(cached_tokens)
                .eviction_listener(move |_, _, cause| {
                    if cause.was_evicted() {
                        cache_counters.evictions.fetch_add(1, Ordering::Relaxed);
                    }
                })
                // Randomly seeded like the standard hasher, so that clients cannot provoke collisions, and several times faster
                // on texts as long as a token.
                .build_with_hasher(RandomState::default())
        });
        Ok(Self {
            keys: keys.map(VerificationKey::new).collect::<Result<_, _>>()?,
            unnamed,
            verified: cache,
            counters,
        })
    }

    /// A verifier without keys, which refuses every token.
    pub(crate) fn refusing_all() -> Self {
        Self {
            keys: Vec::new(),
            unnamed: UnnamedKeys::VerifyUnnamed,
            verified: None,
            counters: Arc::default(),
        }
    }

    /// Verifies the signature and decodes the claims. The caller must check time and audience at every use, because
    /// claims may come from the cache.
    ///
    /// # Errors
    /// See [`TokenError`]; source: REST contract §7, Auth contract §1.2.
    pub fn verify(&self, token: &str) -> Result<Arc<Claims>, TokenError> {
        let Some(cache) = &self.verified else {
            return self.verify_signature(token).map(Arc::new);
        };
        self.counters.lookups.fetch_add(1, Ordering::Relaxed);
        if let Some(claims) = cache.get(token) {
            self.counters.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(claims);
        }
        let claims = Arc::new(self.verify_signature(token)?);
        // Only verified tokens are cached, so a client with forged tokens cannot push valid ones out.
        if token.len() <= LONGEST_CACHED_TOKEN_BYTES {
            cache.insert(token.to_owned(), claims.clone());
        }
        Ok(claims)
    }

    /// The counters of the cache.
    pub fn cache_metrics(&self) -> TokenCacheMetrics {
        TokenCacheMetrics {
            lookups: self.counters.lookups.load(Ordering::Relaxed),
            hits: self.counters.hits.load(Ordering::Relaxed),
            evictions: self.counters.evictions.load(Ordering::Relaxed),
        }
    }

    fn verify_signature(&self, token: &str) -> Result<Claims, TokenError> {
        if token.is_empty() {
            return Err(TokenError::Empty);
        }
        let parts: Vec<&str> = token.split('.').collect();
        let [header, payload, signature] = parts[..] else {
            return Err(TokenError::Parts(parts.len()));
        };
        let (algorithm, kid) = parse_header(header)?;
        // The signature covers header and payload as they were sent, with the dot between them.
        let message = &token.as_bytes()[..header.len() + 1 + payload.len()];
        // The payload is decoded only after the signature has been verified, so no unverified JSON is parsed.
        self.check_signature(signature, message, algorithm, kid.as_deref())?;
        match decode_json(payload) {
            Ok(Value::Object(map)) => Ok(Claims::new(map)),
            _ => Err(TokenError::ClaimsNotAnObject),
        }
    }

    /// Tries the keys of the token's algorithm and `kid`. The `kid` alone never selects a key of another algorithm.
    fn check_signature(
        &self,
        signature: &str,
        message: &[u8],
        algorithm: Algorithm,
        kid: Option<&str>,
    ) -> Result<(), TokenError> {
        let named = kid.is_some_and(|kid| self.keys.iter().any(|key| key.kid.as_deref() == Some(kid)));
        let mut tried = false;
        for key in self.keys.iter().filter(|key| key.algorithms.contains(&algorithm)) {
            let fits = match kid {
                None => true,
                Some(kid) => {
                    key.kid.as_deref() == Some(kid)
                        || key.kid.is_none() && !named && self.unnamed == UnnamedKeys::VerifyAll
                }
            };
            if !fits {
                continue;
            }
            tried = true;
            // An error of the library means a malformed signature, which is not valid.
            if jsonwebtoken::crypto::verify(signature, message, &key.key, algorithm).unwrap_or(false) {
                return Ok(());
            }
        }
        let has_key = |key: &VerificationKey| key.algorithms.contains(&algorithm);
        Err(match tried {
            true => TokenError::BadSignature,
            false if self.keys.iter().any(has_key) => TokenError::NoSuitableKey,
            false => TokenError::NoKeyOfAlgorithm(format!("{algorithm:?}")),
        })
    }
}

impl VerificationKey {
    fn new(key: &JsonWebKey) -> Result<Self, JwkError> {
        Ok(Self {
            kid: key.kid.clone(),
            algorithms: key.algorithms()?,
            key: key.decoding_key()?,
        })
    }
}

/// Reads algorithm and `kid` of a token's header. Both are unverified: they only select keys, and a key
/// accepts no other algorithm than its own.
pub(crate) fn parse_header(part: &str) -> Result<(Algorithm, Option<String>), TokenError> {
    let Value::Object(header) = decode_json(part)? else {
        return Err(TokenError::Undecodable);
    };
    let kid = read_text(&header, "kid").map(str::to_owned);
    match read_text(&header, "alg").ok_or(TokenError::Undecodable)? {
        "none" => Err(TokenError::Unsigned),
        name => match name.parse::<Algorithm>() {
            Ok(Algorithm::PS256 | Algorithm::PS384 | Algorithm::PS512) | Err(_) => {
                Err(TokenError::UnsupportedAlgorithm(name.to_owned()))
            }
            Ok(algorithm) => Ok((algorithm, kid)),
        },
    }
}

fn read_text<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name).and_then(Value::as_str)
}

fn decode_json(part: &str) -> Result<Value, TokenError> {
    let bytes = URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| TokenError::Undecodable)?;
    serde_json::from_slice(&bytes).map_err(|_| TokenError::Undecodable)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{KeyRing, development};

    const SECRET: &[u8] = b"a-shared-secret-of-at-least-32-characters";

    #[test]
    fn rest_007_a_token_is_checked_with_the_key_that_it_names() {
        let asymmetric = development::signing_key();
        let signed = KeyRing::new(SECRET, std::slice::from_ref(&asymmetric))
            .map(|ring| ring.sign(&json!({"role": "a"})).expect("signs"))
            .expect("usable");
        let unnamed = KeyRing::new(SECRET, &[])
            .map(|ring| ring.sign_hs256(&json!({"role": "b"})).expect("signs"))
            .expect("usable");

        let both = Verifier::new(&[JsonWebKey::symmetric(SECRET), asymmetric], 10).expect("usable");
        let secret_only = Verifier::new(&[JsonWebKey::symmetric(SECRET)], 0).expect("usable");

        assert_eq!(both.verify(&signed).expect("good").role(), Some("a"));
        assert_eq!(both.verify(&unnamed).expect("good").role(), Some("b"));
        assert_eq!(secret_only.verify(&unnamed).expect("good").role(), Some("b"));
        assert_eq!(
            secret_only.verify(&signed).map(drop),
            Err(TokenError::NoKeyOfAlgorithm("ES256".to_owned()))
        );
    }

    #[test]
    fn rest_007_the_cache_counts_and_can_be_off() {
        let token = KeyRing::new(SECRET, &[])
            .map(|ring| ring.sign_hs256(&json!({})).expect("signs"))
            .expect("usable");
        let with = Verifier::new(&[JsonWebKey::symmetric(SECRET)], 10).expect("usable");
        let without = Verifier::new(&[JsonWebKey::symmetric(SECRET)], 0).expect("usable");

        for verifier in [&with, &without] {
            for _ in 0..3 {
                verifier.verify(&token).expect("good");
            }
        }

        assert_eq!((with.cache_metrics().lookups, with.cache_metrics().hits), (3, 2));
        assert_eq!(without.cache_metrics(), TokenCacheMetrics::default());
    }
}
