//! The client: every call is bounded in time and size, and follows no redirect: a redirect could lead a call to an internal
//! address, with its secrets. Errors name only the host, because paths and queries may contain secrets.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::sync::Semaphore;
use url::form_urlencoded::Serializer;

use crate::connect::{
    Addresses, Connector, NoAllowedAddress, NotResolved, RefusedPort, Resolver, is_private,
};
use crate::error::{CallError, FailedStep};
use crate::response_body::read_body;

/// How long a call may take in total, from connecting to the last byte, unless [`Call::timeout()`] is set.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest response body that is read, in bytes, unless [`Call::max_response_bytes`] is set.
pub const DEFAULT_MAX_RESPONSE_BYTES: usize = 1 << 20;

type Inner = Client<HttpsConnector<Connector>, Full<Bytes>>;

/// What a call comes to. It is boxed so that hyper's client is compiled once, in this crate: the code of any other future is made by each
/// crate and each test program that awaits it.
pub type CallFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CallError>> + Send + 'a>>;

/// Finds an error of type `E` among the sources of `error`, also where an I/O error wraps it.
fn has_source<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    let mut current = Some(error);
    while let Some(error) = current {
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if error.is::<E>() || wrapped.is_some_and(|wrapped| wrapped.is::<E>()) {
            return true;
        }
        current = error.source();
    }
    false
}

/// A complete response with any status.
#[derive(Debug)]
pub struct CallResponse {
    pub host: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl CallResponse {
    /// Parses the body of a successful response as JSON.
    ///
    /// # Errors
    /// [`CallError::Status`] for a status other than 2xx, [`CallError::NotJson`] for another body.
    pub fn json(&self) -> Result<Value, CallError> {
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

/// A response whose body is read in chunks, for bodies that are too large for memory.
#[derive(Debug)]
pub struct StreamedResponse {
    pub host: String,
    pub status: u16,
    pub headers: HeaderMap,
    body: Incoming,
    timeout: Duration,
}

impl StreamedResponse {
    /// Reads the next chunk of the body; `None` at its end.
    ///
    /// # Errors
    /// [`CallError::Timeout`] when nothing arrives for as long as the call's timeout, [`CallError::BadBody`] when the
    /// connection ends before the body.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, CallError> {
        let host = || self.host.clone();
        loop {
            let frame = tokio::time::timeout(self.timeout, self.body.frame()).await;
            let frame = frame.map_err(|_| CallError::Timeout { host: host() })?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|_| CallError::BadBody { host: host() })?;
            // A frame without data holds trailers, which are ignored.
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
    }
}

/// A request that is being built, with its limits of time and size.
#[derive(Debug)]
pub struct Call {
    method: Method,
    url: String,
    headers: HeaderMap,
    body: Bytes,
    timeout: Duration,
    max_response_bytes: usize,
    large_responses: Option<Arc<Semaphore>>,
}

impl Call {
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::GET, url, Bytes::new())
    }

    /// Starts a POST with a form; names and values are percent-encoded here.
    pub fn post_form(url: impl Into<String>, pairs: &[(&str, &str)]) -> Self {
        let body = Serializer::new(String::new()).extend_pairs(pairs).finish();
        Self::new(Method::POST, url, Bytes::from(body))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
    }

    pub fn post(url: impl Into<String>, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self::new(Method::POST, url, body.into()).header(CONTENT_TYPE, content_type)
    }

    fn new(method: Method, url: impl Into<String>, body: Bytes) -> Self {
        Self::with_headers(method, url, HeaderMap::new(), body)
            .header(USER_AGENT, "selvedge")
            .header(ACCEPT, "application/json")
    }

    /// Starts a request with exactly these headers.
    pub fn with_headers(method: Method, url: impl Into<String>, headers: HeaderMap, body: Bytes) -> Self {
        Self {
            method,
            url: url.into(),
            headers,
            body,
            timeout: DEFAULT_TIMEOUT,
            max_response_bytes: DEFAULT_MAX_RESPONSE_BYTES,
            large_responses: None,
        }
    }

    /// Sets a header. A value with characters that headers cannot contain, such as a line break, is left out.
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(mut value) = HeaderValue::from_str(value) {
            // Sensitive values are hidden in debug output, and so in logs.
            value.set_sensitive(name == AUTHORIZATION);
            self.headers.insert(name, value);
        }
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header(AUTHORIZATION, &format!("Bearer {token}"))
    }

    /// Sets how long the call may take in total.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the length of the longest response body that is read.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_response_bytes = bytes;
        self
    }

    /// Lets a response body of more than 64 KiB wait for one of these places, within the call's timeout. It has the place until its bytes are
    /// dropped.
    pub fn large_responses(mut self, places: Arc<Semaphore>) -> Self {
        self.large_responses = Some(places);
        self
    }
}

/// The HTTP client that all calls of the process share, so that connections are reused. It is created at the first
/// call.
pub struct HttpClient {
    inner: OnceLock<Inner>,
    calls_private: bool,
    addresses: Addresses,
    /// Certificates of roots that are trusted in addition to the machine's.
    authorities: Vec<CertificateDer<'static>>,
    refused_ports: Arc<[u16]>,
}

impl HttpClient {
    /// A client that connects to any address if `calls_private` is true, else to public ones only: for URLs that users of
    /// the API choose, who could otherwise reach what only this server can (server-side request forgery).
    pub fn new(calls_private: bool) -> Self {
        Self::with_addresses(calls_private, Addresses::default())
    }

    /// Creates a client that resolves names by `addresses` instead of the machine's resolver.
    pub fn with_addresses(calls_private: bool, addresses: Addresses) -> Self {
        Self {
            inner: OnceLock::new(),
            calls_private,
            addresses,
            authorities: Vec::new(),
            refused_ports: Arc::default(),
        }
    }

    /// Refuses these ports at all addresses of this machine and of private networks, for servers there that trust whoever reaches them.
    #[must_use]
    pub fn refusing_ports(self, ports: &[u16]) -> Self {
        Self {
            refused_ports: ports.into(),
            ..self
        }
    }

    /// A client that connects to any address, and trusts the certificate authorities of a PEM file beside the machine's.
    ///
    /// # Errors
    /// When the file cannot be read, or holds no certificate.
    pub fn trusting(file: &Path) -> io::Result<Self> {
        let read: Vec<_> = CertificateDer::pem_file_iter(file)
            .and_then(|certificates| certificates.collect())
            .map_err(io::Error::other)?;
        if read.is_empty() {
            return Err(io::Error::other("it holds no certificate"));
        }
        Ok(Self {
            authorities: read,
            ..Self::new(true)
        })
    }

    /// Sends the request and reads the whole response. A response with an error status is not an error here.
    ///
    /// # Errors
    /// [`CallError`] when the URL is not http(s), or when no complete response arrives within the limits.
    pub fn send(&self, call: Call) -> CallFuture<'_, CallResponse> {
        Box::pin(self.receive_whole(call))
    }

    async fn receive_whole(&self, call: Call) -> Result<CallResponse, CallError> {
        let (uri, host) = self.check_url(&call.url)?;
        let timeout = call.timeout;
        let exchange = async {
            let max_bytes = call.max_response_bytes;
            let places = call.large_responses.clone();
            let (head, body) = self.request(call, uri, &host).await?.into_parts();
            Ok(CallResponse {
                host: host.clone(),
                status: head.status.as_u16(),
                headers: head.headers,
                body: read_body(body, max_bytes, places.as_ref(), &host).await?,
            })
        };
        tokio::time::timeout(timeout, exchange)
            .await
            .unwrap_or(Err(CallError::Timeout { host: host.clone() }))
    }

    /// Sends the request and returns when the head of the response has arrived. The call's timeout applies to the head and to
    /// each chunk of the body; its size limit does not apply.
    ///
    /// # Errors
    /// [`CallError`] when the URL is not http(s), or when no head arrives in time.
    pub fn open(&self, call: Call) -> CallFuture<'_, StreamedResponse> {
        Box::pin(self.receive_head(call))
    }

    async fn receive_head(&self, call: Call) -> Result<StreamedResponse, CallError> {
        let (uri, host) = self.check_url(&call.url)?;
        let timeout = call.timeout;
        let response = tokio::time::timeout(timeout, self.request(call, uri, &host))
            .await
            .unwrap_or(Err(CallError::Timeout { host: host.clone() }))?;
        let (head, body) = response.into_parts();
        Ok(StreamedResponse {
            host,
            status: head.status.as_u16(),
            headers: head.headers,
            body,
            timeout,
        })
    }

    /// Parses a URL and checks that its host may be called. Returns the URL and its host.
    fn check_url(&self, url: &str) -> Result<(Uri, String), CallError> {
        let uri: Uri = url.parse().map_err(|_| CallError::BadUrl)?;
        let host = uri.host().ok_or(CallError::BadUrl)?.to_owned();
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(CallError::BadUrl);
        }
        // An address in place of a name is not resolved.
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        if !self.calls_private && address.is_ok_and(is_private) {
            return Err(CallError::Private { host });
        }
        Ok((uri, host))
    }

    /// Sends the request and waits for the head of the response, without a time limit.
    async fn request(&self, call: Call, uri: Uri, host: &str) -> Result<Response<Incoming>, CallError> {
        let mut request = Request::new(Full::new(call.body));
        *request.method_mut() = call.method;
        *request.uri_mut() = uri;
        *request.headers_mut() = call.headers;
        let unreachable = |error: hyper_util::client::legacy::Error| {
            tracing::debug!(host, %error, "call failed");
            let host = host.to_owned();
            if has_source::<NoAllowedAddress>(&error) {
                return CallError::Private { host };
            }
            if has_source::<RefusedPort>(&error) {
                return CallError::RefusedPort { host };
            }
            let step = match error.is_connect() {
                true if has_source::<NotResolved>(&error) => FailedStep::Resolve,
                true => FailedStep::Connect,
                false => FailedStep::Exchange,
            };
            CallError::Unreachable { host, step }
        };
        self.inner
            .get_or_init(|| self.build_inner())
            .request(request)
            .await
            .map_err(unreachable)
    }

    /// Creates the client. It trusts the machine's certificate authorities, or Mozilla's where the machine has none, as in
    /// a container without the package `ca-certificates`.
    fn build_inner(&self) -> Inner {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        roots.add_parsable_certificates(self.authorities.iter().cloned());
        let tls = ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .expect("ring supports the default versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut connector =
            HttpConnector::new_with_resolver(Resolver::new(self.calls_private, self.addresses.clone()));
        // The TLS connector around it serves https.
        connector.enforce_http(false);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(Connector::new(connector, Arc::clone(&self.refused_ports)));
        Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(30))
            .pool_max_idle_per_host(4)
            .build(connector)
    }
}
