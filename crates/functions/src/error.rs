//! Every failure that the service answers itself, with status and body. Source: functions contract §4 and §6.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use selvedge_gateway::GatewayError;
use serde_json::json;

/// Why a function's own response cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FunctionError {
    #[error("Function not found")]
    NotFound,
    #[error("Error: Missing authorization header")]
    MissingAuthorization,
    #[error("Error: Auth header is not 'Bearer {{token}}'")]
    NotBearer,
    #[error("Invalid JWT")]
    InvalidJwt,
    /// The token's header is not JSON, or the token is not a JWT.
    #[error("TypeError: Invalid Token or Protected Header formatting")]
    UndecodableJwt,
    /// A module is missing or has a mistake, or the function throws while it loads.
    #[error("Worker failed to boot (please check logs)")]
    BootFailed,
    /// The same failure, because the machine has no Deno.
    #[error("{0}")]
    NoDeno(String),
    #[error("Function exited due to an error (please check logs)")]
    WorkerExited,
    #[error("Worker failed to respond due to a resource limit (please check logs)")]
    LimitReached,
    #[error("Request failed due to an internal server error")]
    Internal,
    /// The function has sent nothing for too long.
    #[error("The upstream server is timing out")]
    TimedOut,
}

impl FunctionError {
    /// Status and `code`; the errors of the authorization have no `code`.
    fn wire(&self) -> (u16, Option<&'static str>) {
        match self {
            Self::NotFound => (404, None),
            Self::MissingAuthorization | Self::NotBearer | Self::InvalidJwt | Self::UndecodableJwt => {
                (401, None)
            }
            Self::BootFailed | Self::NoDeno(_) => (503, Some("BOOT_ERROR")),
            Self::WorkerExited => (500, Some("WORKER_ERROR")),
            Self::LimitReached => (546, Some("WORKER_LIMIT")),
            Self::Internal => (500, Some("Internal Server Error")),
            Self::TimedOut => (504, None),
        }
    }

    /// Renders the error as the original's runtime or gateway does.
    pub(crate) fn response(&self) -> HttpResponse {
        let (status, code) = self.wire();
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let message = self.to_string();
        let body = match (self, code) {
            (Self::TimedOut, _) => return GatewayError::TimedOut.response(),
            (Self::NotFound, _) => {
                return HttpResponse::build(status)
                    .insert_header((header::CONTENT_TYPE, HeaderValue::from_static("text/plain")))
                    .body(message);
            }
            (_, Some(code)) => json!({ "code": code, "message": message }),
            (_, None) => json!({ "msg": message }),
        };
        HttpResponse::build(status)
            .insert_header((header::CONTENT_TYPE, HeaderValue::from_static("application/json")))
            .body(body.to_string())
    }
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;

    use super::*;

    #[actix_web::test]
    async fn gw_036_gw_037_errors_have_the_originals_status_and_body() {
        let limit = r#"{"code":"WORKER_LIMIT","message":"Worker failed to respond due to a resource limit (please check logs)"}"#;
        let cases = [
            (FunctionError::NotFound, 404, "Function not found"),
            (
                FunctionError::NotBearer,
                401,
                r#"{"msg":"Error: Auth header is not 'Bearer {token}'"}"#,
            ),
            (FunctionError::InvalidJwt, 401, r#"{"msg":"Invalid JWT"}"#),
            (
                FunctionError::BootFailed,
                503,
                r#"{"code":"BOOT_ERROR","message":"Worker failed to boot (please check logs)"}"#,
            ),
            (FunctionError::LimitReached, 546, limit),
        ];
        for (error, status, body) in cases {
            let response = error.response();
            assert_eq!(response.status().as_u16(), status, "{error:?}");
            assert_eq!(to_bytes(response.into_body()).await.unwrap(), body, "{error:?}");
        }
    }
}
