//! The one piece of middleware around all services.
//!
//! One instead of six, because each costs every request an allocation and a dynamic call.

use std::future::{Ready, ready};
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::time::{Duration, Instant};

use actix_web::body::EitherBody;
use actix_web::dev::{Service as ActixService, ServiceRequest, ServiceResponse, Transform, forward_ready};
use actix_web::http::Uri;
use actix_web::{Error, HttpMessage, HttpResponse};
use futures_util::future::LocalBoxFuture;

use crate::keys::strip_query_key;
use crate::{Caller, GatewayError, Keys, RequestId, Service, cors, metrics};

/// Limits and habits of the edge.
#[derive(Debug, Clone)]
pub struct GatewayConfig {
    /// How long a request may take, where bodies do not stream. Default 60 s.
    pub request_timeout: Duration,
    /// Requests that one worker answers at a time; more are refused with 503. Default 2 000.
    pub max_in_flight_per_worker: usize,
    /// How many proxies in front of us may be believed about `X-Forwarded-For`. Default 0: none.
    pub trusted_proxies: usize,
    /// Writes a log line for every request, not only for failed (5xx) and slow ones. Default false.
    pub access_log: bool,
    /// A request that takes longer is logged. Default 1 s.
    pub slow_request: Duration,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(60),
            max_in_flight_per_worker: 2_000,
            trusted_proxies: 0,
            access_log: false,
            slow_request: Duration::from_secs(1),
        }
    }
}

/// The middleware; wrap it around the whole application, one per worker.
#[derive(Clone)]
pub struct Gateway {
    shared: Rc<Shared>,
}

struct Shared {
    keys: Keys,
    config: GatewayConfig,
}

impl Gateway {
    /// The gateway of one worker.
    pub fn new(keys: Keys, config: GatewayConfig) -> Self {
        Self {
            shared: Rc::new(Shared { keys, config }),
        }
    }
}

impl<S, B> Transform<S, ServiceRequest> for Gateway
where
    S: ActixService<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    B: 'static,
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
    B: 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self::Response, Self::Error>>;

    forward_ready!(inner);

    fn call(&self, mut request: ServiceRequest) -> Self::Future {
        let started = Instant::now();
        let id = RequestId::of(request.headers());
        let service = Service::of(request.match_info().as_str());
        let intercepted = self.intercept(&mut request, service, &id);
        let shared = self.shared.clone();
        let inner = self.inner.clone();
        Box::pin(async move {
            let mut response = match intercepted {
                Some(answer) => request.into_response(answer).map_into_right_body(),
                None => {
                    let _in_flight = metrics::InFlight::start();
                    let limit = shared.config.request_timeout;
                    if service.has_time_limit() {
                        match tokio::time::timeout(limit, inner.call(request)).await {
                            Ok(answer) => answer?.map_into_left_body(),
                            // The request itself is gone with the future; the error path of actix renders the answer.
                            Err(_) => return Err(timed_out(&id, started, service)),
                        }
                    } else {
                        inner.call(request).await?.map_into_left_body()
                    }
                }
            };
            cors::apply(response.headers_mut(), id.header());
            report(&shared.config, &response, service, &id, started.elapsed());
            Ok(response)
        })
    }
}

impl<S> GatewayService<S> {
    /// Attaches the caller and returns nothing, or returns what to answer instead of the service.
    fn intercept(
        &self,
        request: &mut ServiceRequest,
        service: Service,
        id: &RequestId,
    ) -> Option<HttpResponse> {
        if cors::is_preflight(request.method(), request.headers()) {
            return Some(cors::preflight(request.headers()));
        }
        // Each request in flight holds one clone of the inner service.
        if Rc::strong_count(&self.inner) > self.shared.config.max_in_flight_per_worker {
            return Some(GatewayError::TooManyRequests.response());
        }
        let path = request.match_info().as_str();
        let credentials =
            match self
                .shared
                .keys
                .check(service, path, request.headers(), request.query_string())
            {
                Ok(credentials) => credentials,
                Err(refusal) => return Some(refusal.response()),
            };
        let remote_ip = remote_ip(request, self.shared.config.trusted_proxies);
        let caller = Caller::new(credentials.bearer, credentials.api_key, remote_ip, id.clone());
        request.extensions_mut().insert(caller);
        strip_key(request);
        None
    }
}

/// Takes the key out of the query, so that neither a service nor a log line sees it.
fn strip_key(request: &mut ServiceRequest) {
    let Some(query) = strip_query_key(request.query_string()) else {
        return;
    };
    let path = request.uri().path();
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

/// The peer's address, or the entry of `X-Forwarded-For` that the outermost trusted proxy wrote.
fn remote_ip(request: &ServiceRequest, trusted_proxies: usize) -> IpAddr {
    let peer = request
        .peer_addr()
        .map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |address| address.ip());
    if trusted_proxies == 0 {
        return peer;
    }
    request
        .headers()
        .get("x-forwarded-for")
        .and_then(|value| value.to_str().ok())
        .and_then(|list| list.rsplit(',').nth(trusted_proxies - 1))
        .and_then(|address| address.trim().parse().ok())
        .unwrap_or(peer)
}

fn timed_out(id: &RequestId, started: Instant, service: Service) -> Error {
    tracing::warn!(
        request_id = id.as_str(),
        service = service.name(),
        "request ran out of time"
    );
    metrics::observe(service, 504, started.elapsed());
    let mut response = GatewayError::TimedOut.response();
    cors::apply(response.headers_mut(), id.header());
    actix_web::error::InternalError::from_response("the request ran out of time", response).into()
}

fn report<B>(
    config: &GatewayConfig,
    response: &ServiceResponse<B>,
    service: Service,
    id: &RequestId,
    elapsed: Duration,
) {
    let status = response.status().as_u16();
    metrics::observe(service, status, elapsed);
    let failed = status >= 500 && status != 501;
    if !(config.access_log || failed || elapsed > config.slow_request) {
        return;
    }
    // The path only: queries carry filters with personal data, and one-time codes.
    let request = response.request();
    let (method, path) = (request.method().as_str(), request.path());
    let duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let service = service.name();
    if failed {
        tracing::warn!(
            request_id = id.as_str(),
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
            service,
            method,
            path,
            status,
            duration_ms,
            "request"
        );
    }
}
