//! Verification of the tokens of sockets, channels and REST calls, and the error texts of refused tokens (realtime
//! contract §1.3).

use std::sync::Arc;

use selvedge_token::{ApiKeys, Claims, KeyRing, TokenError, unix_now};
use serde_json::Value;

use crate::ended_users::EndedUsers;

/// A verified token.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    /// The token as it was sent. A refresh with the same text is ignored.
    pub(crate) text: Arc<str>,
    pub(crate) claims: Arc<Claims>,
    /// Unix seconds; `None` for opaque API keys, which do not expire.
    pub(crate) expires_at: Option<i64>,
}

impl Token {
    /// Whole seconds since the token expired, or `None` while it is valid.
    pub(crate) fn seconds_since_expiry(&self) -> Option<i64> {
        self.expires_at.and_then(elapsed_since)
    }
}

/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenRefusal {
    /// The token expired this many seconds ago.
    Expired { seconds: i64 },
    /// `role` or `exp` is missing, or `role` is not a string.
    IncompleteClaims,
    /// `exp` is not a number.
    BadExpiry,
    /// Neither a JWT nor a known API key.
    Malformed,
    /// A key with the token's algorithm and `kid` exists, but the signature does not verify with it.
    BadSignature,
    /// No key has the token's algorithm and `kid`, or the token is unsigned (`alg` is `none`).
    NoSigner,
    /// The user was deleted or banned since the token was issued.
    UserEnded,
}

impl TokenRefusal {
    /// The error code that precedes the text in a refused join.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Expired { .. } | Self::IncompleteClaims | Self::BadExpiry | Self::UserEnded => {
                "InvalidJWTToken"
            }
            Self::Malformed => "MalformedJWT",
            Self::BadSignature => "JwtSignatureError",
            Self::NoSigner => "JwtSignerError",
        }
    }

    /// The error text on a channel; clients compare it, so it is the upstream text word for word.
    pub(crate) fn channel_text(self) -> String {
        match self {
            Self::Expired { seconds } => format!("Token has expired {seconds} seconds ago"),
            other => other.upgrade_text().to_owned(),
        }
    }

    /// The error text of a refused upgrade. Compat: unlike on a channel, it does not say how long ago the token
    /// expired.
    pub(crate) fn upgrade_text(self) -> &'static str {
        match self {
            Self::Expired { .. } => "Token has expired",
            Self::IncompleteClaims => "Fields `role` and `exp` are required in JWT",
            Self::BadExpiry => "Token expiration time is invalid",
            Self::UserEnded => "The user of the token was deleted or banned",
            Self::Malformed => "The token provided is not a valid JWT",
            Self::BadSignature => "Failed to validate JWT signature",
            Self::NoSigner => "Failed to generate JWT signer, check your JWT secret or JWKS configuration",
        }
    }
}

/// Verifies tokens with the project's keys.
#[derive(Clone)]
pub(crate) struct TokenVerifier {
    ring: Arc<KeyRing>,
    api_keys: Arc<ApiKeys>,
    ended_users: Arc<EndedUsers>,
}

impl TokenVerifier {
    pub(crate) fn new(ring: Arc<KeyRing>, api_keys: Arc<ApiKeys>) -> Self {
        Self {
            ring,
            api_keys,
            ended_users: Arc::default(),
        }
    }

    /// The users whose tokens are refused.
    pub(crate) fn ended_users(&self) -> &Arc<EndedUsers> {
        &self.ended_users
    }

    /// Verifies a JWT or an opaque API key. An opaque key gets the claims of its role and no expiry.
    ///
    /// # Errors
    /// The reason for refusing the token; see [`TokenRefusal`].
    pub(crate) fn verify(&self, text: &str) -> Result<Token, TokenRefusal> {
        // Opaque keys are looked up, never parsed: they carry no claims.
        if is_opaque_key(text) {
            let kind = self.api_keys.kind(text).ok_or(TokenRefusal::Malformed)?;
            return Ok(Token {
                text: text.into(),
                claims: Arc::new(Claims::for_role(kind.role())),
                expires_at: None,
            });
        }
        let claims = self
            // Compat: realtime accepts HS384 and HS512 beside HS256, as the upstream service does; REST and Auth do
            // not.
            .ring
            .verify_any_hash(text)
            .map_err(|error| TokenRefusal::from(&error))?;
        let expires_at = check_claims(&claims)?;
        if self.ended_users.includes(&claims) {
            return Err(TokenRefusal::UserEnded);
        }
        Ok(Token {
            text: text.into(),
            claims,
            expires_at: Some(expires_at),
        })
    }
}

/// Whether this is an API key such as `sb_publishable_…`, which clients send in the place of a token.
pub(crate) fn is_opaque_key(text: &str) -> bool {
    text.starts_with("sb_")
}

/// Checks `exp` and `role`, and returns `exp` in Unix seconds. An expired token is reported as such even without a
/// role.
///
/// # Errors
/// [`TokenRefusal::IncompleteClaims`], [`TokenRefusal::BadExpiry`] or [`TokenRefusal::Expired`].
pub(crate) fn check_claims(claims: &Claims) -> Result<i64, TokenRefusal> {
    let expires_at = match claims.get("exp") {
        // A token without `exp` would keep its channels open for ever.
        None | Some(Value::Null) => return Err(TokenRefusal::IncompleteClaims),
        Some(value) => rounded_seconds(value).ok_or(TokenRefusal::BadExpiry)?,
    };
    if let Some(seconds) = elapsed_since(expires_at) {
        return Err(TokenRefusal::Expired { seconds });
    }
    match claims.role() {
        Some(_) => Ok(expires_at),
        None => Err(TokenRefusal::IncompleteClaims),
    }
}

/// Seconds since a Unix time; `None` while it lies in the future.
fn elapsed_since(expires_at: i64) -> Option<i64> {
    let now = unix_now();
    (now >= expires_at).then(|| now.saturating_sub(expires_at))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the conversion saturates, and no clock reaches there"
)]
fn rounded_seconds(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().map(|seconds| seconds.round() as i64))
}

impl From<&TokenError> for TokenRefusal {
    fn from(error: &TokenError) -> Self {
        match error {
            TokenError::BadSignature => Self::BadSignature,
            TokenError::NoSuitableKey
            | TokenError::NoKeyOfAlgorithm(_)
            | TokenError::Unsigned
            | TokenError::UnsupportedAlgorithm(_) => Self::NoSigner,
            _ => Self::Malformed,
        }
    }
}
