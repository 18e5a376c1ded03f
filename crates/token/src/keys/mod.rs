//! Keys of JWTs: their formats (JWK, JWKS, shared secrets), and signing and verification with them.
//!
//! [`KeyRing`] holds a project's keys, [`IssuerKeys`] those of another issuer (an OpenID provider), and [`TrustedIssuer`]
//! those of an issuer whose tokens the project accepts like its own. All verify with a [`Verifier`].

mod generate;
mod issuer_keys;
mod jwk;
mod key_material;
mod key_ring;
mod trusted_issuer;
mod verifier;

pub use generate::{KeyAlgorithm, generate_signing_key};
pub use issuer_keys::IssuerKeys;
pub use jwk::{JsonWebKey, JwkError};
pub use key_material::KeyMaterialError;
pub use key_ring::{KeyRing, generate_jwt_secret, legacy_api_key};
pub use trusted_issuer::TrustedIssuer;
pub use verifier::{TokenCacheMetrics, Verifier};
