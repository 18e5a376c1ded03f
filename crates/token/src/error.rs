//! What can be wrong with a token. Services map these to their own codes and texts.

/// Why a token was refused, in the order in which it is examined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// `Authorization: Bearer` with nothing behind it.
    #[error("the token is empty")]
    Empty,
    /// A compact JWT has three parts separated by dots; this one has another number.
    #[error("expected 3 parts in JWT; got {0}")]
    Parts(usize),
    /// A part is not base64url, or not the JSON object it should be.
    #[error("the token cannot be decoded")]
    Undecodable,
    /// `alg` is one that we do not accept (or do not know).
    #[error("unsupported algorithm {0:?}")]
    UnsupportedAlgorithm(String),
    /// `alg` is `none`.
    #[error("the token is not signed")]
    Unsigned,
    /// The token's `kid` names no key of ours, or no key fits its algorithm.
    #[error("no suitable key for this token")]
    NoSuitableKey,
    /// Keys fit, but the signature is not theirs.
    #[error("the signature is not valid")]
    BadSignature,
    /// The signature is good, and the payload is no JSON object.
    #[error("the claims are not a JSON object")]
    ClaimsNotAnObject,
    /// `exp`, `nbf` or `iat` is present and not a number.
    #[error("the claim {0} must be a number")]
    ClaimNotANumber(&'static str),
    /// `aud` is present and neither a string nor a list of strings.
    #[error("the claim aud must be a string or a list of strings")]
    AudienceNotStrings,
    /// `exp` has passed.
    #[error("the token is expired")]
    Expired,
    /// `nbf` has not come yet.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// `iat` lies in the future.
    #[error("the token was issued in the future")]
    IssuedInFuture,
    /// `aud` does not name the expected audience.
    #[error("the token is for another audience")]
    WrongAudience,
    /// We could not sign. Only possible with an unusable signing key.
    #[error("the token cannot be signed")]
    Signing,
}
