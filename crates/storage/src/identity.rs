//! The identity under which statements run: the caller of a request, the user of a token, or the service itself.

use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::dev::RequestHead;
use actix_web::http::header;
use selvedge_gateway::{Bearer, Caller, Credentials};
use selvedge_token::{Claims, KeyRing, TokenError, unix_now};
use uuid::Uuid;

use crate::error::StorageError;

/// The role that bypasses all policies.
const SERVICE_ROLE: &str = "service_role";
/// The role of callers without a token, and of tokens without a role.
const ANONYMOUS_ROLE: &str = "anon";

/// A verified caller, or the service itself.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    claims: Arc<Claims>,
    /// The token as it was sent; policies may read it as `request.jwt`.
    token: String,
}

impl Identity {
    /// The service itself, which bypasses all policies: for lookups and commits that the contract makes without the
    /// caller's rights, such as the row of an upload whose permission was checked before.
    pub(crate) fn service() -> Self {
        Self {
            claims: Arc::new(Claims::for_role(SERVICE_ROLE)),
            token: String::new(),
        }
    }

    /// The caller of a route that needs one.
    ///
    /// # Errors
    /// `Schema` without any authorization, `AccessDenied` with the reason why the token is invalid.
    pub(crate) fn required(request: &HttpRequest, keys: &KeyRing) -> Result<Self, StorageError> {
        Self::from_credentials(Caller::extract(request).credentials(), request.head(), keys)
    }

    /// As [`Self::required`], for a request that has not passed the gateway yet.
    ///
    /// # Errors
    /// As [`Self::required`].
    pub(crate) fn from_credentials(
        credentials: &Credentials,
        head: &RequestHead,
        keys: &KeyRing,
    ) -> Result<Self, StorageError> {
        let denied = |error: &TokenError| StorageError::AccessDenied(describe_token_error(error).to_owned());
        match &credentials.bearer {
            Bearer::Valid(claims) => {
                check_time(claims).map_err(|error| denied(&error))?;
                Ok(Self {
                    claims: Arc::clone(claims),
                    token: raw_token(head),
                })
            }
            Bearer::Invalid(error) => Err(denied(error)),
            // Compat: an Authorization header that holds only a token, without `Bearer`, is accepted as well. The
            // gateway does not read such a header, so the token is verified here.
            Bearer::None if let Some(token) = bare_token(head) => Self::of_token(keys, token),
            // A publishable API key without a token means the anonymous role.
            Bearer::None if credentials.api_key.is_some() => Ok(Self::anonymous()),
            Bearer::None if head.headers.contains_key(header::AUTHORIZATION) => {
                Err(denied(&TokenError::Empty))
            }
            Bearer::None => Err(StorageError::Schema(
                "headers must have required property 'authorization'".to_owned(),
            )),
        }
    }

    /// The caller of a route that also serves unauthenticated requests: `None` for a missing or invalid token.
    pub(crate) fn optional(request: &HttpRequest, keys: &KeyRing) -> Option<Self> {
        Self::required(request, keys).ok()
    }

    /// The user of a token that came by another way than the Authorization header.
    ///
    /// # Errors
    /// `AccessDenied` with the reason why the token is invalid.
    pub(crate) fn of_token(keys: &KeyRing, token: &str) -> Result<Self, StorageError> {
        let claims = keys.verify_bearer(token).and_then(|claims| {
            check_time(&claims)?;
            Ok(claims)
        });
        let denied = |error: TokenError| StorageError::AccessDenied(describe_token_error(&error).to_owned());
        Ok(Self {
            claims: claims.map_err(denied)?,
            token: token.to_owned(),
        })
    }

    fn anonymous() -> Self {
        Self {
            claims: Arc::new(Claims::for_role(ANONYMOUS_ROLE)),
            token: String::new(),
        }
    }

    /// The database role to assume.
    pub(crate) fn role(&self) -> &str {
        self.claims.role().unwrap_or(ANONYMOUS_ROLE)
    }

    /// All claims as JSON.
    pub(crate) fn claims_json(&self) -> &str {
        self.claims.json()
    }

    /// The token as it was sent.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The `sub` claim, which becomes `owner_id`.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.claims.subject().filter(|subject| !subject.is_empty())
    }

    /// Whether this is a user who signed in anonymously.
    pub(crate) fn is_anonymous_user(&self) -> bool {
        self.claims
            .get("is_anonymous")
            .and_then(serde_json::Value::as_bool)
            == Some(true)
    }

    /// Whether this is the service role.
    pub(crate) fn is_service(&self) -> bool {
        self.role() == SERVICE_ROLE
    }

    /// Lets only the service role pass.
    ///
    /// # Errors
    /// `InvalidRole`.
    pub(crate) fn require_service(&self) -> Result<(), StorageError> {
        if self.is_service() {
            Ok(())
        } else {
            Err(StorageError::InvalidRole)
        }
    }
}

/// The owner of a new object. Column `owner_id` takes any subject, the deprecated column `owner` only UUIDs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Owner {
    /// Value of column `owner_id`; `None` for callers without a subject.
    pub(crate) id: Option<String>,
}

impl Owner {
    /// The owner of what this identity uploads.
    pub(crate) fn from_identity(identity: &Identity) -> Self {
        Self {
            id: identity.subject().map(str::to_owned),
        }
    }

    /// Value of column `owner`.
    pub(crate) fn uuid(&self) -> Option<String> {
        let id = self.id.as_deref()?;
        Uuid::try_parse(id).ok().map(|uuid| uuid.to_string())
    }
}

/// Checks `exp` and `nbf`. Compat: like the original, tokens with an `iat` in the future are accepted.
pub(crate) fn check_time(claims: &Claims) -> Result<(), TokenError> {
    match claims.check_time(unix_now(), 0) {
        Err(TokenError::IssuedInFuture | TokenError::ClaimNotANumber("iat")) => Ok(()),
        other => other,
    }
}

/// The token of an Authorization header that has no scheme: three parts, no space.
fn bare_token(head: &RequestHead) -> Option<&str> {
    let header = head.headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    (header.split('.').count() == 3 && !header.contains(' ')).then_some(header)
}

/// The token of the Authorization header, with or without its scheme; empty when there is none.
fn raw_token(head: &RequestHead) -> String {
    let header = head
        .headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    // The scheme is case-insensitive (RFC 9110 §11.1). A header without one is a bare token, see `bare_token`.
    match header.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim().to_owned(),
        _ => header.to_owned(),
    }
}

/// The error for a request without any authorization, where the original sees an empty token in its place.
pub(crate) fn missing_header_as_empty_token(error: StorageError) -> StorageError {
    match error {
        StorageError::Schema(_) => {
            StorageError::AccessDenied(describe_token_error(&TokenError::Empty).to_owned())
        }
        other => other,
    }
}

/// The message for an invalid token. Compat: the wording of the original's JOSE library, which apps show to their
/// users.
pub(crate) fn describe_token_error(error: &TokenError) -> &'static str {
    match error {
        TokenError::Empty | TokenError::Parts(_) => "Invalid Compact JWS",
        TokenError::Undecodable => "JWS Protected Header is invalid",
        TokenError::Unsigned | TokenError::UnsupportedAlgorithm(_) | TokenError::NoKeyOfAlgorithm(_) => {
            "\"alg\" (Algorithm) Header Parameter value not allowed"
        }
        TokenError::NoSuitableKey | TokenError::BadSignature | TokenError::Signing => {
            "signature verification failed"
        }
        TokenError::Expired => "\"exp\" claim timestamp check failed",
        TokenError::NotYetValid => "\"nbf\" claim timestamp check failed",
        TokenError::IssuedInFuture => "\"iat\" claim timestamp check failed",
        TokenError::WrongAudience | TokenError::AudienceNotStrings => "unexpected \"aud\" claim value",
        TokenError::ClaimNotANumber("exp") => "\"exp\" claim must be a number",
        TokenError::ClaimNotANumber(_) => "\"nbf\" claim must be a number",
        TokenError::ClaimsNotAnObject => "JWT Claims Set must be a top-level JSON object",
    }
}
