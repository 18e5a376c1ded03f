//! Errors of token verification. Services map them to their own codes and texts.

/// Why a token was refused; the variants are in the order of the checks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// `Authorization: Bearer` without a token.
    #[error("the token is empty")]
    Empty,
    /// A compact JWT has three parts separated by dots; this one has the given number.
    #[error("expected 3 parts in JWT; got {0}")]
    Parts(usize),
    /// A part is not base64url, or not the JSON object it should be.
    #[error("the token cannot be decoded")]
    Undecodable,
    /// `alg` is unknown, or an algorithm that is not accepted here (PS256, PS384, PS512).
    #[error("unsupported algorithm {0:?}")]
    UnsupportedAlgorithm(String),
    /// `alg` is `none`.
    #[error("the token is not signed")]
    Unsigned,
    /// No key has the token's algorithm, which is named.
    #[error("no key for the algorithm {0}")]
    NoKeyOfAlgorithm(String),
    /// The token's `kid` names no known key.
    #[error("no suitable key for this token")]
    NoSuitableKey,
    /// At least one key was suitable, but the signature verifies with none of them.
    #[error("the signature is not valid")]
    BadSignature,
    /// The signature is valid, but the payload is not a JSON object.
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
    /// `iat` is in the future.
    #[error("the token was issued in the future")]
    IssuedInFuture,
    /// `aud` does not name the expected audience.
    #[error("the token is for another audience")]
    WrongAudience,
    /// A new token could not be signed: the signing key is unusable, or the claims cannot be serialised.
    #[error("the token cannot be signed")]
    Signing,
}

impl TokenError {
    /// Whether no key was tried, so that the signer may have a new one.
    pub fn is_of_unknown_key(&self) -> bool {
        matches!(self, Self::NoSuitableKey | Self::NoKeyOfAlgorithm(_))
    }

    /// Whether somebody whose keys are not here may have signed the token.
    pub fn may_be_of_another_key(&self) -> bool {
        self.is_of_unknown_key() || matches!(self, Self::BadSignature)
    }
}
