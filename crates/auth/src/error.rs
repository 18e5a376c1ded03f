//! Everything that `/auth/v1` can answer instead of a success: one enum, one table.
//!
//! Two wire shapes exist, chosen by the request's `X-Supabase-Api-Version`. Handlers and extractors return [`AuthError`]; the
//! service's one middleware (`routes.rs`) renders it, because only it knows which shape the request asked for.
//!
//! Source: Auth contract §1.3, §1.4.

use std::borrow::Cow;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use deadpool_postgres::PoolError;
use selvedge_mail::MailError;
use selvedge_token::TokenError;
use tokio_postgres::error::DbError;

use crate::providers::ProviderError;

mod wire;

pub(crate) use wire::{ApiVersion, render};

/// Why a password is too weak, in the words of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WeakReason {
    Length,
    Characters,
    Pwned,
}

impl WeakReason {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Characters => "characters",
            Self::Pwned => "pwned",
        }
    }
}

/// A password that does not meet the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WeakPassword {
    pub(crate) message: String,
    pub(crate) reasons: Vec<WeakReason>,
}

/// What broke on our side.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{}", describe(.0))]
    Postgres(#[from] tokio_postgres::Error),
    #[error("no database connection: {0}")]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Mail(#[from] MailError),
    #[error(transparent)]
    Hash(#[from] bcrypt::BcryptError),
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error("{0}")]
    Other(&'static str),
}

/// The server's message, which the driver's own text leaves out.
fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => format!("{}: {}", db.code().code(), db.message()),
        None => error.to_string(),
    }
}

/// Everything Auth can answer instead of a success.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuthError {
    // The request.
    #[error("bad JSON")]
    BadJson(String),
    #[error("{0}")]
    Validation(Cow<'static, str>),
    #[error("{0}")]
    Unprocessable(&'static str),
    #[error("{0}")]
    InvalidPathId(&'static str),
    #[error("body too large")]
    TooLarge,
    // The caller.
    #[error("no bearer")]
    NoAuthorization,
    #[error("bad token: {0}")]
    BadJwt(Cow<'static, str>),
    #[error("subject is not a UUID")]
    SubjectNotUuid,
    #[error("user of the token is gone")]
    TokenUserNotFound,
    #[error("session of the token is gone")]
    TokenSessionNotFound,
    #[error("user is banned")]
    UserBanned,
    #[error("not an admin")]
    NotAdmin,
    // Signing up and in.
    #[error("wrong credentials")]
    InvalidCredentials,
    #[error("unknown grant type")]
    UnsupportedGrantType,
    #[error("address unconfirmed")]
    EmailNotConfirmed { status: u16 },
    #[error("phone unconfirmed")]
    PhoneNotConfirmed { status: u16 },
    #[error("user is banned at sign-in")]
    BannedAtSignIn,
    #[error("already registered")]
    UserAlreadyExists,
    #[error("address is taken")]
    EmailExists,
    #[error("phone is taken")]
    PhoneExists,
    #[error("weak password")]
    WeakPassword(WeakPassword),
    #[error("same password")]
    SamePassword,
    #[error("sign-ups are off")]
    SignupDisabled,
    #[error("anonymous sign-ins are off")]
    AnonymousDisabled,
    #[error("{text}")]
    EmailProviderDisabled { status: u16, text: &'static str },
    #[error("{text}")]
    PhoneProviderDisabled { status: u16, text: &'static str },
    #[error("provider is off")]
    ProviderDisabled(&'static str),
    #[error("unknown user and create_user is false")]
    OtpDisabled,
    #[error("{0}")]
    OtpExpired(&'static str),
    // Limits.
    #[error("mail asked for too soon")]
    TooSoon { seconds: i64 },
    #[error("text message asked for too soon")]
    TooSoonSms { seconds: i64 },
    #[error("instance's mail limit")]
    EmailRateLimit,
    #[error("instance's text message limit")]
    SmsRateLimit,
    #[error("too many requests")]
    RequestRateLimit,
    #[error("recipient not authorized")]
    EmailAddressNotAuthorized(String),
    // Sessions.
    #[error("malformed refresh token")]
    MalformedRefreshToken,
    #[error("unknown refresh token")]
    RefreshTokenNotFound,
    #[error("used refresh token")]
    RefreshTokenAlreadyUsed,
    #[error("banned at refresh")]
    RefreshUserBanned,
    #[error("session is gone at refresh")]
    RefreshSessionNotFound,
    #[error("session expired")]
    SessionExpired { suffix: &'static str },
    #[error("refresh lock")]
    RefreshConflict,
    // PKCE.
    #[error("no flow state")]
    FlowStateNotFound { status: u16 },
    #[error("flow state expired")]
    FlowStateExpired,
    #[error("wrong verifier")]
    BadCodeVerifier,
    // Changing a user.
    #[error("reauthentication needed")]
    ReauthenticationNeeded,
    #[error("wrong nonce")]
    ReauthenticationNotValid,
    #[error("current password missing")]
    CurrentPasswordRequired,
    #[error("current password wrong")]
    CurrentPasswordInvalid,
    #[error("AAL2 needed")]
    InsufficientAal,
    #[error("user is managed by SSO")]
    SsoManaged,
    // Providers and identities.
    #[error("{error}: {description}")]
    Oauth {
        error: Cow<'static, str>,
        description: String,
    },
    #[error("callback: {0}")]
    BadOauthCallback(&'static str),
    #[error("state: {0}")]
    BadOauthState(&'static str),
    #[error("state used twice")]
    FlowStateAlreadyUsed,
    #[error("our verifier for the provider is gone")]
    OauthClientStateNotFound,
    #[error("our verifier for the provider is too old")]
    OauthClientStateExpired,
    #[error("verifier: {0}")]
    OauthInvalidState(&'static str),
    #[error("provider {0} is not supported")]
    OauthProviderNotSupported(String),
    #[error("{0}")]
    ProviderEmailNeedsVerification(String),
    #[error("{0}")]
    LinkedEmailNotConfirmed(String),
    #[error("who asked for the link is gone")]
    LinkTargetNotFound,
    #[error("address of the linked identity is taken")]
    EmailExistsOnLink,
    #[error("invite is gone")]
    InviteNotFound,
    #[error("{0}")]
    OauthClientRefused(&'static str),
    #[error("{0}")]
    IdentityAlreadyExists(&'static str),
    #[error("identity is not theirs")]
    IdentityNotFound,
    #[error("last identity")]
    SingleIdentity,
    #[error("address would collide")]
    EmailConflict,
    #[error("token's audience is another one")]
    UnexpectedAudience,
    // Administration.
    #[error("{0}")]
    UserNotFound(&'static str),
    // What this server does not offer.
    #[error("{text}")]
    FeatureOff {
        status: u16,
        code: &'static str,
        text: &'static str,
    },
    // Second factors, hooks and other parts with words of their own.
    #[error("{text}")]
    Coded {
        status: u16,
        code: &'static str,
        text: Cow<'static, str>,
    },
    // Our faults.
    #[error("{text}: {fault}")]
    Internal { text: &'static str, fault: Fault },
    #[error("no connection became free in time")]
    Overloaded,
}

impl AuthError {
    /// A fault with the text that clients compare.
    pub(crate) fn internal(text: &'static str, fault: impl Into<Fault>) -> Self {
        Self::Internal {
            text,
            fault: fault.into(),
        }
    }

    /// An error of the database with the text that clients compare; texts that it cannot store are the caller's fault.
    pub(crate) fn database(text: &'static str, error: tokio_postgres::Error) -> Self {
        match error.code().map(tokio_postgres::error::SqlState::code) {
            Some("22021" | "22P05") => Self::invalid("The request holds characters that cannot be stored"),
            // Not what a function of the project finds too long: that is no fault of the caller's.
            Some("22001") if error.as_db_error().is_some_and(|db| db.where_().is_none()) => {
                Self::invalid("A value is too long")
            }
            _ => Self::internal(text, error),
        }
    }

    /// An error in the words of OAuth (RFC 6749, 5.2).
    pub(crate) fn oauth(error: impl Into<Cow<'static, str>>, description: impl Into<String>) -> Self {
        Self::Oauth {
            error: error.into(),
            description: description.into(),
        }
    }

    /// An error of the contract that only one place answers.
    pub(crate) fn coded(status: u16, code: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        Self::Coded {
            status,
            code,
            text: text.into(),
        }
    }

    /// Bad parameters, 400.
    pub(crate) fn invalid(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Validation(text.into())
    }

    /// What PostgreSQL said, if it said something.
    pub(crate) fn db_error(&self) -> Option<&DbError> {
        match self {
            Self::Internal {
                fault: Fault::Postgres(error),
                ..
            } => error.as_db_error(),
            _ => None,
        }
    }

    /// Whether the database refused a second user with the same address: a race that we lost.
    pub(crate) fn is_duplicate_email(&self) -> bool {
        self.db_error()
            .is_some_and(|db| db.constraint() == Some("users_email_partial_key"))
    }

    /// The same for a phone number.
    pub(crate) fn is_duplicate_phone(&self) -> bool {
        self.db_error()
            .is_some_and(|db| db.constraint() == Some("users_phone_key"))
    }
}

/// The text of every fault that has no better one.
pub(crate) const UNEXPECTED: &str = "Unexpected failure, please check server logs for more information";

impl From<tokio_postgres::Error> for AuthError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::database(UNEXPECTED, error)
    }
}

impl From<PoolError> for AuthError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Timeout(_) => Self::Overloaded,
            other => Self::internal(UNEXPECTED, other),
        }
    }
}

impl From<WeakPassword> for AuthError {
    fn from(weak: WeakPassword) -> Self {
        Self::WeakPassword(weak)
    }
}

impl ResponseError for AuthError {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.wire().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The newer shape; the middleware replaces it for clients that know only the older one.
    fn error_response(&self) -> HttpResponse {
        render(self, ApiVersion::V20240101, None)
    }
}
