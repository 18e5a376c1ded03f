//! Walks the error table: `table.txt` holds status, code and message of every variant, as the contract (Auth §1.4)
//! fixes them. Clients compare codes and some messages, so a line of that file changes only when the contract does.

use uuid::Uuid;

use super::{
    AuthError, Fault, FeatureError, FederationError, HookError, MfaError, OauthServerError, PasskeyError,
    SamlError, UNEXPECTED, WeakPassword,
};

#[test]
fn auth_017_every_error_has_the_status_code_and_message_of_the_contract() {
    let mut written = String::new();
    for error in sample_errors() {
        let (status, code) = error.status_and_code();
        let line = format!(
            "{} | {status} | {code} | {}\n",
            variant_name(&error),
            error.message()
        );
        written.push_str(&line);
    }

    assert_eq!(written, include_str!("table.txt"));
}

#[test]
fn the_table_covers_every_variant() {
    let sources = [
        include_str!("auth_error.rs"),
        include_str!("feature.rs"),
        include_str!("federation.rs"),
        include_str!("hook.rs"),
        include_str!("mfa.rs"),
        include_str!("oauth_server.rs"),
        include_str!("passkey.rs"),
        include_str!("saml.rs"),
    ];
    // Every variant carries one #[error(…)]; the transparent ones only wrap an enum of their own.
    let is_variant = |line: &&str| line.trim_start().starts_with("#[error(") && !line.contains("transparent");
    let declared: usize = sources
        .map(|source| source.lines().filter(is_variant).count())
        .iter()
        .sum();
    let mut named: Vec<String> = sample_errors().iter().map(variant_name).collect();
    named.sort_unstable();
    named.dedup();

    assert_eq!(named.len(), declared, "{named:?}");
}

/// The Debug form up to the fields: `TooSoon`, `Mfa::ChallengeExpired`.
fn variant_name(error: &AuthError) -> String {
    let text = format!("{error:?}");
    let is_wrapper = matches!(
        error,
        AuthError::Feature(_)
            | AuthError::Federation(_)
            | AuthError::Hook(_)
            | AuthError::Mfa(_)
            | AuthError::OauthServer(_)
            | AuthError::Saml(_)
            | AuthError::Passkey(_)
    );
    let parts: Vec<&str> = text.split(['(', ')', ' ', '{']).collect();
    parts[..if is_wrapper { 2 } else { 1 }].join("::")
}

/// One error of every variant, in the order of `table.txt`.
fn sample_errors() -> Vec<AuthError> {
    let mut errors = plain_errors();
    errors.extend(subject_errors());
    errors
}

fn plain_errors() -> Vec<AuthError> {
    let weak = WeakPassword {
        message: "x".to_owned(),
        reasons: Vec::new(),
    };
    vec![
        AuthError::BadJson("x".to_owned()),
        AuthError::Validation("x".into()),
        AuthError::Unprocessable("x"),
        AuthError::InvalidPathId("x"),
        AuthError::TooLarge,
        AuthError::NoAuthorization,
        AuthError::BadJwt("x".into()),
        AuthError::SubjectNotUuid,
        AuthError::TokenUserNotFound,
        AuthError::TokenSessionNotFound,
        AuthError::TokenSessionExpired,
        AuthError::UserBanned,
        AuthError::NotAdmin,
        AuthError::AppMetadataNeedsAdmin,
        AuthError::AnonymousNotAllowed,
        AuthError::ClientNotAllowed,
        AuthError::CaptchaFailed("no captcha_token found".to_owned()),
        AuthError::CaptchaUnavailable,
        AuthError::UserNotFound("User not found"),
        AuthError::internal(UNEXPECTED, Fault::Other("secret detail")),
        AuthError::Overloaded,
        AuthError::OutOfMemory,
        AuthError::DatabaseUnavailable(Fault::Other("secret detail")),
        AuthError::InvalidCredentials,
        AuthError::UnsupportedGrantType,
        AuthError::EmailNotConfirmed { status: 400 },
        AuthError::PhoneNotConfirmed { status: 403 },
        AuthError::ReauthenticationEmailNotConfirmed,
        AuthError::ReauthenticationPhoneNotConfirmed,
        AuthError::BannedAtSignIn,
        AuthError::UserAlreadyExists,
        AuthError::EmailExists,
        AuthError::EmailClaimed,
        AuthError::PhoneExists,
        AuthError::PhoneClaimed,
        AuthError::PhoneExistsOnCreate,
        AuthError::WeakPassword(weak),
        AuthError::SamePassword,
        AuthError::SignupDisabled,
        AuthError::AnonymousDisabled,
        AuthError::EmailProviderDisabled {
            status: 422,
            text: "Email logins are disabled",
        },
        AuthError::PhoneProviderDisabled {
            status: 400,
            text: "Phone logins are disabled",
        },
        AuthError::ProviderDisabled("x"),
        AuthError::OtpDisabled,
        AuthError::OtpExpired("x"),
        AuthError::ReauthenticationNeeded,
        AuthError::ReauthenticationNotValid,
        AuthError::CurrentPasswordRequired,
        AuthError::CurrentPasswordInvalid,
        AuthError::InsufficientAal,
        AuthError::SsoManaged,
        AuthError::TooSoon { seconds: 7 },
        AuthError::TooSoonSms { seconds: 7 },
        AuthError::EmailRateLimit,
        AuthError::SmsRateLimit,
        AuthError::RequestRateLimit,
        AuthError::EmailAddressNotAuthorized("a@b.c".to_owned()),
        AuthError::SmsSendFailed {
            purpose: "confirmation",
            cause: "x".to_owned(),
        },
        AuthError::FactorSmsSendFailed,
        AuthError::NoSmsProvider,
        AuthError::MalformedRefreshToken,
        AuthError::RefreshTokenNotFound,
        AuthError::RefreshTokenAlreadyUsed,
        AuthError::RefreshUserBanned,
        AuthError::RefreshSessionNotFound,
        AuthError::SessionExpired {
            suffix: " (Inactivity)",
        },
        AuthError::RefreshConflict,
        AuthError::FlowStateNotFound { status: 404 },
        AuthError::FlowStateExpired,
        AuthError::BadCodeVerifier,
        AuthError::oauth("invalid_grant", "x"),
        AuthError::BadOauthCallback("x"),
        AuthError::BadOauthState("x"),
        AuthError::FlowStateAlreadyUsed,
        AuthError::OauthClientStateNotFound,
        AuthError::OauthClientStateExpired,
        AuthError::OauthInvalidState("x"),
        AuthError::OauthProviderNotSupported("x".to_owned()),
        AuthError::ProviderEmailNeedsVerification("x".to_owned()),
        AuthError::LinkedEmailNotConfirmed("x".to_owned()),
        AuthError::LinkTargetNotFound,
        AuthError::EmailExistsOnLink,
        AuthError::InviteNotFound,
        AuthError::OauthClientRefused("x"),
        AuthError::IdentityAlreadyExists("x"),
        AuthError::IdentityNotFound,
        AuthError::SingleIdentity,
        AuthError::EmailConflict,
        AuthError::UnexpectedAudience,
    ]
}

/// The variants that are enums by subject.
fn subject_errors() -> Vec<AuthError> {
    vec![
        FeatureError::OauthServerDisabled.into(),
        FeatureError::DynamicRegistrationDisabled.into(),
        FeatureError::ManualLinkingDisabled.into(),
        FeatureError::SamlDisabled.into(),
        FeatureError::ScimDisabled.into(),
        FeatureError::Web3Disabled.into(),
        FeatureError::SolanaDisabled.into(),
        FeatureError::EthereumDisabled.into(),
        FeatureError::UnsupportedChain.into(),
        OauthServerError::ClientNotFound.into(),
        OauthServerError::MalformedClientId.into(),
        OauthServerError::UnknownClientId.into(),
        OauthServerError::AuthorizationNotFound.into(),
        OauthServerError::ConsentNotFound.into(),
        FederationError::SsoProviderNotFound.into(),
        FederationError::MetadataFetchFailed {
            status: 404,
            url: String::new(),
        }
        .into(),
        FederationError::MetadataUnreachable { url: String::new() }.into(),
        FederationError::EntityIdMismatch {
            expected: String::new(),
            got: String::new(),
        }
        .into(),
        FederationError::EntityIdExists(String::new()).into(),
        FederationError::DomainExists {
            domain: String::new(),
            provider: Uuid::nil(),
        }
        .into(),
        FederationError::DomainOfOther {
            domain: String::new(),
            provider: Uuid::nil(),
        }
        .into(),
        FederationError::SsoProviderConflict.into(),
        FederationError::CustomProviderNotFound.into(),
        FederationError::CustomProviderExists.into(),
        MfaError::TotpEnrollDisabled.into(),
        MfaError::PhoneEnrollDisabled.into(),
        MfaError::WebauthnEnrollDisabled.into(),
        MfaError::TotpVerifyDisabled.into(),
        MfaError::PhoneVerifyDisabled.into(),
        MfaError::WebauthnVerifyDisabled.into(),
        MfaError::FactorNotFound.into(),
        MfaError::ChallengeNotFound.into(),
        MfaError::ChallengeIpMismatch.into(),
        MfaError::ChallengeExpired(Uuid::nil()).into(),
        MfaError::WrongTotpCode.into(),
        MfaError::WrongPhoneCode.into(),
        MfaError::WrongCredential.into(),
        MfaError::WrongRecoveryCode.into(),
        MfaError::RecoveryCodesEnrollDisabled.into(),
        MfaError::RecoveryCodesVerifyDisabled.into(),
        MfaError::RecoveryCodesNotFound.into(),
        MfaError::RecoveryCodesExist.into(),
        MfaError::RecoveryCodesNeedAal2("delete").into(),
        MfaError::RecoveryCodesNeedFactor.into(),
        MfaError::RecoveryCodesWouldBeSole.into(),
        MfaError::RecoveryCodesNotUnenrolled.into(),
        MfaError::RecoveryCodesLocked.into(),
        MfaError::NameConflict("phone".to_owned()).into(),
        MfaError::VerifiedPhoneFactorExists.into(),
        MfaError::PhoneFactorExists.into(),
        MfaError::TooManyFactors.into(),
        MfaError::EnrollNeedsAal2.into(),
        MfaError::UnenrollNeedsAal2.into(),
        MfaError::RejectedByHook("x".to_owned()).into(),
        PasskeyError::Disabled.into(),
        PasskeyError::NeedsAal2.into(),
        PasskeyError::ChallengeNotFound.into(),
        PasskeyError::ChallengeExpired.into(),
        PasskeyError::MalformedCredential.into(),
        PasskeyError::VerificationFailed.into(),
        PasskeyError::TooMany.into(),
        PasskeyError::CredentialExists.into(),
        SamlError::ProviderNotFound.into(),
        SamlError::NoProviderOfDomain.into(),
        SamlError::ProviderDisabled.into(),
        SamlError::ProviderOfDomainDisabled.into(),
        SamlError::NoRedirectLocation.into(),
        SamlError::RelayStateNotFound.into(),
        SamlError::RelayStateExpired.into(),
        SamlError::UnknownIdentityProvider.into(),
        SamlError::InvalidAssertion.into(),
        SamlError::NoUserId.into(),
        SamlError::NoEmail.into(),
        SamlError::SeveralAccounts(Uuid::nil()).into(),
        SamlError::MappedClaims.into(),
        HookError::Timeout { seconds: 5 }.into(),
        HookError::TimeoutAfterRetry.into(),
        HookError::ResponseTooLarge { limit_bytes: 204_800 }.into(),
        HookError::MissingContentType.into(),
        HookError::NotJson("text/html".to_owned()).into(),
        HookError::Unavailable.into(),
        HookError::MalformedOutput.into(),
        HookError::InvalidPayload.into(),
        HookError::NeedsAuthorization.into(),
        HookError::UnexpectedStatus(418).into(),
        HookError::NoClaims.into(),
        HookError::InvalidClaims.into(),
        HookError::PasswordRejected("x".to_owned()).into(),
        HookError::Refused {
            status: 403,
            message: "x".to_owned(),
        }
        .into(),
        HookError::Refused {
            status: 500,
            message: "x".to_owned(),
        }
        .into(),
    ]
}
