//! Sends one queued request and follows its redirects, within the limits of [`NetConfig`].
//!
//! Errors are described in curl's words where it has some, as the original stores them and applications compare them.

use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::Method;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue,
    LOCATION, USER_AGENT,
};
use selvedge_http_client::{Call, CallError, CallResponse, FailedStep, HttpClient};
use serde_json::{Map, Value};
use url::Url;

use super::queue::{QueuedRequest, StoredResponse};
use crate::config::NetConfig;

/// Redirects that are followed for one request.
const MAX_REDIRECTS: usize = 10;

/// The `User-Agent` of the original, because receivers may allow or filter requests by it.
const AGENT: &str = "pg_net/0.20.4";

/// Two HTTP clients that share one set of limits: hosts of the list may be private, others only in development.
pub(super) struct Sender {
    public: HttpClient,
    private: HttpClient,
    config: NetConfig,
}

impl Sender {
    pub(super) fn new(config: NetConfig) -> Self {
        Self {
            public: HttpClient::new(config.calls_private),
            private: HttpClient::new(true),
            config,
        }
    }

    /// Sends the request; every failure becomes a response with an error message.
    pub(super) async fn send(&self, request: QueuedRequest) -> StoredResponse {
        let limit = self.time_limit(request.timeout_milliseconds);
        let started = Instant::now();
        match tokio::time::timeout(limit, self.follow_redirects(request)).await {
            Ok(Ok(response)) => describe_response(&response),
            Ok(Err(message)) => StoredResponse::failed(message),
            Err(_) => StoredResponse {
                timed_out: Some(true),
                error_msg: Some(format!(
                    "Timeout of {} ms reached. Total time: {:.6} ms",
                    limit.as_millis(),
                    started.elapsed().as_secs_f64() * 1000.0
                )),
                ..StoredResponse::default()
            },
        }
    }

    /// The request's own limit, at most the configured one. Zero and less mean no limit of its own.
    fn time_limit(&self, timeout_milliseconds: i32) -> Duration {
        match u64::try_from(timeout_milliseconds) {
            Ok(milliseconds) if milliseconds > 0 => {
                Duration::from_millis(milliseconds).min(self.config.max_timeout)
            }
            _ => self.config.max_timeout,
        }
    }

    async fn follow_redirects(&self, request: QueuedRequest) -> Result<CallResponse, String> {
        let mut hop = Hop::first(request)?;
        for _ in 0..=MAX_REDIRECTS {
            let response = self
                .client_for(&hop.url)
                .send(hop.to_call(&self.config))
                .await
                .map_err(|error| describe_failure(&error))?;
            match hop.next(&response)? {
                Some(next) => hop = next,
                None => return Ok(response),
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
    fn first(request: QueuedRequest) -> Result<Self, String> {
        let method = match request.method.to_ascii_uppercase().as_str() {
            "POST" => Method::POST,
            "DELETE" => Method::DELETE,
            _ => Method::GET,
        };
        Ok(Self {
            method,
            url: parse_url(&request.url)?,
            headers: build_headers(request.headers.as_ref())?,
            body: Bytes::from(request.body.unwrap_or_default()),
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

    /// The request that a redirect asks for; `None` for any other response.
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

/// The headers of a JSON object, with the defaults that curl adds.
fn build_headers(headers: Option<&Value>) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    map.insert(ACCEPT, HeaderValue::from_static("*/*"));
    map.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    let fields = match headers {
        None | Some(Value::Null) => return Ok(map),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err("the headers are no JSON object".to_owned()),
    };
    for (name, value) in fields {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .zip(HeaderValue::from_str(&text).ok());
        let Some((name, value)) = parsed else {
            return Err(format!("the header \"{name}\" is malformed"));
        };
        // The length follows from the body; a wrong one would break the connection.
        if name != CONTENT_LENGTH {
            map.insert(name, value);
        }
    }
    Ok(map)
}

fn describe_response(response: &CallResponse) -> StoredResponse {
    let mut headers = Map::new();
    for (name, value) in &response.headers {
        let value = clean_text(value.as_bytes());
        headers.insert(name.as_str().to_owned(), Value::String(value));
    }
    let content_type = response.headers.get(CONTENT_TYPE);
    StoredResponse {
        status_code: Some(i32::from(response.status)),
        content_type: content_type.map(|value| clean_text(value.as_bytes())),
        headers: Some(Value::Object(headers)),
        content: (!response.body.is_empty()).then(|| clean_text(&response.body)),
        timed_out: Some(false),
        error_msg: None,
    }
}

/// Text that PostgreSQL stores: invalid UTF-8 is replaced, and a NUL, which no text may contain, ends it as in the original.
fn clean_text(bytes: &[u8]) -> String {
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
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hop(method: Method, url: &str) -> Hop {
        let headers = json!({"Authorization": "secret", "X-Other": 1, "Content-Length": "99", "Gone": null});
        Hop {
            method,
            url: parse_url(url).expect("a URL"),
            headers: build_headers(Some(&headers)).expect("headers"),
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
    fn headers_come_from_a_json_object() {
        let headers = hop(Method::GET, "http://a.example/").headers;

        assert_eq!(headers["x-other"], "1");
        assert_eq!(headers[USER_AGENT], AGENT);
        assert!(!headers.contains_key(CONTENT_LENGTH) && !headers.contains_key("gone"));
        assert!(build_headers(Some(&json!(["a"]))).is_err());
        assert!(build_headers(Some(&json!({"bad name": "x"}))).is_err());
        assert!(build_headers(Some(&json!({"x": "a\r\nb: c"}))).is_err());
    }

    #[test]
    fn content_ends_at_a_nul_and_invalid_bytes_are_replaced() {
        assert_eq!(clean_text(b"caf\xc3\xa9"), "caf\u{e9}");
        assert_eq!(clean_text(b"a\xff\0b"), "a\u{fffd}");
    }
}
