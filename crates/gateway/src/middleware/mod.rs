//! The middleware around all services: it answers preflights, checks keys and limits, and sets headers of every
//! response.
//!
//! It is one middleware for keys, CORS, limits, timeouts, metrics and logs, because each middleware of its own would
//! cost every request an allocation and a dynamic call.

mod accept_encoding;
mod admission;
mod caller;
mod compression;
mod compression_room;
mod config;
mod continue_check;
mod forwarded;
mod keys;
mod last_writer;
mod quota;
mod request_log;
mod tracked_body;

use std::future::{Ready, ready};
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{Service as ActixService, ServiceRequest, ServiceResponse, Transform, forward_ready};
use actix_web::http::{ConnectionType, StatusCode, Uri, header};
use actix_web::{Error, HttpMessage, HttpResponse};
use futures_util::future::LocalBoxFuture;
use selvedge_limits::LogRate;

use crate::{Drain, GatewayError, Hold, RequestId, Service, TraceId, cors, metrics, sent_path};
pub use accept_encoding::accepts_coding;
use admission::Admission;
pub use caller::{Bearer, Caller, Credentials};
pub use config::GatewayConfig;
pub use continue_check::{BodyCheck, ContinueCheck};
pub use forwarded::{UnknownAddress, find_client_address, read_last_address};
pub use keys::Keys;
use keys::strip_query_key;
pub use last_writer::{find_written_timeline, set_last_writer, wrote_elsewhere};
use quota::{Client, Usage};
pub use request_log::{RequestListener, RequestRecord, SharedRequestListener};

/// The middleware; wrap it around the whole application, one per worker.
#[derive(Clone)]
pub struct Gateway {
    shared: Rc<Shared>,
}

struct Shared {
    keys: Keys,
    admission: Admission,
    config: GatewayConfig,
    drain: Drain,
    hold: Hold,
}

impl Gateway {
    /// The gateway of one worker of a process that never announces its stop.
    pub fn new(keys: Keys, config: GatewayConfig) -> Self {
        Self::with_drain(keys, config, Drain::default(), Hold::default())
    }

    /// The gateway of one worker. Once `drain` has begun, connections close after their next response; while `hold` lasts, requests wait.
    pub fn with_drain(keys: Keys, config: GatewayConfig, drain: Drain, hold: Hold) -> Self {
        Self {
            shared: Rc::new(Shared {
                keys,
                admission: Admission::new(&config),
                config,
                drain,
                hold,
            }),
        }
    }
}

impl<S, B> Transform<S, ServiceRequest> for Gateway
where
    S: ActixService<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Transform = GatewayService<S>;
    type InitError = ();
    type Future = Ready<Result<Self::Transform, Self::InitError>>;

    fn new_transform(&self, inner: S) -> Self::Future {
        ready(Ok(GatewayService {
            inner: Rc::new(inner),
            shared: self.shared.clone(),
        }))
    }
}

/// [`Gateway`] around a service.
pub struct GatewayService<S> {
    inner: Rc<S>,
    shared: Rc<Shared>,
}

impl<S, B> ActixService<ServiceRequest> for GatewayService<S>
where
    S: ActixService<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self::Response, Self::Error>>;

    forward_ready!(inner);

    fn call(&self, mut request: ServiceRequest) -> Self::Future {
        let started = Instant::now();
        let id = RequestId::from_headers(request.headers());
        let service = Service::from_path(request.match_info().as_str());
        let intercepted = self.intercept(&mut request, service, &id);
        let shared = self.shared.clone();
        let inner = self.inner.clone();
        Box::pin(async move {
            let mut response = match wait_for_database(&shared.hold, service, intercepted).await {
                Err(answer) => request.into_response(*answer).map_into_right_body(),
                Ok((caller, usage)) => {
                    let _in_flight = metrics::InFlight::start();
                    let limit = shared.config.request_timeout;
                    // Bodies of storage, realtime and functions stream for as long as they need.
                    let response = if service.has_time_limit() {
                        match tokio::time::timeout(limit, inner.call(request)).await {
                            Ok(answer) => answer?.map_into_left_body(),
                            // The request was dropped with the future, so the response goes out through actix's error
                            // path.
                            Err(_) => return Err(timed_out(&id, started, service)),
                        }
                    } else {
                        inner.call(request).await?.map_into_left_body()
                    };
                    let response = if shared.config.compress_responses {
                        compression::compress(service, response).await
                    } else {
                        response
                    };
                    shared
                        .admission
                        .track(service, response, usage, identify_client(&caller))
                }
            };
            set_retry_after(&mut response);
            if shared.drain.closes_connections() {
                let head = response.response_mut().head_mut();
                head.set_connection_type(ConnectionType::Close);
            }
            cors::apply_platform_headers(response.headers_mut(), service, &id);
            if let Some(hsts) = &shared.config.hsts {
                let headers = response.headers_mut();
                headers.insert(header::STRICT_TRANSPORT_SECURITY, hsts.clone());
            }
            log_response(&shared.config, &response, service, &id, started.elapsed());
            Ok(response)
        })
    }
}

impl<S> GatewayService<S> {
    /// Attaches the [`Caller`] and returns it with the request's place among those in progress. The error is the response
    /// that replaces the service's.
    fn intercept(
        &self,
        request: &mut ServiceRequest,
        service: Service,
        id: &RequestId,
    ) -> Result<(Caller, Usage), Box<HttpResponse>> {
        // Before the key check, because browsers send no key with a preflight.
        if let Some(response) = cors::PLATFORM.preflight_response(request.method(), request.headers()) {
            return Err(Box::new(response));
        }
        let path = request.match_info().as_str();
        let keys = &self.shared.keys;
        let credentials = keys
            .check(service, path, request.headers(), request.query_string())
            .map_err(boxed_response)?;
        let trusted_proxies = self.shared.config.trusted_proxies;
        let remote_ip = read_remote_ip(request, trusted_proxies).map_err(boxed_response)?;
        let caller = Caller::new(credentials, remote_ip, &self.shared.config, id.clone());
        let usage = self
            .shared
            .admission
            .admit(service, request.method(), identify_client(&caller))
            .map_err(boxed_response)?;
        request.extensions_mut().insert(caller.clone());
        strip_key(request);
        Ok((caller, usage))
    }
}

/// Lets an admitted request wait while the database is restarted. Health checks, and pages that need no database, are answered.
async fn wait_for_database(
    hold: &Hold,
    service: Service,
    intercepted: Result<(Caller, Usage), Box<HttpResponse>>,
) -> Result<(Caller, Usage), Box<HttpResponse>> {
    let admitted = intercepted?;
    if hold.is_held() && service != Service::Other && !hold.wait().await {
        return Err(boxed_response(GatewayError::DatabaseRestarts));
    }
    Ok(admitted)
}

fn boxed_response(error: GatewayError) -> Box<HttpResponse> {
    Box::new(error.response())
}

/// The client on whose account limits count the request: its address, and its bearer token if it sent one.
fn identify_client(caller: &Caller) -> Client<'_> {
    Client {
        address: caller.remote_ip(),
        bearer: caller.bearer(),
    }
}

/// Removes the API key from the query, so that it reaches neither a service nor a log.
fn strip_key(request: &mut ServiceRequest) {
    let Some(query) = strip_query_key(request.query_string()) else {
        return;
    };
    let path = sent_path(request.uri());
    let target = if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = target.parse().ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
    }
}

/// The client's address.
///
/// # Errors
/// `UnknownAddress`.
fn read_remote_ip(request: &ServiceRequest, trusted_proxies: usize) -> Result<IpAddr, GatewayError> {
    let peer = request
        .peer_addr()
        .map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |address| address.ip());
    warn_of_unknown_proxy(request, trusted_proxies);
    find_client_address(request.headers(), peer, trusted_proxies).map_err(|error| {
        tracing::warn!(entry = error.entry, proxy = %peer, "X-Forwarded-For of a trusted proxy has no address; nginx on a unix socket writes `unix:`");
        GatewayError::UnknownAddress
    })
}

/// Says once that a proxy seems to be in front of a server that does not know of it: links in its responses would lead to plain HTTP.
fn warn_of_unknown_proxy(request: &ServiceRequest, trusted_proxies: usize) {
    static IS_WARNED: AtomicBool = AtomicBool::new(false);
    if trusted_proxies == 0
        && !IS_WARNED.load(Ordering::Relaxed)
        && !request.app_config().secure()
        && forwarded::claims_https(request.headers())
        && !IS_WARNED.swap(true, Ordering::Relaxed)
    {
        tracing::warn!(
            "a request names a proxy that speaks HTTPS, which counts only with [selvedge.limits] trusted_proxies: until then all \
             clients share the proxy's address, and without [api] external_url links in responses are http"
        );
    }
}

/// Sets Retry-After on 503 if the service did not, so that clients that respect it wait a second and do not add load
/// immediately.
fn set_retry_after<B>(response: &mut ServiceResponse<B>) {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        let headers = response.headers_mut();
        if !headers.contains_key(header::RETRY_AFTER) {
            headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        }
    }
}

fn timed_out(id: &RequestId, started: Instant, service: Service) -> Error {
    tracing::warn!(
        request_id = id.as_str(),
        service = service.name(),
        "request ran out of time"
    );
    metrics::observe(service, 504, started.elapsed());
    let mut response = GatewayError::TimedOut.response();
    cors::apply_platform_headers(response.headers_mut(), service, id);
    actix_web::error::InternalError::from_response("the request ran out of time", response).into()
}

/// Tells the listener of a response. The caller is known unless the request was refused before.
fn notify<B>(
    listener: &SharedRequestListener,
    response: &ServiceResponse<B>,
    service: Service,
    id: &RequestId,
    elapsed: Duration,
) {
    // The caller is stored in the request's extensions, so that nothing is cloned without a listener.
    let request = response.request();
    let extensions = request.extensions();
    let caller = extensions.get::<Caller>();
    let claims = caller.and_then(|caller| match caller.bearer() {
        Bearer::Valid(claims) => Some(claims),
        _ => None,
    });
    listener.0.note_request(&RequestRecord {
        id: id.as_str(),
        service: service.name(),
        method: request.method().as_str(),
        path: sent_path(request.uri()),
        status: response.status().as_u16(),
        elapsed,
        claims,
        address: caller.map(Caller::remote_ip),
    });
}

/// Longest path that is logged, in bytes; an object of Storage may have a name of that length.
const LONGEST_PATH: usize = 1024;
/// Bytes of failed and slow requests that are logged in a second, and what a line has besides the path.
const BYTES_PER_SECOND: usize = 256 * 1024;
const BYTES_BESIDE_PATH: usize = 256;

static LOG_RATE: LazyLock<Mutex<LogRate>> = LazyLock::new(|| Mutex::new(LogRate::new(BYTES_PER_SECOND)));

fn logged_path(uri: &Uri) -> &str {
    let path = sent_path(uri);
    path.get(..path.floor_char_boundary(LONGEST_PATH))
        .unwrap_or_default()
}

/// Whether a failed or slow request is logged now. Whoever makes many of them would fill the disk otherwise; the next one that is logged
/// comes with the number of those that were not.
fn may_log(path: &str) -> bool {
    let mut rate = LOG_RATE.lock().unwrap_or_else(PoisonError::into_inner);
    let passed = rate.pass(path.len() + BYTES_BESIDE_PATH);
    drop(rate);
    if let Some(omitted @ 1..) = passed {
        tracing::warn!(
            omitted,
            "failed and slow requests were not logged, because too many came at once"
        );
    }
    passed.is_some()
}

fn log_response<B>(
    config: &GatewayConfig,
    response: &ServiceResponse<B>,
    service: Service,
    id: &RequestId,
    elapsed: Duration,
) {
    let status = response.status().as_u16();
    metrics::observe(service, status, elapsed);
    if let Some(listener) = &config.listener {
        notify(listener, response, service, id, elapsed);
    }
    // 501 means that a feature is not implemented, and is not counted as a failure of the server.
    let failed = status >= 500 && status != 501;
    let deserves_line = failed || elapsed > config.slow_request;
    let may_log = || may_log(logged_path(response.request().uri()));
    if !(config.access_log || deserves_line && may_log()) {
        return;
    }
    // The path only: queries carry filters with personal data, and one-time codes.
    let request = response.request();
    let (method, path) = (request.method().as_str(), logged_path(request.uri()));
    let duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let service = service.name();
    let extensions = request.extensions();
    let trace_id = extensions.get::<TraceId>().map(TraceId::as_str);
    if failed {
        tracing::warn!(
            request_id = id.as_str(),
            trace_id,
            service,
            method,
            path,
            status,
            duration_ms,
            "request"
        );
    } else {
        tracing::info!(
            request_id = id.as_str(),
            trace_id,
            service,
            method,
            path,
            status,
            duration_ms,
            "request"
        );
    }
}
