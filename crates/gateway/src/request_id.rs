//! Request ids: one per request, in every response and log line. And the ids of distributed traces, which span several servers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

/// The header of the id, in requests (set by a proxy in front of this server) and in responses.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longest id that is taken over from a request.
const LONGEST: usize = 64;

/// Names one request in logs and error reports.
#[derive(Debug, Clone)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// Takes over the id of the request if it has only harmless characters, else makes a new one: ids are written to
    /// logs.
    pub fn from_headers(headers: &HeaderMap) -> Self {
        match headers.get(&HEADER) {
            Some(value) if is_harmless(value.as_bytes()) => Self(value.clone()),
            _ => Self::next(),
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Returns a new id: a random part per process and a counter, so that a request needs no random numbers.
    pub(crate) fn next() -> Self {
        static PROCESS: OnceLock<String> = OnceLock::new();
        static COUNTER: AtomicU64 = AtomicU64::new(1);
        // The random part keeps ids of several nodes, and of a node before and after a restart, apart.
        let process = PROCESS.get_or_init(|| uuid::Uuid::new_v4().simple().to_string()[..12].to_owned());
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let id = format!("{process}-{number:x}");
        Self(HeaderValue::from_str(&id).expect("hexadecimal digits and a dash"))
    }
}

/// The id of the distributed trace to which a request belongs, 32 hexadecimal digits. A middleware around the gateway puts it among the extensions of requests that are traced;
/// the log lines of such a request name it.
#[derive(Debug, Clone)]
pub struct TraceId(Arc<str>);

impl TraceId {
    /// Takes the id as text.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether the id is short and has only characters that cannot forge log lines or header lines.
fn is_harmless(id: &[u8]) -> bool {
    !id.is_empty()
        && id.len() <= LONGEST
        && id
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_048_keeps_request_ids_of_safe_characters_and_replaces_others() {
        let with = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_static(value));
            RequestId::from_headers(&headers).as_str().to_owned()
        };

        assert_eq!(with("trace-1.2"), "trace-1.2");
        assert_ne!(with("a b\"c"), "a b\"c");
        assert_ne!(
            RequestId::from_headers(&HeaderMap::new()).as_str(),
            RequestId::from_headers(&HeaderMap::new()).as_str()
        );
    }
}
