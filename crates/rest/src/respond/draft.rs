//! A response that is being built, and its conversion to an HTTP response.

use std::borrow::Cow;

use actix_web::body;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use selvedge_postgres::ByteChunks;

use super::body::ChunkedBody;

/// A response that is being built.
pub(super) struct Draft {
    pub(super) status: u16,
    pub(super) headers: Vec<(HeaderName, Cow<'static, str>)>,
    pub(super) body: Body,
}

/// The body of a [`Draft`].
pub(super) enum Body {
    /// Sends neither body nor `Content-Length`.
    None,
    /// A body, empty ones included, with its `Content-Length`.
    Chunks(ByteChunks),
}

impl Draft {
    pub(super) fn new(status: u16, body: Body) -> Self {
        Self {
            status,
            // Most responses have three headers, so the list rarely grows.
            headers: Vec::with_capacity(4),
            body,
        }
    }

    /// Adds a header; several of one name are all sent.
    pub(super) fn push_header(&mut self, name: HeaderName, value: impl Into<Cow<'static, str>>) {
        self.headers.push((name, value.into()));
    }

    /// The HTTP response. Values that no header can have are left out.
    pub(super) fn into_response(self) -> HttpResponse {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut builder = HttpResponseBuilder::new(status);
        if status.canonical_reason().is_none() {
            // Otherwise the status line would say "<unknown status code>".
            builder.reason("");
        }
        let mut has_vary = false;
        for (name, value) in self.headers {
            has_vary |= name == header::VARY;
            if let Some(value) = header_value(value) {
                builder.append_header((name, value));
            }
        }
        // Caches must not mix up representations that these headers chose (RFC 9110 §12.5.5).
        if !has_vary {
            builder.insert_header((header::VARY, HeaderValue::from_static("Accept, Prefer, Range")));
        }
        match self.body {
            Body::None => builder.body(body::None::new()).map_into_boxed_body(),
            Body::Chunks(chunks) => builder.body(ChunkedBody::new(chunks)),
        }
    }
}

/// A header's value; unlike `HeaderValue::from_str` this lets UTF-8 pass, which names of relations may hold.
fn header_value(value: Cow<'static, str>) -> Option<HeaderValue> {
    match value {
        Cow::Borrowed(value) => HeaderValue::from_maybe_shared(Bytes::from_static(value.as_bytes())).ok(),
        Cow::Owned(value) => HeaderValue::from_maybe_shared(Bytes::from(value)).ok(),
    }
}
