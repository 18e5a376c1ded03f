//! Errors of second factors.

use uuid::Uuid;

/// Why a second factor cannot be added, challenged, verified or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MfaError {
    #[error("MFA enroll is disabled for TOTP")]
    TotpEnrollDisabled,
    #[error("MFA enroll is disabled for Phone")]
    PhoneEnrollDisabled,
    #[error("MFA enroll is disabled for WebAuthn")]
    WebauthnEnrollDisabled,
    #[error("MFA verification is disabled for TOTP")]
    TotpVerifyDisabled,
    #[error("MFA verification is disabled for Phone")]
    PhoneVerifyDisabled,
    #[error("MFA verification is disabled for WebAuthn")]
    WebauthnVerifyDisabled,
    /// The user has no factor with this id.
    #[error("Factor not found")]
    FactorNotFound,
    /// The factor has no challenge of this id.
    #[error("MFA factor with the provided challenge ID not found")]
    ChallengeNotFound,
    /// Compat: also for a challenge that was answered before, as with upstream.
    #[error("Challenge and verify IP addresses mismatch.")]
    ChallengeIpMismatch,
    #[error("MFA challenge {0} has expired, verify against another challenge or create a new challenge.")]
    ChallengeExpired(Uuid),
    #[error("Invalid TOTP code entered")]
    WrongTotpCode,
    #[error("Invalid MFA Phone code entered")]
    WrongPhoneCode,
    #[error("Invalid WebAuthn credential")]
    WrongCredential,
    #[error("Invalid recovery code entered")]
    WrongRecoveryCode,
    #[error("MFA enroll is disabled for recovery codes")]
    RecoveryCodesEnrollDisabled,
    #[error("MFA verification is disabled for recovery codes")]
    RecoveryCodesVerifyDisabled,
    #[error("The user has not enrolled recovery codes")]
    RecoveryCodesNotFound,
    #[error("Recovery codes are already enrolled for this user, use regenerate to rotate them")]
    RecoveryCodesExist,
    /// The verb of the message, such as `generate`.
    #[error("AAL2 required to {0} recovery codes")]
    RecoveryCodesNeedAal2(&'static str),
    #[error("At least one other verified factor is required to generate recovery codes")]
    RecoveryCodesNeedFactor,
    #[error(
        "Recovery codes cannot be the only verified factor. Please enroll another factor before unenrolling this one or delete your recovery codes."
    )]
    RecoveryCodesWouldBeSole,
    #[error("Recovery codes cannot be unenrolled with this endpoint, use DELETE /factors/recovery-codes")]
    RecoveryCodesNotUnenrolled,
    #[error("Too many failed verification attempts, please try again later")]
    RecoveryCodesLocked,
    #[error("A factor with the friendly name {0:?} for this user already exists")]
    NameConflict(String),
    /// At enrolment, where a verified factor with the same number exists.
    #[error("A verified phone factor already exists, unenroll the existing factor to continue")]
    VerifiedPhoneFactorExists,
    /// Where an administrator gives a factor the number of another one.
    #[error("A phone factor with this number already exists")]
    PhoneFactorExists,
    #[error("Maximum number of verified factors reached, unenroll to continue")]
    TooManyFactors,
    #[error("AAL2 required to enroll a new factor")]
    EnrollNeedsAal2,
    #[error("AAL2 required to unenroll verified factor")]
    UnenrollNeedsAal2,
    /// The hook `mfa_verification_attempt` has rejected the attempt, with this message.
    #[error("{0}")]
    RejectedByHook(String),
}

impl MfaError {
    /// HTTP status and error code of each variant.
    pub(super) fn status_and_code(&self) -> (u16, &'static str) {
        match self {
            Self::TotpEnrollDisabled => (422, "mfa_totp_enroll_not_enabled"),
            Self::PhoneEnrollDisabled => (422, "mfa_phone_enroll_not_enabled"),
            Self::WebauthnEnrollDisabled => (422, "mfa_webauthn_enroll_not_enabled"),
            Self::TotpVerifyDisabled => (422, "mfa_totp_verify_not_enabled"),
            Self::PhoneVerifyDisabled => (422, "mfa_phone_verify_not_enabled"),
            Self::WebauthnVerifyDisabled => (422, "mfa_webauthn_verify_not_enabled"),
            Self::FactorNotFound => (404, "mfa_factor_not_found"),
            Self::ChallengeNotFound => (422, "mfa_factor_not_found"),
            Self::ChallengeIpMismatch => (422, "mfa_ip_address_mismatch"),
            Self::ChallengeExpired(_) => (422, "mfa_challenge_expired"),
            Self::WrongTotpCode | Self::WrongPhoneCode | Self::WrongCredential | Self::WrongRecoveryCode => {
                (422, "mfa_verification_failed")
            }
            Self::RecoveryCodesEnrollDisabled => (422, "mfa_recovery_codes_enroll_not_enabled"),
            Self::RecoveryCodesVerifyDisabled => (422, "mfa_recovery_codes_verify_not_enabled"),
            Self::RecoveryCodesNotFound => (404, "mfa_factor_not_found"),
            Self::RecoveryCodesNeedAal2(_) => (403, "insufficient_aal"),
            Self::RecoveryCodesNeedFactor | Self::RecoveryCodesWouldBeSole => {
                (422, "mfa_recovery_codes_sole_factor")
            }
            Self::RecoveryCodesNotUnenrolled => (422, "validation_failed"),
            Self::RecoveryCodesLocked => (429, "mfa_recovery_codes_locked"),
            Self::NameConflict(_) => (422, "mfa_factor_name_conflict"),
            Self::VerifiedPhoneFactorExists | Self::PhoneFactorExists | Self::RecoveryCodesExist => {
                (422, "mfa_verified_factor_exists")
            }
            Self::TooManyFactors => (422, "too_many_enrolled_mfa_factors"),
            Self::EnrollNeedsAal2 => (403, "insufficient_aal"),
            Self::UnenrollNeedsAal2 => (422, "insufficient_aal"),
            Self::RejectedByHook(_) => (403, "mfa_verification_rejected"),
        }
    }
}
