//! Who is calling, as far as a token or a key can say.
//!
//! In: the text of a JWT or an API key, and the project's keys. Out: verified [`Claims`], an
//! [`ApiKeyKind`], or a [`TokenError`] that says what was wrong, in enough detail for each service to
//! render it in its own words. Nothing here knows HTTP, the database, or what a role may do.

mod api_key;
mod claims;
pub mod development;
mod error;
mod generate;
mod issuer_keys;
mod jwk;
mod key_material;
mod key_ring;
mod verifier;

pub use api_key::{ApiKeyKind, ApiKeys, generate_publishable_key, generate_secret_key};
pub use claims::Claims;
pub use error::TokenError;
pub use generate::{KeyAlgorithm, generate_signing_key};
pub use issuer_keys::IssuerKeys;
pub use jwk::{JsonWebKey, JwkError};
pub use key_material::KeyMaterialError;
pub use key_ring::{KeyRing, generate_jwt_secret, legacy_api_key};
pub use verifier::{TokenCacheUse, Verifier};

/// Seconds since the Unix epoch, the clock of every `exp`, `nbf` and `iat`.
pub fn unix_now() -> i64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |elapsed| i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX))
}
