//! Calls to other servers: identity providers, hooks, messaging services.
//!
//! One client per process, made at its first use. Every call is bounded in time and size, follows no redirect (a provider's
//! answer must not send us elsewhere), and its errors name the host only: paths and queries may hold secrets.

use std::sync::OnceLock;
use std::time::Duration;

use actix_web::web::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use url::form_urlencoded::Serializer;

/// How long a call may take in total, unless it says otherwise.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest answer that is read, unless the call says otherwise.
pub(crate) const DEFAULT_LARGEST_BYTES: usize = 1 << 20;

type Inner = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("the address is not an http(s) URL")]
    BadUrl,
    #[error("{host} cannot be reached")]
    Unreachable { host: String },
    #[error("{host} did not answer in time")]
    Timeout { host: String },
    #[error("{host} broke off its answer")]
    BadBody { host: String },
    #[error("{host} answered too much")]
    TooLarge { host: String },
    #[error("{host} answered {status}")]
    Status { host: String, status: u16 },
    #[error("{host} did not answer with JSON")]
    NotJson { host: String },
}

/// An answer, whatever its status.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) host: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// The JSON of a successful answer.
    pub(crate) fn json(&self) -> Result<Value, CallError> {
        if !(200..300).contains(&self.status) {
            return Err(CallError::Status {
                host: self.host.clone(),
                status: self.status,
            });
        }
        serde_json::from_slice(&self.body).map_err(|_| CallError::NotJson {
            host: self.host.clone(),
        })
    }
}

/// A call to be made.
#[derive(Debug)]
pub(crate) struct Call {
    method: Method,
    url: String,
    headers: HeaderMap,
    body: Bytes,
    timeout: Duration,
    largest_bytes: usize,
}

impl Call {
    pub(crate) fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url, Bytes::new())
    }

    /// A form: names and values are encoded here.
    pub(crate) fn post_form(url: impl Into<String>, pairs: &[(&str, &str)]) -> Self {
        let body = Serializer::new(String::new()).extend_pairs(pairs).finish();
        Self::new(Method::POST, url, Bytes::from(body))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
    }

    pub(crate) fn post(url: impl Into<String>, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self::new(Method::POST, url, body.into()).header(CONTENT_TYPE, content_type)
    }

    fn new(method: Method, url: impl Into<String>, body: Bytes) -> Self {
        Self {
            method,
            url: url.into(),
            headers: HeaderMap::new(),
            body,
            timeout: DEFAULT_TIMEOUT,
            largest_bytes: DEFAULT_LARGEST_BYTES,
        }
        .header(USER_AGENT, "selvedge")
        .header(ACCEPT, "application/json")
    }

    /// Sets a header; a value that cannot stand in a header is left out.
    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(mut value) = HeaderValue::from_str(value) {
            value.set_sensitive(name == AUTHORIZATION);
            self.headers.insert(name, value);
        }
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header(AUTHORIZATION, &format!("Bearer {token}"))
    }

    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(crate) fn largest(mut self, bytes: usize) -> Self {
        self.largest_bytes = bytes;
        self
    }
}

/// The one client of the process.
#[derive(Default)]
pub(crate) struct HttpClient(OnceLock<Inner>);

impl HttpClient {
    /// Makes the call.
    ///
    /// # Errors
    /// [`CallError`] when there is no complete answer; a status that means failure is an answer.
    pub(crate) async fn send(&self, call: Call) -> Result<Answer, CallError> {
        let uri: Uri = call.url.parse().map_err(|_| CallError::BadUrl)?;
        let host = uri.host().ok_or(CallError::BadUrl)?.to_owned();
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(CallError::BadUrl);
        }
        let timeout = call.timeout;
        tokio::time::timeout(timeout, self.exchange(call, uri, &host))
            .await
            .unwrap_or(Err(CallError::Timeout { host }))
    }

    async fn exchange(&self, call: Call, uri: Uri, host: &str) -> Result<Answer, CallError> {
        let mut request = Request::new(Full::new(call.body));
        *request.method_mut() = call.method;
        *request.uri_mut() = uri;
        *request.headers_mut() = call.headers;
        let unreachable = |error: hyper_util::client::legacy::Error| {
            tracing::debug!(host, %error, "call failed");
            CallError::Unreachable {
                host: host.to_owned(),
            }
        };
        let response = self
            .0
            .get_or_init(client)
            .request(request)
            .await
            .map_err(unreachable)?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, call.largest_bytes).collect().await;
        let body = body.map_err(|error| {
            let host = host.to_owned();
            if error.is::<LengthLimitError>() {
                CallError::TooLarge { host }
            } else {
                CallError::BadBody { host }
            }
        })?;
        Ok(Answer {
            host: host.to_owned(),
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.to_bytes(),
        })
    }
}

/// Trusts the machine's certificates, and Mozilla's where the machine has none (a bare container).
fn client() -> Inner {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let tls = ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .expect("ring supports the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .build();
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(4)
        .build(connector)
}
