//! The error type of the service, with HTTP status, error code and message of each variant. Source: Auth contract
//! §1.3, §1.4; the test `table_tests` compares the table with the contract.

use std::borrow::Cow;

use deadpool_postgres::PoolError;
use selvedge_postgres::is_outage;
use tokio_postgres::error::{DbError, SqlState};

use super::{
    Fault, FeatureError, FederationError, HookError, MfaError, OauthServerError, PasskeyError, SamlError,
    WeakPassword,
};
use crate::user::SignInRefusal;

/// The message of every 500 that has no better one.
pub(crate) const UNEXPECTED: &str = "Unexpected failure, please check server logs for more information";

/// Every error that the service responds with. The text of `#[error]` is the message on the wire, which applications
/// compare.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuthError {
    // Reading the request.
    /// The body is not JSON, or a member has another type than expected.
    #[error("Could not parse request body as JSON: {0}")]
    BadJson(String),
    /// A bad parameter, 400 `validation_failed`.
    #[error("{0}")]
    Validation(Cow<'static, str>),
    /// Compat: a bad parameter where upstream responds 422 `validation_failed`.
    #[error("{0}")]
    Unprocessable(&'static str),
    /// An id in the path that is malformed or unknown, 404 `validation_failed`.
    #[error("{0}")]
    InvalidPathId(&'static str),
    #[error("Request body too large (max 1048576 bytes)")]
    TooLarge,

    // The role of the caller.
    #[error("This endpoint requires a valid Bearer token")]
    NoAuthorization,
    #[error("{0}")]
    BadJwt(Cow<'static, str>),
    #[error("invalid claim: sub claim must be a UUID")]
    SubjectNotUuid,
    #[error("User from sub claim in JWT does not exist")]
    TokenUserNotFound,
    #[error("Session from session_id claim in JWT does not exist")]
    TokenSessionNotFound,
    /// The session of the token has exceeded a limit of the project: its lifetime, its inactivity, or the time
    /// without a second factor.
    #[error("Session is no longer valid")]
    TokenSessionExpired,
    #[error("User is banned")]
    UserBanned,
    #[error("User not allowed")]
    NotAdmin,
    #[error("Updating app_metadata requires admin privileges")]
    AppMetadataNeedsAdmin,
    #[error("Anonymous user not allowed to perform these actions")]
    AnonymousNotAllowed,
    /// The token of a client of the OAuth server, at an endpoint that is for the user alone.
    #[error("Clients of the OAuth server are not allowed to perform these actions")]
    ClientNotAllowed,
    #[error("captcha protection: request disallowed ({0})")]
    CaptchaFailed(String),
    /// The captcha service cannot be reached, 500: the request is refused, because otherwise an outage would switch
    /// the protection off.
    #[error("captcha verification process failed")]
    CaptchaUnavailable,

    // Sign-up and sign-in.
    #[error("Invalid login credentials")]
    InvalidCredentials,
    #[error("unsupported_grant_type")]
    UnsupportedGrantType,
    #[error("Email not confirmed")]
    EmailNotConfirmed { status: u16 },
    #[error("Phone not confirmed")]
    PhoneNotConfirmed { status: u16 },
    /// A code for reauthentication is sent to confirmed addresses only.
    #[error("Please verify your email first.")]
    ReauthenticationEmailNotConfirmed,
    #[error("Please verify your phone first.")]
    ReauthenticationPhoneNotConfirmed,
    /// Compat: sign-ins of banned users fail with 400, their other requests with 403.
    #[error("User is banned")]
    BannedAtSignIn,
    #[error("User already registered")]
    UserAlreadyExists,
    #[error("A user with this email address has already been registered")]
    EmailExists,
    /// Not an error of the original: it tells administrators what they have to decide.
    #[error(
        "An account in use claims this email address without having proven it. Confirm it there only if it belongs to the same person; otherwise change it there first"
    )]
    EmailClaimed,
    #[error("A user with this phone number has already been registered")]
    PhoneExists,
    /// Not an error of the original: it tells administrators what they have to decide.
    #[error(
        "An account in use claims this phone number without having proven it. Confirm it there only if it belongs to the same person; otherwise change it there first"
    )]
    PhoneClaimed,
    /// Compat: another text than `PhoneExists`, where an administrator creates a user with a taken number.
    #[error("Phone number already registered by another user")]
    PhoneExistsOnCreate,
    #[error("{}", .0.message)]
    WeakPassword(WeakPassword),
    #[error("New password should be different from the old password.")]
    SamePassword,
    #[error("Signups not allowed for this instance")]
    SignupDisabled,
    #[error("Anonymous sign-ins are disabled")]
    AnonymousDisabled,
    #[error("{text}")]
    EmailProviderDisabled { status: u16, text: &'static str },
    #[error("{text}")]
    PhoneProviderDisabled { status: u16, text: &'static str },
    #[error("{0}")]
    ProviderDisabled(&'static str),
    #[error("Signups not allowed for otp")]
    OtpDisabled,
    #[error("{0}")]
    OtpExpired(&'static str),

    // Rate limits, and messages that do not leave.
    #[error("For security purposes, you can only request this after {seconds} seconds.")]
    TooSoon { seconds: i64 },
    #[error("For security purposes, you can only request this after {seconds} seconds.")]
    TooSoonSms { seconds: i64 },
    #[error("email rate limit exceeded")]
    EmailRateLimit,
    #[error("SMS rate limit exceeded")]
    SmsRateLimit,
    #[error("Request rate limit reached")]
    RequestRateLimit,
    #[error("Email address {0:?} cannot be used as it is not authorized")]
    EmailAddressNotAuthorized(String),
    #[error("Error sending {purpose} OTP to provider: {cause}")]
    SmsSendFailed { purpose: &'static str, cause: String },
    /// The text message with the code of a second factor could not be sent; the cause is logged only.
    #[error("error sending message")]
    FactorSmsSendFailed,
    #[error("Unable to get SMS provider")]
    NoSmsProvider,

    // Refreshing sessions.
    #[error("Refresh token is not valid")]
    MalformedRefreshToken,
    #[error("Invalid Refresh Token: Refresh Token Not Found")]
    RefreshTokenNotFound,
    #[error("Invalid Refresh Token: Already Used")]
    RefreshTokenAlreadyUsed,
    #[error("Invalid Refresh Token: User Banned")]
    RefreshUserBanned,
    #[error("Invalid Refresh Token: No Valid Session Found")]
    RefreshSessionNotFound,
    #[error("Invalid Refresh Token: Session Expired{suffix}")]
    SessionExpired { suffix: &'static str },
    #[error("Too many concurrent token refresh requests on the same session or refresh token")]
    RefreshConflict,

    // PKCE.
    #[error("invalid flow state, no valid flow state found")]
    FlowStateNotFound { status: u16 },
    #[error("invalid flow state, flow state has expired")]
    FlowStateExpired,
    #[error("code challenge does not match previously saved code verifier")]
    BadCodeVerifier,

    // Changing a user.
    #[error("Password update requires reauthentication")]
    ReauthenticationNeeded,
    #[error("Nonce has expired or is invalid")]
    ReauthenticationNotValid,
    #[error("Current password required when setting new password.")]
    CurrentPasswordRequired,
    #[error("Current password required when setting new password.")]
    CurrentPasswordInvalid,
    #[error("AAL2 session is required to update email or password when MFA is enabled.")]
    InsufficientAal,
    #[error("Updating email, phone, password of a SSO account only possible via SSO")]
    SsoManaged,

    // Sign-in by a provider, and identities.
    /// An OAuth error body (RFC 6749 §5.2), always 400; it has no error code of this service.
    #[error("{description}")]
    Oauth {
        error: Cow<'static, str>,
        description: String,
    },
    #[error("{0}")]
    BadOauthCallback(&'static str),
    #[error("{0}")]
    BadOauthState(&'static str),
    #[error("State has already been used")]
    FlowStateAlreadyUsed,
    /// What `GET /authorize` stored for the provider, such as its PKCE verifier, is missing.
    #[error("OAuth state not found")]
    OauthClientStateNotFound,
    /// What `GET /authorize` stored for the provider is older than five minutes.
    #[error("OAuth state expired")]
    OauthClientStateExpired,
    #[error("{0}")]
    OauthInvalidState(&'static str),
    #[error("Unsupported provider: Provider {0} could not be found")]
    OauthProviderNotSupported(String),
    #[error("{0}")]
    ProviderEmailNeedsVerification(String),
    #[error("{0}")]
    LinkedEmailNotConfirmed(String),
    #[error("Linking target user not found")]
    LinkTargetNotFound,
    #[error("A user with this email address has already been registered")]
    EmailExistsOnLink,
    #[error("Invite not found")]
    InviteNotFound,
    #[error("{0}")]
    OauthClientRefused(&'static str),
    #[error("{0}")]
    IdentityAlreadyExists(&'static str),
    #[error("Identity doesn't exist")]
    IdentityNotFound,
    #[error("User must have at least 1 identity after unlinking")]
    SingleIdentity,
    #[error("Unable to unlink identity due to email conflict")]
    EmailConflict,
    #[error("Token audience doesn't match request audience")]
    UnexpectedAudience,

    // Administration.
    #[error("{0}")]
    UserNotFound(&'static str),

    // Errors of parts of the service with their own enum.
    #[error(transparent)]
    Feature(#[from] FeatureError),
    #[error(transparent)]
    Federation(#[from] FederationError),
    #[error(transparent)]
    Hook(#[from] HookError),
    #[error(transparent)]
    Mfa(#[from] MfaError),
    #[error(transparent)]
    OauthServer(#[from] OauthServerError),
    #[error(transparent)]
    Passkey(#[from] PasskeyError),
    #[error(transparent)]
    Saml(#[from] SamlError),

    // Faults of the service. Their `Display` texts are for the log; `message` gives the text for the client.
    #[error("{text}: {fault}")]
    Internal { text: &'static str, fault: Fault },
    /// No database connection or mail slot became free in time, or other requests held the rows: 504, which clients repeat by
    /// themselves.
    #[error("no connection became free in time")]
    Overloaded,
    /// Memory is short, and the body was not read to its end: 503.
    #[error("The server is short of memory, please retry after a moment.")]
    OutOfMemory,
    /// The database is not there, starting up or recovering: 503.
    #[error("the database is not available: {0}")]
    DatabaseUnavailable(Fault),
}

impl AuthError {
    /// A 500 with the message `text`, which clients compare; the fault is logged.
    pub(crate) fn internal(text: &'static str, fault: impl Into<Fault>) -> Self {
        Self::Internal {
            text,
            fault: fault.into(),
        }
    }

    /// Maps an error of the database. Values that PostgreSQL cannot store, such as NUL characters, are the client's
    /// fault and become 400 `validation_failed`; all others become a 500 with the message `text`.
    pub(crate) fn database(text: &'static str, error: tokio_postgres::Error) -> Self {
        match error.code().map(SqlState::code) {
            _ if is_outage(&error) => Self::DatabaseUnavailable(error.into()),
            // 40P01: PostgreSQL has ended one of two requests that waited for each other; repeated, it succeeds.
            Some("40P01") => Self::Overloaded,
            // 22021: an invalid byte sequence, such as NUL in a text; 22P05: NUL in JSON.
            Some("22021" | "22P05") => Self::invalid("The request holds characters that cannot be stored"),
            // Only a value too long for a column of `auth` is the client's fault. PostgreSQL reports a context when
            // the error was raised inside a function, which then is a trigger of the project.
            Some("22001") if error.as_db_error().is_some_and(|db| db.where_().is_none()) => {
                Self::invalid("A value is too long")
            }
            _ => Self::internal(text, error),
        }
    }

    /// An OAuth error body (RFC 6749 §5.2).
    pub(crate) fn oauth(error: impl Into<Cow<'static, str>>, description: impl Into<String>) -> Self {
        Self::Oauth {
            error: error.into(),
            description: description.into(),
        }
    }

    /// Returns a 400 `validation_failed` with this text.
    pub(crate) fn invalid(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Validation(text.into())
    }

    /// The error that PostgreSQL itself raised, if that is the cause.
    pub(crate) fn db_error(&self) -> Option<&DbError> {
        match self {
            Self::Internal {
                fault: Fault::Postgres(error),
                ..
            } => error.as_db_error(),
            _ => None,
        }
    }

    /// Whether the cause is a unique violation: another request has registered the same e-mail address first.
    pub(crate) fn is_duplicate_email(&self) -> bool {
        self.db_error()
            .is_some_and(|db| db.constraint() == Some("users_email_partial_key"))
    }

    /// Whether the cause is a unique violation: another request has registered the same phone number first.
    pub(crate) fn is_duplicate_phone(&self) -> bool {
        self.db_error()
            .is_some_and(|db| db.constraint() == Some("users_phone_key"))
    }

    /// The message on the wire. Causes of faults are left out, because they may hold internal names or data of other
    /// users.
    pub(crate) fn message(&self) -> Cow<'static, str> {
        match self {
            Self::Internal { text, .. } => Cow::Borrowed(text),
            Self::Overloaded => {
                Cow::Borrowed("Processing this request timed out, please retry after a moment.")
            }
            Self::DatabaseUnavailable(_) => {
                Cow::Borrowed("The database is not available, please retry after a moment.")
            }
            error => Cow::Owned(error.to_string()),
        }
    }

    /// HTTP status and error code of each variant.
    pub(crate) fn status_and_code(&self) -> (u16, &'static str) {
        match self {
            Self::BadJson(_) => (400, "bad_json"),
            Self::Validation(_) => (400, "validation_failed"),
            Self::Unprocessable(_) => (422, "validation_failed"),
            Self::InvalidPathId(_) => (404, "validation_failed"),
            Self::TooLarge => (413, "request_entity_too_large"),

            Self::NoAuthorization => (401, "no_authorization"),
            Self::AnonymousNotAllowed | Self::ClientNotAllowed => (403, "no_authorization"),
            Self::BadJwt(_) => (403, "bad_jwt"),
            Self::SubjectNotUuid => (400, "bad_jwt"),
            Self::TokenUserNotFound => (403, "user_not_found"),
            Self::TokenSessionNotFound => (403, "session_not_found"),
            Self::TokenSessionExpired => (403, "session_expired"),
            Self::UserBanned => (403, "user_banned"),
            Self::NotAdmin | Self::AppMetadataNeedsAdmin => (403, "not_admin"),
            Self::CaptchaFailed(_) => (400, "captcha_failed"),
            Self::CaptchaUnavailable => (500, "unexpected_failure"),

            Self::InvalidCredentials | Self::UnsupportedGrantType => (400, "invalid_credentials"),
            Self::EmailNotConfirmed { status } => (*status, "email_not_confirmed"),
            Self::PhoneNotConfirmed { status } => (*status, "phone_not_confirmed"),
            Self::ReauthenticationEmailNotConfirmed => (422, "email_not_confirmed"),
            Self::ReauthenticationPhoneNotConfirmed => (422, "phone_not_confirmed"),
            Self::BannedAtSignIn => (400, "user_banned"),
            Self::UserAlreadyExists => (422, "user_already_exists"),
            Self::EmailExists | Self::EmailClaimed => (422, "email_exists"),
            Self::PhoneExists | Self::PhoneClaimed | Self::PhoneExistsOnCreate => (422, "phone_exists"),
            Self::WeakPassword(_) => (422, "weak_password"),
            Self::SamePassword => (422, "same_password"),
            Self::SignupDisabled => (422, "signup_disabled"),
            Self::AnonymousDisabled => (422, "anonymous_provider_disabled"),
            Self::EmailProviderDisabled { status, .. } => (*status, "email_provider_disabled"),
            Self::PhoneProviderDisabled { status, .. } => (*status, "phone_provider_disabled"),
            Self::ProviderDisabled(_) => (400, "provider_disabled"),
            Self::OtpDisabled => (422, "otp_disabled"),
            Self::OtpExpired(_) => (403, "otp_expired"),

            Self::TooSoon { .. } | Self::EmailRateLimit => (429, "over_email_send_rate_limit"),
            Self::TooSoonSms { .. } | Self::SmsRateLimit => (429, "over_sms_send_rate_limit"),
            Self::RequestRateLimit => (429, "over_request_rate_limit"),
            Self::EmailAddressNotAuthorized(_) => (400, "email_address_not_authorized"),
            Self::SmsSendFailed { .. } => (422, "sms_send_failed"),
            Self::FactorSmsSendFailed | Self::NoSmsProvider => (500, "unexpected_failure"),

            Self::MalformedRefreshToken => (400, "validation_failed"),
            Self::RefreshTokenNotFound => (400, "refresh_token_not_found"),
            Self::RefreshTokenAlreadyUsed => (400, "refresh_token_already_used"),
            Self::RefreshUserBanned => (400, "user_banned"),
            Self::RefreshSessionNotFound => (400, "session_not_found"),
            Self::SessionExpired { .. } => (400, "session_expired"),
            Self::RefreshConflict => (409, "conflict"),

            Self::FlowStateNotFound { status } => (*status, "flow_state_not_found"),
            Self::FlowStateExpired => (422, "flow_state_expired"),
            Self::BadCodeVerifier => (400, "bad_code_verifier"),

            Self::ReauthenticationNeeded => (400, "reauthentication_needed"),
            Self::ReauthenticationNotValid => (422, "reauthentication_not_valid"),
            Self::CurrentPasswordRequired => (400, "current_password_required"),
            Self::CurrentPasswordInvalid => (400, "current_password_invalid"),
            Self::InsufficientAal => (401, "insufficient_aal"),
            Self::SsoManaged => (422, "user_sso_managed"),

            Self::Oauth { .. } => (400, ""),
            Self::BadOauthCallback(_) => (400, "bad_oauth_callback"),
            Self::BadOauthState(_) => (400, "bad_oauth_state"),
            Self::FlowStateAlreadyUsed => (400, "flow_state_already_used"),
            Self::OauthClientStateNotFound => (422, "oauth_client_state_not_found"),
            Self::OauthClientStateExpired => (422, "oauth_client_state_expired"),
            Self::OauthInvalidState(_) => (400, "oauth_invalid_state"),
            Self::OauthProviderNotSupported(_) => (400, "oauth_provider_not_supported"),
            Self::ProviderEmailNeedsVerification(_) => (422, "provider_email_needs_verification"),
            Self::LinkedEmailNotConfirmed(_) => (422, "email_not_confirmed"),
            Self::LinkTargetNotFound => (422, "user_not_found"),
            Self::EmailExistsOnLink => (400, "email_exists"),
            Self::InviteNotFound => (404, "invite_not_found"),
            Self::OauthClientRefused(_) => (400, "invalid_credentials"),
            Self::IdentityAlreadyExists(_) => (422, "identity_already_exists"),
            Self::IdentityNotFound => (422, "identity_not_found"),
            Self::SingleIdentity => (422, "single_identity_not_deletable"),
            Self::EmailConflict => (422, "email_conflict_identity_not_deletable"),
            Self::UnexpectedAudience => (403, "unexpected_audience"),

            Self::UserNotFound(_) => (404, "user_not_found"),

            Self::Feature(error) => error.status_and_code(),
            Self::Federation(error) => error.status_and_code(),
            Self::Hook(error) => error.status_and_code(),
            Self::Mfa(error) => error.status_and_code(),
            Self::OauthServer(error) => error.status_and_code(),
            Self::Passkey(error) => error.status_and_code(),
            Self::Saml(error) => error.status_and_code(),

            Self::Internal { .. } => (500, "unexpected_failure"),
            Self::Overloaded => (504, "request_timeout"),
            Self::OutOfMemory | Self::DatabaseUnavailable(_) => (503, "unexpected_failure"),
        }
    }
}

impl From<tokio_postgres::Error> for AuthError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::database(UNEXPECTED, error)
    }
}

impl From<PoolError> for AuthError {
    fn from(error: PoolError) -> Self {
        match error {
            // A full pool is a matter of load, which passes; other pool errors are faults.
            PoolError::Timeout(_) => Self::Overloaded,
            PoolError::Backend(error) => error.into(),
            other => Self::internal(UNEXPECTED, other),
        }
    }
}

impl From<WeakPassword> for AuthError {
    fn from(weak: WeakPassword) -> Self {
        Self::WeakPassword(weak)
    }
}

/// For whoever is signed in, or is about to be; a refresh has codes of its own.
impl From<SignInRefusal> for AuthError {
    fn from(refusal: SignInRefusal) -> Self {
        match refusal {
            SignInRefusal::Deleted => Self::TokenUserNotFound,
            SignInRefusal::Banned => Self::UserBanned,
            SignInRefusal::Unconfirmed => Self::EmailNotConfirmed { status: 403 },
        }
    }
}
