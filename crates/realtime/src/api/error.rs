//! Errors of the HTTP API: status and body of each.

use std::fmt;

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, Responder, ResponseError};
use selvedge_gateway::json_error_response;
use serde_json::{Value, json};

use crate::authorization::CheckError;

/// An error response of the HTTP API.
#[derive(Debug)]
pub(super) enum ApiError {
    /// The token is missing or invalid, or the caller may not write to the private topic.
    Unauthorized(StatusCode),
    /// 422: the body of a batch is invalid; holds the value of `errors`.
    Invalid(Value),
    /// 422: one field of a single broadcast is invalid; field and text.
    InvalidField(&'static str, &'static str),
    UnsupportedMediaType,
    BodyNotReadable,
    /// 400: the message is to be stored.
    NotStored,
    /// 503: there is no memory for the body at the moment.
    OutOfMemory,
    TooManyRequests(&'static str),
    Check(CheckError),
    NoRoute,
}

impl ApiError {
    /// Status and JSON body. Compat: the bodies differ in shape (`message`, `errors` or `error`), as upstream.
    fn wire(&self) -> (StatusCode, Value) {
        let message = |text: &str| json!({ "message": text });
        match self {
            Self::Unauthorized(status) => (*status, message("Unauthorized")),
            Self::Invalid(errors) => (StatusCode::UNPROCESSABLE_ENTITY, json!({ "errors": errors })),
            Self::InvalidField(field, text) => (
                StatusCode::UNPROCESSABLE_ENTITY,
                json!({ "errors": { *field: [*text] } }),
            ),
            Self::UnsupportedMediaType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                json!({ "error": "Unsupported Media Type. Use application/json or application/octet-stream" }),
            ),
            Self::BodyNotReadable => (
                StatusCode::BAD_REQUEST,
                message("The request body could not be read"),
            ),
            Self::NotStored => (
                StatusCode::BAD_REQUEST,
                message("Storing broadcasts is not supported"),
            ),
            Self::OutOfMemory => (
                StatusCode::SERVICE_UNAVAILABLE,
                message("The server has no memory for the request"),
            ),
            Self::TooManyRequests(text) => (StatusCode::TOO_MANY_REQUESTS, message(text)),
            Self::Check(error) => check_error(*error),
            Self::NoRoute => (StatusCode::NOT_FOUND, message("Not found")),
        }
    }
}

/// Status and body for a policy check without a verdict.
fn check_error(error: CheckError) -> (StatusCode, Value) {
    let (status, text) = match error {
        CheckError::Policy => (StatusCode::UNPROCESSABLE_ENTITY, "RLS policy error"),
        CheckError::Canceled => (StatusCode::UNPROCESSABLE_ENTITY, "Query canceled"),
        CheckError::MissingPartition => (StatusCode::UNPROCESSABLE_ENTITY, "Missing messages partition"),
        CheckError::Unavailable => (StatusCode::UNPROCESSABLE_ENTITY, "Tenant database unavailable"),
        CheckError::PoolExhausted => (StatusCode::TOO_MANY_REQUESTS, "Connection pool exhausted"),
    };
    (status, json!({ "message": text }))
}

impl fmt::Display for ApiError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.wire())
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.wire().0
    }

    fn error_response(&self) -> HttpResponse {
        let (status, body) = self.wire();
        json_error_response(status, body)
    }
}

impl Responder for ApiError {
    type Body = BoxBody;

    fn respond_to(self, _: &HttpRequest) -> HttpResponse {
        self.error_response()
    }
}
