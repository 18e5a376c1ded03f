//! Why the response of an authenticator is rejected, at a registration or a sign-in.

/// Why a ceremony was rejected: the first check that failed. The texts are for logs and for developers of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WebauthnError {
    /// The response lacks a member, or one is not valid base64, JSON or CBOR.
    #[error("the credential cannot be read")]
    Malformed,
    /// `type` of the client data: a registration was sent as a sign-in, or the other way round.
    #[error("the client data are of another type: a registration sent as a sign-in or the reverse")]
    WrongType,
    /// `challenge` of the client data is not the one that was sent.
    #[error("the client data contain another challenge")]
    WrongChallenge,
    /// `origin` of the client data is not configured, or the page was in a frame of another site.
    #[error("the origin of the client data is not configured")]
    WrongOrigin,
    /// The authenticator data contains the hash of another relying party id.
    #[error("the authenticator data contain the hash of another relying party id")]
    WrongRelyingParty,
    /// The flag "user present" is not set.
    #[error("the flag \"user present\" is not set")]
    NotPresent,
    /// The public key has an algorithm that is not supported, or is invalid.
    #[error("the algorithm of the public key is not supported")]
    UnknownKey,
    /// The credential id is too long, or not the expected one.
    #[error("the credential id is not the expected one")]
    OtherCredential,
    /// The signature does not verify with the stored public key.
    #[error("the signature does not verify with the stored public key")]
    BadSignature,
    /// The signature counter did not grow since the last sign-in.
    #[error("the signature counter did not grow: the authenticator may have been copied")]
    Cloned,
}
