//! Headers of every response: the trace header, `Retry-After`, and, without a gateway in front, `Server` and CORS. Also the
//! log line of a request that no gateway logs.
//!
//! Source: REST contract §8.1 and §8.5. The CORS rules are in the gateway crate.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use selvedge_gateway::{CorsPolicy, sent_path};

use crate::config::{EffectiveConfig, RestConfig};

const SERVER: HeaderValue = HeaderValue::from_static(concat!("selvedge/", env!("CARGO_PKG_VERSION")));

/// The response to a preflight. `None` when the request is not a preflight, or a gateway in front answers it.
pub(crate) fn preflight_response(request: &HttpRequest, config: &RestConfig) -> Option<HttpResponse> {
    if !config.standalone {
        return None;
    }
    CorsPolicy::postgrest(&config.cors_allowed_origins)
        .preflight_response(request.method(), request.headers())
}

/// Sets the headers that every response has.
pub(crate) fn apply_headers(request: &HttpRequest, config: &EffectiveConfig, response: &mut HttpResponse) {
    if let Some(name) = &config.trace_header {
        // Compat: an empty value when the client sent none.
        let value = request.headers().get(name).cloned();
        let value = value.unwrap_or_else(|| HeaderValue::from_static(""));
        response.headers_mut().insert(name.clone(), value);
    }
    // Clients such as postgrest-js wait for `Retry-After` seconds before they repeat a request that was answered 503.
    // Without another time, they may repeat it immediately.
    if response.status() == StatusCode::SERVICE_UNAVAILABLE
        && !response.headers().contains_key(header::RETRY_AFTER)
    {
        let at_once = HeaderValue::from_static("0");
        response.headers_mut().insert(header::RETRY_AFTER, at_once);
    }
    if !config.standalone {
        return;
    }
    let headers = response.headers_mut();
    if !headers.contains_key(header::SERVER) {
        headers.insert(header::SERVER, SERVER);
    }
    let policy = CorsPolicy::postgrest(&config.cors_allowed_origins);
    policy.apply(policy.match_origin(request.headers()), headers);
}

/// Logs a request with its status: failures as errors and warnings, the rest as information.
pub(crate) fn log_request(request: &HttpRequest, response: &HttpResponse, trace_header: Option<&HeaderName>) {
    // The path only: queries carry filters with personal data.
    let (method, path) = (request.method().as_str(), sent_path(request.uri()));
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
