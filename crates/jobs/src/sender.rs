//! Sends an HTTP request that SQL asked for and follows its redirects, within the limits of [`NetConfig`].
//!
//! In: method, URL, headers and body. Out: the last response, or an error in curl's words if curl has such an error, because
//! the original extensions report those and applications compare them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::Method;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use selvedge_http_client::{Call, CallError, CallResponse, FailedStep, HttpClient};
use tokio::sync::Semaphore;
use url::Url;

use crate::config::NetConfig;

/// The mark of every request that SQL has asked for. The console and the inbox of every project refuse it: in `start` they serve whoever
/// reaches them, at ports that other projects do not know.
const SENDER: HeaderName = HeaderName::from_static("x-selvedge-sender");

/// The prefix of headers that only the console's own pages send.
const CONSOLE_HEADERS: &str = "x-selvedge-";

/// A request as SQL asked for it.
#[derive(Debug)]
pub(crate) struct OutgoingRequest {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The request's time limit in milliseconds, at most the configured one. Zero or less means no limit of its own.
    pub(crate) timeout_ms: i64,
    /// Redirects that are followed; with zero a redirect is the response.
    pub(crate) max_redirects: usize,
}

/// Why a request has no response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("the time limit of {} ms is over", limit.as_millis())]
    TimedOut { limit: Duration, elapsed: Duration },
    #[error("{0}")]
    Failed(String),
}

/// Two HTTP clients that share one set of limits: hosts of the list may be private, others only in development.
pub(crate) struct Sender {
    public: HttpClient,
    private: HttpClient,
    config: NetConfig,
    /// Places for large responses, each of which is in memory twice until it is stored.
    large_responses: Arc<Semaphore>,
}

/// Large responses that are in memory at the same time.
const LARGE_RESPONSES: usize = 2;

impl Sender {
    pub(crate) fn new(config: NetConfig) -> Self {
        Self {
            public: HttpClient::new(config.calls_private).refusing_ports(&config.refused_ports),
            private: HttpClient::new(true).refusing_ports(&config.refused_ports),
            config,
            large_responses: Arc::new(Semaphore::new(LARGE_RESPONSES)),
        }
    }

    /// Sends the request and follows its redirects.
    pub(crate) async fn send(&self, request: OutgoingRequest) -> Result<CallResponse, SendError> {
        let limit = self.time_limit(request.timeout_ms);
        let started = Instant::now();
        match tokio::time::timeout(limit, self.follow_redirects(request)).await {
            Ok(result) => result.map_err(SendError::Failed),
            Err(_) => Err(SendError::TimedOut {
                limit,
                elapsed: started.elapsed(),
            }),
        }
    }

    fn time_limit(&self, timeout_ms: i64) -> Duration {
        match u64::try_from(timeout_ms) {
            Ok(milliseconds) if milliseconds > 0 => {
                Duration::from_millis(milliseconds).min(self.config.max_timeout)
            }
            _ => self.config.max_timeout,
        }
    }

    async fn follow_redirects(&self, request: OutgoingRequest) -> Result<CallResponse, String> {
        let max_redirects = request.max_redirects;
        let mut hop = Hop::first(request)?;
        for _ in 0..=max_redirects {
            let response = self
                .client_for(&hop.url)
                .send(
                    hop.to_call(&self.config)
                        .large_responses(Arc::clone(&self.large_responses)),
                )
                .await
                .map_err(|error| describe_failure(&error))?;
            match hop.next(&response)? {
                Some(next) if max_redirects > 0 => hop = next,
                _ => return Ok(response),
            }
        }
        Err("Number of redirects hit maximum amount".to_owned())
    }

    fn client_for(&self, url: &Url) -> &HttpClient {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_allowed = self
            .config
            .allowed_hosts
            .iter()
            .any(|name| name.eq_ignore_ascii_case(host));
        if is_allowed { &self.private } else { &self.public }
    }
}

/// One request of a chain of redirects.
struct Hop {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Bytes,
}

impl Hop {
    fn first(request: OutgoingRequest) -> Result<Self, String> {
        let mut headers = request.headers;
        if let Some(name) = headers
            .keys()
            .find(|name| name.as_str().starts_with(CONSOLE_HEADERS))
        {
            return Err(format!("the header \"{name}\" is the console's"));
        }
        headers.insert(SENDER, HeaderValue::from_static("sql"));
        Ok(Self {
            method: request.method,
            url: parse_url(&request.url)?,
            headers,
            body: request.body,
        })
    }

    fn to_call(&self, config: &NetConfig) -> Call {
        Call::with_headers(
            self.method.clone(),
            self.url.as_str(),
            self.headers.clone(),
            self.body.clone(),
        )
        .timeout(config.max_timeout)
        .max_response_bytes(config.max_response_bytes)
    }

    /// Returns the request for a redirect; `None` for any other response.
    fn next(&self, response: &CallResponse) -> Result<Option<Self>, String> {
        let location = match response.status {
            301 | 302 | 303 | 307 | 308 => response.headers.get(LOCATION),
            _ => None,
        };
        let Some(location) = location.and_then(|value| value.to_str().ok()) else {
            return Ok(None);
        };
        let url = self
            .url
            .join(location)
            .map_err(|_| BAD_URL.to_owned())
            .and_then(|url| parse_url(url.as_str()))?;
        let mut next = Self {
            method: self.method.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
            url,
        };
        // As browsers and curl do: only 307 and 308 repeat a POST.
        if self.method == Method::POST && response.status <= 303 {
            next.method = Method::GET;
            next.body = Bytes::new();
            next.headers.remove(CONTENT_TYPE);
        }
        // Credentials were meant for the first host only.
        if next.url.origin() != self.url.origin() {
            next.headers.remove(AUTHORIZATION);
            next.headers.remove(COOKIE);
        }
        Ok(Some(next))
    }
}

const BAD_URL: &str = "URL using bad/illegal format or missing URL";

fn parse_url(url: &str) -> Result<Url, String> {
    let url = Url::parse(url).map_err(|_| BAD_URL.to_owned())?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "http" | "https" => Err(BAD_URL.to_owned()),
        _ => Err("Unsupported protocol".to_owned()),
    }
}

/// Text that PostgreSQL stores: invalid UTF-8 is replaced, and a NUL, which no text may contain, ends it as in the original.
pub(crate) fn clean_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.split('\0').next().unwrap_or_default().to_owned()
}

fn describe_failure(error: &CallError) -> String {
    match error {
        CallError::BadUrl => BAD_URL.to_owned(),
        CallError::Unreachable { step, .. } => match step {
            FailedStep::Resolve => "Couldn't resolve host name",
            FailedStep::Connect => "Couldn't connect to server",
            FailedStep::Exchange => "Server returned nothing (no headers, no data)",
        }
        .to_owned(),
        CallError::BadBody { .. } => "Failure when receiving data from the peer".to_owned(),
        CallError::TooLarge { .. } => "Maximum file size exceeded".to_owned(),
        CallError::Private { host } => {
            format!("{host} is in a private network, which this server does not call")
        }
        CallError::RefusedPort { host } => {
            format!(
                "{host} is not called at this port, which the console or the mail inbox of this server may have"
            )
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(method: Method, url: &str) -> Hop {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static("secret"));
        headers.insert("x-other", HeaderValue::from_static("1"));
        Hop {
            method,
            url: parse_url(url).expect("a URL"),
            headers,
            body: Bytes::from_static(b"{}"),
        }
    }

    fn redirect(status: u16, location: &'static str) -> CallResponse {
        CallResponse {
            host: String::new(),
            status,
            headers: HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(location))]),
            body: Bytes::new(),
        }
    }

    #[test]
    fn redirects_keep_credentials_only_on_the_same_origin() {
        let first = hop(Method::POST, "http://a.example/x");

        let same = first.next(&redirect(307, "/y")).expect("valid").expect("follows");
        assert_eq!(
            (same.url.as_str(), &same.method),
            ("http://a.example/y", &Method::POST)
        );
        assert!(same.headers.contains_key(AUTHORIZATION) && !same.body.is_empty());

        let other = first
            .next(&redirect(302, "http://b.example/"))
            .expect("valid")
            .expect("follows");
        assert_eq!((&other.method, other.body.len()), (&Method::GET, 0));
        assert!(!other.headers.contains_key(AUTHORIZATION) && other.headers.contains_key("x-other"));

        assert!(first.next(&redirect(200, "/y")).expect("valid").is_none());
        assert_eq!(
            first.next(&redirect(301, "file:///etc/passwd")).err().as_deref(),
            Some("Unsupported protocol")
        );
    }

    #[test]
    fn content_ends_at_a_nul_and_invalid_bytes_are_replaced() {
        assert_eq!(clean_text(b"caf\xc3\xa9"), "caf\u{e9}");
        assert_eq!(clean_text(b"a\xff\0b"), "a\u{fffd}");
    }
}
