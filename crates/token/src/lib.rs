//! Verification of the caller's JWT or API key, and the keys for it.
//!
//! In: the text of a JWT or an API key, and the project's keys. Out: verified [`Claims`], an [`ApiKeyKind`], or a
//! [`TokenError`] with enough detail for each service to render its own error. HTTP, the database, and the permissions of
//! roles are left to others.

mod api_key;
mod claims;
pub mod development;
mod error;
mod keys;

pub use api_key::{ApiKeyKind, ApiKeys, generate_publishable_key, generate_secret_key};
pub use claims::Claims;
pub use error::TokenError;
pub use keys::{
    IssuerKeys, JsonWebKey, JwkError, KeyAlgorithm, KeyMaterialError, KeyRing, TokenCacheMetrics,
    TrustedIssuer, Verifier, generate_jwt_secret, generate_signing_key, legacy_api_key,
};

/// Seconds since the Unix epoch, the clock of every `exp`, `nbf` and `iat`.
pub fn unix_now() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |elapsed| i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX))
}
