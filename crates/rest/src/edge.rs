//! What every response carries beside its own: the trace header, and CORS where no gateway stands in front.
//!
//! Source: REST contract §8.1 and §8.5.

use crate::config::RestConfig;
use crate::settings::Settings;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};

const EXPOSED: HeaderValue = HeaderValue::from_static(
    "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, Transfer-Encoding, Range-Unit",
);
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD");
/// Whether a method is one of [`METHODS`]; to ask for another is no preflight.
fn is_served(method: &HeaderValue) -> bool {
    let served = METHODS;
    let served = served.to_str().unwrap_or_default();
    served
        .split(", ")
        .any(|known| known.as_bytes() == method.as_bytes().trim_ascii())
}

const SERVER: HeaderValue = HeaderValue::from_static(concat!("selvedge/", env!("CARGO_PKG_VERSION")));

/// The answer to a preflight, if the request is one and its origin is welcome.
pub(crate) fn preflight(request: &HttpRequest, config: &RestConfig) -> Option<HttpResponse> {
    let headers = request.headers();
    let asks = request.method() == Method::OPTIONS
        && headers
            .get(header::ACCESS_CONTROL_REQUEST_METHOD)
            .is_some_and(is_served);
    if !(config.standalone && asks && Origin::of(headers, config).is_welcome()) {
        return None;
    }
    let mut allowed = String::from("Authorization, ");
    let requested = headers
        .get(header::ACCESS_CONTROL_REQUEST_HEADERS)
        .and_then(|names| names.to_str().ok())
        .unwrap_or_default();
    for name in requested
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        allowed.push_str(name);
        allowed.push_str(", ");
    }
    allowed.push_str("Accept, Accept-Language, Content-Language");
    let mut response = HttpResponse::build(StatusCode::OK).finish();
    let answer = response.headers_mut();
    answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    answer.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    if let Ok(allowed) = HeaderValue::from_str(&allowed) {
        answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    Some(response)
}

/// Puts the headers of every response in place.
pub(crate) fn apply(request: &HttpRequest, settings: &Settings, response: &mut HttpResponse) {
    if let Some(name) = &settings.trace_header {
        // Compat: empty when the client sent none
        let value = request.headers().get(name).cloned();
        let value = value.unwrap_or_else(|| HeaderValue::from_static(""));
        response.headers_mut().insert(name.clone(), value);
    }
    // whoever made it one, clients wait for what this says before they ask again
    if response.status() == StatusCode::SERVICE_UNAVAILABLE
        && !response.headers().contains_key(header::RETRY_AFTER)
    {
        let at_once = HeaderValue::from_static("0");
        response.headers_mut().insert(header::RETRY_AFTER, at_once);
    }
    if !settings.config.standalone {
        return;
    }
    let answer = response.headers_mut();
    if !answer.contains_key(header::SERVER) {
        answer.insert(header::SERVER, SERVER);
    }
    let origin = match Origin::of(request.headers(), &settings.config) {
        Origin::None | Origin::Unlisted => return,
        Origin::Any => HeaderValue::from_static("*"),
        Origin::Listed(origin) => {
            answer.insert(
                header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
                HeaderValue::from_static("true"),
            );
            answer.append(header::VARY, HeaderValue::from_static("Origin"));
            origin
        }
    };
    answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    if !answer.contains_key(header::ACCESS_CONTROL_ALLOW_METHODS) {
        answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}

/// Says in the log what was asked and answered: failures loudly, the rest for those who want to know.
pub(crate) fn log(request: &HttpRequest, response: &HttpResponse, trace_header: Option<&HeaderName>) {
    // The path only: queries carry filters with personal data.
    let (method, path) = (request.method().as_str(), request.path());
    let status = response.status().as_u16();
    let trace = trace_header
        .and_then(|name| request.headers().get(name))
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    match status {
        500.. => tracing::error!(method, path, status, trace, "request"),
        400.. => tracing::warn!(method, path, status, trace, "request"),
        _ => tracing::info!(method, path, status, trace, "request"),
    }
}

/// What the request's origin is to us.
enum Origin {
    /// No browser asks across origins.
    None,
    Any,
    Listed(HeaderValue),
    Unlisted,
}

impl Origin {
    fn of(headers: &HeaderMap, config: &RestConfig) -> Self {
        let Some(origin) = headers.get(header::ORIGIN) else {
            return Self::None;
        };
        let allowed = &config.cors_allowed_origins;
        if allowed.is_empty() {
            Self::Any
        } else if allowed.iter().any(|known| known.as_bytes() == origin.as_bytes()) {
            Self::Listed(origin.clone())
        } else {
            Self::Unlisted
        }
    }

    fn is_welcome(&self) -> bool {
        matches!(self, Self::Any | Self::Listed(_))
    }
}
