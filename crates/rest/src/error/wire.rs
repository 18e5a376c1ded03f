//! An error as the client sees it: status, headers, and a JSON body of four keys.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder, body};
use serde::Serialize;
use serde_json::Value;

use super::reason_phrase;
use crate::config::ErrorVerbosity;

/// An error as the client sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Wire {
    /// HTTP status.
    pub status: u16,
    /// `PGRST…`, or PostgreSQL's SQLSTATE.
    pub code: String,
    pub message: String,
    pub details: Option<Value>,
    pub hint: Option<String>,
    /// Headers beyond those of every error.
    pub headers: Vec<(String, String)>,
    /// Reason phrase of the status line; `None` for the standard one.
    pub reason: Option<String>,
}

impl Wire {
    pub(super) fn new(status: u16, code: &str, message: impl ToString) -> Self {
        Self {
            status,
            code: code.to_owned(),
            message: message.to_string(),
            details: None,
            hint: None,
            headers: Vec::new(),
            reason: None,
        }
    }

    pub(super) fn details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(Value::String(details.into()));
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// The keys in PostgREST's order.
#[derive(Serialize)]
struct VerboseBody<'a> {
    code: &'a str,
    details: &'a Option<Value>,
    hint: &'a Option<String>,
    message: &'a str,
}

/// The keys under `client-error-verbosity = minimal`.
#[derive(Serialize)]
struct MinimalBody<'a> {
    code: &'a str,
    message: &'a str,
}

impl Wire {
    /// The body's JSON text.
    pub fn body(&self, verbosity: ErrorVerbosity) -> String {
        let text = match verbosity {
            ErrorVerbosity::Verbose => serde_json::to_string(&VerboseBody {
                code: &self.code,
                details: &self.details,
                hint: &self.hint,
                message: &self.message,
            }),
            ErrorVerbosity::Minimal => serde_json::to_string(&MinimalBody {
                code: &self.code,
                message: &self.message,
            }),
        };
        text.expect("strings and JSON values always serialise")
    }

    /// The response; with `headers_only`, as for HEAD, without its body.
    pub fn response(&self, verbosity: ErrorVerbosity, headers_only: bool) -> HttpResponse {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut builder = HttpResponseBuilder::new(status);
        match self.reason.as_deref().and_then(reason_phrase::intern_phrase) {
            Some(phrase) => {
                builder.reason(phrase);
            }
            None if status.canonical_reason().is_none() => {
                // Otherwise the status line would say "<unknown status code>".
                builder.reason("");
            }
            None => {}
        }
        builder.insert_header((header::CONTENT_TYPE, "application/json; charset=utf-8"));
        // RFC 9209; it also carries the code where a response to HEAD has no body.
        if let Ok(value) = HeaderValue::from_str(&format!("PostgREST; error={}", self.code)) {
            builder.insert_header((HeaderName::from_static("proxy-status"), value));
        }
        for (name, value) in &self.headers {
            if let (Ok(name), Ok(value)) = (
                HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes()),
                HeaderValue::from_str(value),
            ) {
                builder.insert_header((name, value));
            }
        }
        if headers_only {
            builder.body(body::None::new()).map_into_boxed_body()
        } else {
            builder.body(self.body(verbosity))
        }
    }
}
