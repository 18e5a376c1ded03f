//! Errors with which the gateway refuses a request before a service sees it. Source: gateway contract §1, §3.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header;
use serde::Serialize;

/// Why the gateway refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayError {
    NoKey,
    UnknownKey,
    DuplicateKey,
    /// A secret key in a browser can be read by every visitor. Refusing it makes the leak visible.
    SecretKeyInBrowser,
    KeyNotAllowedHere,
    NoRoute,
    /// A trusted proxy reported something that is no address as the client's.
    UnknownAddress,
    TooManyRequests,
    /// More than half of the worker's requests are in use, and the client already has the eighth that one client may use.
    TooManyOfClient,
    /// The process uses nearly all the memory that it may use.
    OutOfMemory,
    /// The database is being restarted, for longer than requests wait for it.
    DatabaseRestarts,
    TimedOut,
}

const UNAVAILABLE: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// `{"message", "hint"?}`.
#[derive(Serialize)]
struct Body {
    message: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

impl GatewayError {
    /// Status, message and hint of each error.
    fn wire(self) -> (StatusCode, &'static str, Option<&'static str>) {
        match self {
            Self::NoKey => (
                StatusCode::UNAUTHORIZED,
                "No API key found in request",
                Some("No `apikey` request header or url param was found."),
            ),
            Self::UnknownKey => (
                StatusCode::UNAUTHORIZED,
                "Invalid API key",
                Some("Double check your Supabase `anon` or `service_role` API key."),
            ),
            Self::DuplicateKey => (StatusCode::UNAUTHORIZED, "Duplicate API key found", None),
            Self::SecretKeyInBrowser => (
                StatusCode::UNAUTHORIZED,
                "Forbidden use of secret API key in browser",
                Some("Secret API keys belong on servers. Use a publishable key here, and rotate this one."),
            ),
            Self::KeyNotAllowedHere => (StatusCode::FORBIDDEN, "You cannot consume this service", None),
            Self::NoRoute => (StatusCode::NOT_FOUND, "no Route matched with those values", None),
            Self::UnknownAddress => (
                StatusCode::BAD_REQUEST,
                "The client's address is unknown",
                Some("The proxies in front must write addresses into `X-Forwarded-For`."),
            ),
            Self::TooManyRequests => (
                UNAVAILABLE,
                "The server is busy",
                Some("Too many requests are in flight. Try again in a moment."),
            ),
            Self::TooManyOfClient => (
                StatusCode::TOO_MANY_REQUESTS,
                "Too many requests",
                Some(
                    "This client has too many requests in flight, or too much data that it has not read. Try again in a moment.",
                ),
            ),
            Self::OutOfMemory => (
                UNAVAILABLE,
                "The server is short of memory",
                Some("Try again in a moment."),
            ),
            Self::DatabaseRestarts => (UNAVAILABLE, "The database is being restarted", None),
            Self::TimedOut => (
                StatusCode::GATEWAY_TIMEOUT,
                "The upstream server is timing out",
                None,
            ),
        }
    }

    /// Renders the error as `{"message", "hint"?}`.
    pub fn response(self) -> HttpResponse {
        let (status, message, hint) = self.wire();
        let mut response = json_error_response(status, Body { message, hint });
        // Clients that respect Retry-After wait a second, and do not add load immediately.
        if matches!(
            self,
            Self::TooManyRequests | Self::TooManyOfClient | Self::OutOfMemory | Self::DatabaseRestarts
        ) {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        }
        response
    }
}

/// An error response with a JSON body and the content type of all error responses.
pub fn json_error_response(status: StatusCode, body: impl Serialize) -> HttpResponse {
    let text = serde_json::to_string(&body).unwrap_or_else(|_| r#"{"message":"Internal error"}"#.to_owned());
    HttpResponse::build(status)
        .insert_header((header::CONTENT_TYPE, content_type()))
        .body(text)
}

fn content_type() -> header::HeaderValue {
    header::HeaderValue::from_static("application/json; charset=utf-8")
}
