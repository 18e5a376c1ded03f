//! The words for a request that gets no further.

use bytes::Bytes;
use serde_json::json;

use crate::cors::EXPOSED;
use crate::{RequestId, Service};

/// Why a request gets no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    TargetTooLong,
    HeadTooLarge,
    HeadTooSlow,
    Malformed,
    TooManyConnections,
}

/// A request that gets no further, with the path it asked for as far as that can be told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) reason: Reason,
    path: String,
}

impl Refused {
    /// The path stands between the first blank and a `?` or the second blank.
    pub(super) fn of(reason: Reason, head: &[u8]) -> Self {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let target = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
        Self {
            reason,
            path: String::from_utf8_lossy(&path[..path.len().min(64)]).into_owned(),
        }
    }

    /// The whole answer.
    pub(super) fn answer(&self) -> Bytes {
        let (status, message) = match self.reason {
            Reason::TargetTooLong => ("414 URI Too Long", "The request URL is too long"),
            Reason::HeadTooLarge => (
                "431 Request Header Fields Too Large",
                "The request headers are too large",
            ),
            Reason::HeadTooSlow => ("408 Request Timeout", "The request took too long to arrive"),
            Reason::Malformed => ("400 Bad Request", "The request is malformed"),
            Reason::TooManyConnections => ("429 Too Many Requests", "Too many connections from this address"),
        };
        // where no prefix belongs to another service, REST may stand alone at `/`
        let (body, more) = if matches!(Service::of(&self.path), Service::Rest | Service::Other) {
            (
                json!({ "code": "PGRST100", "details": null, "hint": null, "message": message }),
                "proxy-status: PostgREST; error=PGRST100\r\n",
            )
        } else {
            (json!({ "message": message }), "")
        };
        let body = body.to_string();
        let id = RequestId::next();
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: {}\r\n\
             access-control-allow-origin: *\r\naccess-control-expose-headers: {EXPOSED}\r\n\
             x-request-id: {}\r\n{more}connection: close\r\n\r\n{body}",
            body.len(),
            id.as_str(),
        )
        .into()
    }
}
