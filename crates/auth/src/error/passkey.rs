//! Errors of passkeys.

/// Why a passkey cannot be registered, used or managed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PasskeyError {
    #[error("Passkeys are disabled")]
    Disabled,
    #[error("AAL2 session is required to manage passkeys when MFA is enabled")]
    NeedsAal2,
    #[error("Challenge not found or already used")]
    ChallengeNotFound,
    #[error("Challenge has expired")]
    ChallengeExpired,
    /// The credential cannot be read.
    #[error("Invalid credential response")]
    MalformedCredential,
    /// The credential is well-formed, but its signature, origin or counter is wrong or it is unknown; the cause is
    /// logged only.
    #[error("Credential verification failed")]
    VerificationFailed,
    #[error("Maximum number of passkeys reached")]
    TooMany,
    #[error("This credential is already registered")]
    CredentialExists,
}

impl PasskeyError {
    /// HTTP status and error code of each variant.
    pub(super) fn status_and_code(self) -> (u16, &'static str) {
        match self {
            Self::Disabled => (404, "passkey_disabled"),
            Self::NeedsAal2 => (403, "insufficient_aal"),
            Self::ChallengeNotFound => (400, "webauthn_challenge_not_found"),
            Self::ChallengeExpired => (400, "webauthn_challenge_expired"),
            Self::MalformedCredential | Self::VerificationFailed => (400, "webauthn_verification_failed"),
            Self::TooMany => (422, "too_many_passkeys"),
            Self::CredentialExists => (422, "webauthn_credential_exists"),
        }
    }
}
