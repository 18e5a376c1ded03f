//! Cross-origin rules: every origin may ask, because keys and tokens decide, not cookies.
//!
//! Source: gateway contract §4.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};

use crate::request_id;

const METHODS: HeaderValue = HeaderValue::from_static("GET,HEAD,PUT,PATCH,POST,DELETE,OPTIONS,TRACE,CONNECT");

/// Seconds for which a browser may remember a preflight: the longest that Chromium honours.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

const ANY: HeaderValue = HeaderValue::from_static("*");

/// What scripts may read of an answer. A star would not do: it leaves out `Authorization`, and old browsers.
pub(crate) const EXPOSED: &str = "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, ETag, Link, Location, Preference-Applied, \
     Range-Unit, Retry-After, Server-Timing, Warning, X-Total-Count, X-Supabase-Api-Version, X-Request-Id, x-relay-error, \
     sb-error-code, x-sb-error-code, Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, Tus-Resumable, \
     Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Complete, Accept-Ranges, Content-Disposition, Content-Length, \
     Last-Modified, X-Transformations";

/// Whether this is a preflight, which the gateway answers itself. Other OPTIONS requests go to the service.
pub(crate) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to a preflight: yes, with the requested headers echoed.
pub(crate) fn preflight(headers: &HeaderMap) -> HttpResponse {
    let mut response = HttpResponse::build(StatusCode::OK).finish();
    let answer = response.headers_mut();
    answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    answer.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    answer.insert(
        header::VARY,
        HeaderValue::from_static("Access-Control-Request-Headers"),
    );
    if let Some(requested) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, requested.clone());
    }
    response
}

/// Puts the headers of every answer in place; a service's own are replaced.
pub(crate) fn apply(answer: &mut HeaderMap, id: HeaderValue) {
    answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    answer.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSED),
    );
    answer.insert(request_id::HEADER, id);
}
