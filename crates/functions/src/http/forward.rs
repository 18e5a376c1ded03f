//! A client's request as the function gets it, and the function's response as the client gets it.

use std::net::IpAddr;

use actix_web::HttpResponseBuilder;
use actix_web::http::StatusCode;
use actix_web::http::header::{self as actix_header, HeaderMap};
use actix_web::http::{self as actix_http, Method};
use hyper::Request;
use hyper::header::{self, HeaderName, HeaderValue};

use super::request_body::RequestBody;

/// The host in the URLs that functions see. Source: functions contract §3 and §8.
const INTERNAL_HOST: HeaderValue = HeaderValue::from_static("localhost:9999");

/// A client's request without its body.
pub(super) struct ForwardedRequest<'a> {
    pub(super) method: &'a Method,
    /// `/<slug>[/<rest>][?query]`.
    pub(super) target: &'a str,
    pub(super) headers: &'a HeaderMap,
    /// Replaces the client's `Authorization`.
    pub(super) authorization: Option<&'a actix_header::HeaderValue>,
    pub(super) remote_ip: Option<IpAddr>,
    pub(super) request_id: &'a str,
    pub(super) is_secure: bool,
}

impl ForwardedRequest<'_> {
    /// Builds the request for the function; `None` when its target is not a valid URL.
    pub(super) fn build(&self, body: RequestBody) -> Option<Request<RequestBody>> {
        let method = hyper::Method::from_bytes(self.method.as_str().as_bytes()).ok()?;
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = self.target.parse().ok()?;
        let headers = request.headers_mut();
        headers.reserve(self.headers.len() + 6);
        for (name, value) in self.headers {
            if is_hop_by_hop(name) || is_rewritten(name) {
                continue;
            }
            if let (Ok(name), Ok(value)) = (
                HeaderName::from_bytes(name.as_str().as_bytes()),
                HeaderValue::from_bytes(value.as_bytes()),
            ) {
                headers.append(name, value);
            }
        }
        headers.insert(header::HOST, INTERNAL_HOST);
        if let Some(value) = self.authorization.and_then(convert_value) {
            headers.insert(header::AUTHORIZATION, value);
        }
        self.add_forwarded(headers);
        Some(request)
    }

    /// Adds the headers `X-Forwarded-*` from what the gateway knows; the client's own are replaced, because it can write
    /// anything into them.
    fn add_forwarded(&self, headers: &mut hyper::HeaderMap) {
        if let Some(value) = self
            .remote_ip
            .and_then(|ip| HeaderValue::from_str(&ip.to_string()).ok())
        {
            headers.insert("x-forwarded-for", value);
        }
        if let Some(host) = self.headers.get(actix_header::HOST).and_then(convert_value) {
            headers.insert("x-forwarded-host", host);
        }
        let scheme = if self.is_secure { "https" } else { "http" };
        headers.insert("x-forwarded-proto", HeaderValue::from_static(scheme));
        if let Ok(id) = HeaderValue::from_str(self.request_id) {
            headers.insert("x-request-id", id);
        }
    }
}

/// Status and headers of a function's response.
pub(super) fn begin_response(head: &hyper::http::response::Parts) -> HttpResponseBuilder {
    let status = StatusCode::from_u16(head.status.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponseBuilder::new(status);
    for (name, value) in &head.headers {
        // The length is part of the body here.
        if is_hop_by_hop_name(name.as_str()) || *name == header::CONTENT_LENGTH {
            continue;
        }
        if let (Ok(name), Ok(value)) = (
            actix_http::header::HeaderName::from_bytes(name.as_str().as_bytes()),
            actix_http::header::HeaderValue::from_bytes(value.as_bytes()),
        ) {
            response.append_header((name, value));
        }
    }
    response
}

fn convert_value(value: &actix_header::HeaderValue) -> Option<HeaderValue> {
    HeaderValue::from_bytes(value.as_bytes()).ok()
}

/// Headers that are set anew for the function, or left out: a function takes what they say for the gateway's word, and a client can write
/// anything into them.
fn is_rewritten(name: &actix_header::HeaderName) -> bool {
    matches!(
        name.as_str(),
        "host"
            | "authorization"
            | "x-forwarded-for"
            | "x-forwarded-host"
            | "x-forwarded-proto"
            | "x-forwarded-port"
            | "x-forwarded-prefix"
            | "forwarded"
            | "sb-execution-id"
            | "x-request-id"
    )
}

fn is_hop_by_hop(name: &actix_header::HeaderName) -> bool {
    is_hop_by_hop_name(name.as_str())
}

/// Headers that concern one connection only (RFC 9110 §7.6.1).
fn is_hop_by_hop_name(name: &str) -> bool {
    matches!(
        name,
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "expect"
    )
}
