//! Responses to requests that are refused before the HTTP server sees them.

use bytes::Bytes;
use serde_json::json;

use crate::cors::PLATFORM_EXPOSED;
use crate::{RequestId, Service};

/// Why a request is refused before it reaches a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    TargetTooLong,
    HeadTooLarge,
    HeadTooSlow,
    Malformed,
    /// `CONNECT`: this server is not a proxy.
    Connect,
    /// The request is for a host whose requests are not served here.
    ForeignHost,
    TooManyConnections,
}

/// A refused request, with its path as far as it could be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) reason: Reason,
    path: String,
}

impl Refused {
    /// Reads the path from an incomplete or malformed head: the text between the first space and `?` or the second space.
    pub(super) fn from_head(reason: Reason, head: &[u8]) -> Self {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let target = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
        Self {
            reason,
            path: String::from_utf8_lossy(&path[..path.len().min(64)]).into_owned(),
        }
    }

    /// The whole HTTP/1.1 response as bytes.
    pub(super) fn response(&self) -> Bytes {
        let (status, message) = match self.reason {
            Reason::TargetTooLong => ("414 URI Too Long", "The request URL is too long"),
            Reason::HeadTooLarge => (
                "431 Request Header Fields Too Large",
                "The request headers are too large",
            ),
            Reason::HeadTooSlow => ("408 Request Timeout", "The request took too long to arrive"),
            Reason::Malformed => ("400 Bad Request", "The request is malformed"),
            Reason::Connect => ("405 Method Not Allowed", "The method is not allowed"),
            Reason::ForeignHost => (
                "403 Forbidden",
                "This server answers to local host names only; add the name to selvedge.allowed_hosts",
            ),
            Reason::TooManyConnections => ("429 Too Many Requests", "Too many connections from this address"),
        };
        // `selvedge rest` serves REST at `/`, so paths without a service's prefix get PostgREST's error, too.
        let (body, more) = if matches!(Service::from_path(&self.path), Service::Rest | Service::Other) {
            (
                json!({ "code": "PGRST100", "details": null, "hint": null, "message": message }),
                "proxy-status: PostgREST; error=PGRST100\r\n",
            )
        } else {
            (json!({ "message": message }), "")
        };
        let more = match self.reason {
            Reason::Connect => format!("{more}allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n"),
            _ => more.to_owned(),
        };
        let body = body.to_string();
        let id = RequestId::next();
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: {}\r\n\
             access-control-allow-origin: *\r\naccess-control-expose-headers: {PLATFORM_EXPOSED}\r\n\
             x-request-id: {}\r\n{more}connection: close\r\n\r\n{body}",
            body.len(),
            id.as_str(),
        )
        .into()
    }
}
