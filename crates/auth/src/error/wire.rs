//! The table of status, code and message of every error, and the two shapes in which it is written.

use std::borrow::Cow;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use serde_json::{Map, Value, json};
use tokio_postgres::error::DbError;

use super::AuthError;

/// Name of the header by which clients say which shape they understand.
const VERSION_HEADER: &str = "X-Supabase-Api-Version";
const FIRST_VERSION: &str = "2024-01-01";

/// The shape of errors that a client understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiVersion {
    /// `{code: <number>, error_code, msg}`
    Legacy,
    /// `{code, message}`
    V20240101,
}

impl ApiVersion {
    /// Reads the header; anything that is not a date from 2024 on means the older shape.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let date = headers
            .get(VERSION_HEADER)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        match chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d") {
            Ok(_) if date >= FIRST_VERSION => Self::V20240101,
            _ => Self::Legacy,
        }
    }
}

/// One line of the table.
pub(super) struct Wire {
    pub(super) status: u16,
    pub(super) code: &'static str,
    pub(super) message: Cow<'static, str>,
}

impl AuthError {
    /// Status, code and message of each error. Source: Auth contract §1.4.
    #[expect(
        clippy::too_many_lines,
        reason = "one table is easier to check against the contract than five"
    )]
    pub(super) fn wire(&self) -> Wire {
        let line = |status: u16, code: &'static str, message: &'static str| Wire {
            status,
            code,
            message: Cow::Borrowed(message),
        };
        let text = |status: u16, code: &'static str, message: String| Wire {
            status,
            code,
            message: Cow::Owned(message),
        };
        match self {
            Self::BadJson(cause) => text(
                400,
                "bad_json",
                format!("Could not parse request body as JSON: {cause}"),
            ),
            Self::Validation(message) => Wire {
                status: 400,
                code: "validation_failed",
                message: message.clone(),
            },
            Self::Unprocessable(message) => line(422, "validation_failed", message),
            Self::InvalidPathId(message) => line(404, "validation_failed", message),
            Self::TooLarge => line(
                413,
                "request_entity_too_large",
                "Request body too large (max 1048576 bytes)",
            ),

            Self::NoAuthorization => line(
                401,
                "no_authorization",
                "This endpoint requires a valid Bearer token",
            ),
            Self::BadJwt(message) => Wire {
                status: 403,
                code: "bad_jwt",
                message: message.clone(),
            },
            Self::SubjectNotUuid => line(400, "bad_jwt", "invalid claim: sub claim must be a UUID"),
            Self::TokenUserNotFound => {
                line(403, "user_not_found", "User from sub claim in JWT does not exist")
            }
            Self::TokenSessionNotFound => line(
                403,
                "session_not_found",
                "Session from session_id claim in JWT does not exist",
            ),
            Self::UserBanned => line(403, "user_banned", "User is banned"),
            Self::NotAdmin => line(403, "not_admin", "User not allowed"),

            Self::InvalidCredentials => line(400, "invalid_credentials", "Invalid login credentials"),
            Self::UnsupportedGrantType => line(400, "invalid_credentials", "unsupported_grant_type"),
            Self::EmailNotConfirmed { status } => line(*status, "email_not_confirmed", "Email not confirmed"),
            Self::PhoneNotConfirmed { status } => line(*status, "phone_not_confirmed", "Phone not confirmed"),
            Self::BannedAtSignIn => line(400, "user_banned", "User is banned"),
            Self::UserAlreadyExists => line(422, "user_already_exists", "User already registered"),
            Self::EmailExists => line(
                422,
                "email_exists",
                "A user with this email address has already been registered",
            ),
            Self::PhoneExists => line(
                422,
                "phone_exists",
                "A user with this phone number has already been registered",
            ),
            Self::WeakPassword(weak) => text(422, "weak_password", weak.message.clone()),
            Self::SamePassword => line(
                422,
                "same_password",
                "New password should be different from the old password.",
            ),
            Self::SignupDisabled => line(422, "signup_disabled", "Signups not allowed for this instance"),
            Self::AnonymousDisabled => line(
                422,
                "anonymous_provider_disabled",
                "Anonymous sign-ins are disabled",
            ),
            Self::EmailProviderDisabled { status, text } => line(*status, "email_provider_disabled", text),
            Self::PhoneProviderDisabled { status, text } => line(*status, "phone_provider_disabled", text),
            Self::ProviderDisabled(message) => line(400, "provider_disabled", message),
            Self::OtpDisabled => line(422, "otp_disabled", "Signups not allowed for otp"),
            Self::OtpExpired(message) => line(403, "otp_expired", message),

            Self::TooSoon { seconds } => text(
                429,
                "over_email_send_rate_limit",
                format!("For security purposes, you can only request this after {seconds} seconds."),
            ),
            Self::TooSoonSms { seconds } => text(
                429,
                "over_sms_send_rate_limit",
                format!("For security purposes, you can only request this after {seconds} seconds."),
            ),
            Self::SmsRateLimit => line(429, "over_sms_send_rate_limit", "SMS rate limit exceeded"),
            Self::EmailRateLimit => line(429, "over_email_send_rate_limit", "email rate limit exceeded"),
            Self::RequestRateLimit => line(429, "over_request_rate_limit", "Request rate limit reached"),
            Self::EmailAddressNotAuthorized(address) => text(
                400,
                "email_address_not_authorized",
                format!("Email address {address:?} cannot be used as it is not authorized"),
            ),

            Self::MalformedRefreshToken => line(400, "validation_failed", "Refresh token is not valid"),
            Self::RefreshTokenNotFound => line(
                400,
                "refresh_token_not_found",
                "Invalid Refresh Token: Refresh Token Not Found",
            ),
            Self::RefreshTokenAlreadyUsed => line(
                400,
                "refresh_token_already_used",
                "Invalid Refresh Token: Already Used",
            ),
            Self::RefreshUserBanned => line(400, "user_banned", "Invalid Refresh Token: User Banned"),
            Self::RefreshSessionNotFound => line(
                400,
                "session_not_found",
                "Invalid Refresh Token: No Valid Session Found",
            ),
            Self::SessionExpired { suffix } => text(
                400,
                "session_expired",
                format!("Invalid Refresh Token: Session Expired{suffix}"),
            ),
            Self::RefreshConflict => line(
                409,
                "conflict",
                "Too many concurrent token refresh requests on the same session or refresh token",
            ),

            Self::FlowStateNotFound { status } => line(
                *status,
                "flow_state_not_found",
                "invalid flow state, no valid flow state found",
            ),
            Self::FlowStateExpired => line(
                422,
                "flow_state_expired",
                "invalid flow state, flow state has expired",
            ),
            Self::BadCodeVerifier => line(
                400,
                "bad_code_verifier",
                "code challenge does not match previously saved code verifier",
            ),

            Self::ReauthenticationNeeded => line(
                400,
                "reauthentication_needed",
                "Password update requires reauthentication",
            ),
            Self::ReauthenticationNotValid => line(
                422,
                "reauthentication_not_valid",
                "Nonce has expired or is invalid",
            ),
            Self::CurrentPasswordRequired => line(
                400,
                "current_password_required",
                "Current password required when setting new password.",
            ),
            Self::CurrentPasswordInvalid => line(
                400,
                "current_password_invalid",
                "Current password required when setting new password.",
            ),
            Self::InsufficientAal => line(
                401,
                "insufficient_aal",
                "AAL2 session is required to update email or password when MFA is enabled.",
            ),
            Self::SsoManaged => line(
                422,
                "user_sso_managed",
                "Updating email, phone, password of a SSO account only possible via SSO",
            ),

            // Only its redirect form has a status; the body is OAuth's own.
            Self::Oauth { description, .. } => text(400, "", description.clone()),
            Self::BadOauthCallback(message) => line(400, "bad_oauth_callback", message),
            Self::BadOauthState(message) => line(400, "bad_oauth_state", message),
            Self::FlowStateAlreadyUsed => line(400, "flow_state_already_used", "State has already been used"),
            Self::OauthClientStateNotFound => {
                line(422, "oauth_client_state_not_found", "OAuth state not found")
            }
            Self::OauthClientStateExpired => line(422, "oauth_client_state_expired", "OAuth state expired"),
            Self::OauthInvalidState(message) => line(400, "oauth_invalid_state", message),
            Self::OauthProviderNotSupported(name) => text(
                400,
                "oauth_provider_not_supported",
                format!("Unsupported provider: Provider {name} could not be found"),
            ),
            Self::ProviderEmailNeedsVerification(message) => {
                text(422, "provider_email_needs_verification", message.clone())
            }
            Self::LinkedEmailNotConfirmed(message) => text(422, "email_not_confirmed", message.clone()),
            Self::LinkTargetNotFound => line(422, "user_not_found", "Linking target user not found"),
            Self::EmailExistsOnLink => line(
                400,
                "email_exists",
                "A user with this email address has already been registered",
            ),
            Self::InviteNotFound => line(404, "invite_not_found", "Invite not found"),
            Self::OauthClientRefused(message) => line(400, "invalid_credentials", message),
            Self::IdentityAlreadyExists(message) => line(422, "identity_already_exists", message),
            Self::IdentityNotFound => line(422, "identity_not_found", "Identity doesn't exist"),
            Self::SingleIdentity => line(
                422,
                "single_identity_not_deletable",
                "User must have at least 1 identity after unlinking",
            ),
            Self::EmailConflict => line(
                422,
                "email_conflict_identity_not_deletable",
                "Unable to unlink identity due to email conflict",
            ),
            Self::UnexpectedAudience => line(
                403,
                "unexpected_audience",
                "Token audience doesn't match request audience",
            ),

            Self::UserNotFound(message) => line(404, "user_not_found", message),
            Self::FeatureOff { status, code, text } => line(*status, code, text),
            Self::Coded { status, code, text } => Wire {
                status: *status,
                code,
                message: text.clone(),
            },

            Self::Internal { text, .. } => line(500, "unexpected_failure", text),
            Self::Overloaded => line(
                504,
                "request_timeout",
                "Processing this request timed out, please retry after a moment.",
            ),
        }
    }

    /// Code, status and message, for the redirects of `/verify`.
    pub(crate) fn redirect_parts(&self) -> (u16, &'static str, Cow<'static, str>) {
        let wire = self.wire();
        (wire.status, wire.code, wire.message)
    }
}

/// Writes the error in the shape that the client understands. `request_id` shows in the older shape of a fault.
pub(crate) fn render(error: &AuthError, version: ApiVersion, request_id: Option<&str>) -> HttpResponse {
    let wire = error.wire();
    if let (ApiVersion::Legacy, Some(db)) = (version, error.db_error())
        && let Some(status) = public_sqlstate(db)
    {
        return respond(status, wire.code, version, legacy_database_body(db));
    }
    if let AuthError::Oauth { error, description } = error {
        let body = json!({ "error": error, "error_description": description });
        let mut response = HttpResponse::BadRequest();
        response.insert_header(("Cache-Control", "no-store"));
        if version == ApiVersion::V20240101 {
            response.insert_header((VERSION_HEADER, FIRST_VERSION));
        }
        return response.json(body);
    }
    let mut body = Map::new();
    match version {
        ApiVersion::V20240101 => {
            body.insert("code".to_owned(), json!(wire.code));
            body.insert("message".to_owned(), json!(wire.message));
        }
        ApiVersion::Legacy => {
            body.insert("code".to_owned(), json!(wire.status));
            body.insert("error_code".to_owned(), json!(wire.code));
            body.insert("msg".to_owned(), json!(wire.message));
            if let (Some(id), true) = (request_id, wire.status >= 500) {
                body.insert("error_id".to_owned(), json!(id));
            }
        }
    }
    if let AuthError::WeakPassword(weak) = error {
        let reasons: Vec<&str> = weak.reasons.iter().map(|reason| reason.as_str()).collect();
        body.insert("weak_password".to_owned(), json!({ "reasons": reasons }));
    }
    respond(wire.status, wire.code, version, Value::Object(body))
}

fn respond(status: u16, code: &'static str, version: ApiVersion, body: Value) -> HttpResponse {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::build(status);
    response.insert_header(("X-Sb-Error-Code", code));
    if version == ApiVersion::V20240101 {
        response.insert_header((VERSION_HEADER, FIRST_VERSION));
    }
    response.json(body)
}

/// The status of an error raised by the project's own SQL, when older clients may see it.
fn public_sqlstate(error: &DbError) -> Option<u16> {
    match error.code().code() {
        "P0001" | "23000" | "23001" | "23502" | "23503" | "23505" | "23514" | "23P01" => Some(500),
        state => state
            .strip_prefix("PT")
            .and_then(|status| status.parse().ok())
            .filter(|status| (200..600).contains(status)),
    }
}

fn legacy_database_body(error: &DbError) -> Value {
    let mut body = json!({ "code": error.code().code(), "message": error.message() });
    for (name, value) in [("hint", error.hint()), ("detail", error.detail())] {
        if let Some(value) = value {
            body[name] = json!(value);
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use actix_web::body::MessageBody;
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;
    use crate::error::{Fault, UNEXPECTED, WeakPassword, WeakReason};

    fn body(error: &AuthError, version: ApiVersion) -> Value {
        let bytes = render(error, version, Some("r-1"))
            .into_body()
            .try_into_bytes()
            .expect("bodies are in memory");
        serde_json::from_slice(&bytes).expect("bodies are JSON")
    }

    fn version(value: &'static str) -> ApiVersion {
        let mut headers = HeaderMap::new();
        headers.insert(
            HeaderName::from_static("x-supabase-api-version"),
            HeaderValue::from_static(value),
        );
        ApiVersion::of(&headers)
    }

    #[test]
    fn auth_017_auth_018_the_version_header_chooses_the_shape() {
        assert_eq!(version("2024-01-01"), ApiVersion::V20240101);
        assert_eq!(version("2025-06-30"), ApiVersion::V20240101);
        assert_eq!(version("2023-12-31"), ApiVersion::Legacy);
        assert_eq!(version("tomorrow"), ApiVersion::Legacy);
        assert_eq!(ApiVersion::of(&HeaderMap::new()), ApiVersion::Legacy);

        let new = json!({"code": "invalid_credentials", "message": "Invalid login credentials"});
        let old =
            json!({"code": 400, "error_code": "invalid_credentials", "msg": "Invalid login credentials"});
        assert_eq!(body(&AuthError::InvalidCredentials, ApiVersion::V20240101), new);
        assert_eq!(body(&AuthError::InvalidCredentials, ApiVersion::Legacy), old);
    }

    #[test]
    fn faults_hide_their_cause_and_name_the_request_to_older_clients() {
        let error = AuthError::internal(UNEXPECTED, Fault::Other("secret detail"));

        assert_eq!(
            body(&error, ApiVersion::V20240101),
            json!({"code": "unexpected_failure", "message": UNEXPECTED})
        );
        assert_eq!(
            body(&error, ApiVersion::Legacy),
            json!({"code": 500, "error_code": "unexpected_failure", "msg": UNEXPECTED, "error_id": "r-1"})
        );
    }

    #[test]
    fn auth_034_weak_passwords_carry_their_reasons() {
        let weak = WeakPassword {
            message: "weak".to_owned(),
            reasons: vec![WeakReason::Length, WeakReason::Characters],
        };

        let body = body(&AuthError::WeakPassword(weak), ApiVersion::V20240101);

        assert_eq!(
            body["weak_password"],
            json!({"reasons": ["length", "characters"]})
        );
    }
}
