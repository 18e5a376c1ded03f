//! The two shapes of an error body, chosen by the request's `X-Supabase-Api-Version`.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;
use tokio_postgres::error::DbError;

use super::{AuthError, WeakReason};

/// Names the error shape: in a request the one that the client understands, in a response the one that the body has.
const VERSION_HEADER: &str = "X-Supabase-Api-Version";
/// The first API version with the newer shape, and the only one that responses name.
const FIRST_VERSION: &str = "2024-01-01";

/// The shape of error bodies that a client understands. `supabase-js` asks for the newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiVersion {
    /// `{code: <number>, error_code, msg}`
    Legacy,
    /// `{code, message}`
    V20240101,
}

impl ApiVersion {
    /// Reads the header; a missing value, an older date or anything that is not a date means the older shape.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let date = headers
            .get(VERSION_HEADER)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        match chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d") {
            // chrono also reads `2024-1-1`, which upstream does not.
            Ok(_) if date.len() == FIRST_VERSION.len() && date >= FIRST_VERSION => Self::V20240101,
            _ => Self::Legacy,
        }
    }
}

/// Error body since version 2024-01-01.
#[derive(Serialize)]
struct ErrorBody<'a> {
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    weak_password: Option<WeakPasswordBody<'a>>,
}

/// Older error body. Compat: `code` is the HTTP status, and the error code is `error_code`.
#[derive(Serialize)]
struct LegacyErrorBody<'a> {
    code: u16,
    error_code: &'static str,
    msg: &'a str,
    /// The request id, with 5xx only: operators find the cause in the log by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weak_password: Option<WeakPasswordBody<'a>>,
}

#[derive(Serialize)]
struct WeakPasswordBody<'a> {
    reasons: &'a [WeakReason],
}

/// Error body of OAuth (RFC 6749 §5.2), in both versions.
#[derive(Serialize)]
struct OauthErrorBody<'a> {
    error: &'a str,
    error_description: &'a str,
}

/// Older body of an error that the project's own SQL has raised: message and code are those of PostgreSQL. The newer
/// shape hides it behind the general 500.
#[derive(Serialize)]
struct DatabaseErrorBody<'a> {
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

/// Writes the error in the shape that the client understands. `request_id` becomes `error_id` of the older shape.
pub(crate) fn render_error(error: &AuthError, version: ApiVersion, request_id: Option<&str>) -> HttpResponse {
    let (status, code) = error.status_and_code();
    if let AuthError::Oauth { error, description } = error {
        return respond_with_oauth_error(error, description, version);
    }
    // Compat: only clients of the older shape see errors that the project's SQL has raised.
    if let (ApiVersion::Legacy, Some(db)) = (version, error.db_error())
        && let Some(status) = find_public_status(db)
    {
        let body = DatabaseErrorBody {
            code: db.code().code(),
            message: db.message(),
            hint: db.hint(),
            detail: db.detail(),
        };
        return build_response(status, code, version, &body);
    }
    let message = error.message();
    let weak_password = match error {
        AuthError::WeakPassword(weak) => Some(WeakPasswordBody {
            reasons: &weak.reasons,
        }),
        _ => None,
    };
    match version {
        ApiVersion::V20240101 => {
            let body = ErrorBody {
                code,
                message: &message,
                weak_password,
            };
            build_response(status, code, version, &body)
        }
        ApiVersion::Legacy => {
            let body = LegacyErrorBody {
                code: status,
                error_code: code,
                msg: &message,
                error_id: request_id.filter(|_| status >= 500),
                weak_password,
            };
            build_response(status, code, version, &body)
        }
    }
}

/// Builds the response with `X-Sb-Error-Code`, and with the version header if the body has the newer shape.
fn build_response(
    status: u16,
    code: &'static str,
    version: ApiVersion,
    body: &impl Serialize,
) -> HttpResponse {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponse::build(status);
    response.insert_header(("X-Sb-Error-Code", code));
    if version == ApiVersion::V20240101 {
        response.insert_header((VERSION_HEADER, FIRST_VERSION));
    }
    response.json(body)
}

/// Builds the response of an OAuth error: always 400, and never to be stored by caches (RFC 6749 §5.2).
fn respond_with_oauth_error(error: &str, description: &str, version: ApiVersion) -> HttpResponse {
    let mut response = HttpResponse::BadRequest();
    response.insert_header(("Cache-Control", "no-store"));
    if version == ApiVersion::V20240101 {
        response.insert_header((VERSION_HEADER, FIRST_VERSION));
    }
    response.json(OauthErrorBody {
        error,
        error_description: description,
    })
}

/// The status of an error that the project's own SQL has raised, where clients of the older shape may see it: `raise
/// exception`, integrity violations, and `PTxyz`, by which SQL chooses the HTTP status `xyz`.
fn find_public_status(error: &DbError) -> Option<u16> {
    match error.code().code() {
        "P0001" | "23000" | "23001" | "23502" | "23503" | "23505" | "23514" | "23P01" => Some(500),
        state => state
            .strip_prefix("PT")
            .and_then(|status| status.parse().ok())
            .filter(|status| (200..600).contains(status)),
    }
}

impl ResponseError for AuthError {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status_and_code().0).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The newer shape; the middleware replaces it for clients that understand only the older one.
    fn error_response(&self) -> HttpResponse {
        render_error(self, ApiVersion::V20240101, None)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::body::MessageBody;
    use actix_web::http::header::{HeaderName, HeaderValue};

    use serde_json::{Value, json};

    use super::*;
    use crate::error::{Fault, UNEXPECTED, WeakPassword};

    fn body(error: &AuthError, version: ApiVersion) -> Value {
        let bytes = render_error(error, version, Some("r-1"))
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
        ApiVersion::from_headers(&headers)
    }

    #[test]
    fn auth_017_auth_018_the_version_header_chooses_the_shape() {
        assert_eq!(version("2024-01-01"), ApiVersion::V20240101);
        assert_eq!(version("2025-06-30"), ApiVersion::V20240101);
        assert_eq!(version("2023-12-31"), ApiVersion::Legacy);
        assert_eq!(version("tomorrow"), ApiVersion::Legacy);
        assert_eq!(ApiVersion::from_headers(&HeaderMap::new()), ApiVersion::Legacy);

        let new = json!({"code": "invalid_credentials", "message": "Invalid login credentials"});
        let old =
            json!({"code": 400, "error_code": "invalid_credentials", "msg": "Invalid login credentials"});
        assert_eq!(body(&AuthError::InvalidCredentials, ApiVersion::V20240101), new);
        assert_eq!(body(&AuthError::InvalidCredentials, ApiVersion::Legacy), old);
    }

    #[test]
    fn faults_hide_their_cause_and_carry_the_request_id_in_the_older_shape() {
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
    fn auth_034_the_weak_password_error_lists_its_reasons() {
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
