//! The spine: one request's journey through the stages.

use crate::config::RestConfig;
use crate::edge;
use crate::error::{AuthError, CatalogError, RequestError, RestError};
use crate::execute::{Execution, RequestTexts};
use crate::identity::Identity;
use crate::openapi;
use crate::plan::Plan;
use crate::request::ApiRequest;
use crate::request::headers::{cookies_json, headers_json};
use crate::respond::{self, Timing};
use crate::settings::Settings;
use crate::state::{RestState, Worker};
use crate::store::Snapshot;
use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use selvedge_gateway::{Bearer, Caller};
use selvedge_postgres::RequestPool;
use selvedge_token::{TokenError, unix_now};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tokio::time::timeout;

/// Mounts the service; `pool` belongs to the worker. Everything below the scope is answered here.
pub fn configure(state: Arc<RestState>, pool: RequestPool) -> impl FnOnce(&mut web::ServiceConfig) {
    let worker = Rc::new(Worker::new(state, pool));
    move |config| {
        config.default_service(web::to(move |request: HttpRequest, payload: web::Payload| {
            let worker = Rc::clone(&worker);
            async move { serve(&worker, &request, payload).await }
        }));
    }
}

/// Serves one request; errors are rendered in the service's own shape.
async fn serve(worker: &Worker, request: &HttpRequest, payload: web::Payload) -> HttpResponse {
    let snapshot = worker.snapshot();
    let settings = snapshot.settings.as_ref();
    let config = &settings.config;
    let mut response = match edge::preflight(request, config) {
        Some(preflight) => preflight,
        None => match answer(worker, &snapshot, request, payload).await {
            Ok(response) => response,
            Err(error) => {
                let headers_only = request.method() == actix_web::http::Method::HEAD;
                error.wire().response(config.error_verbosity, headers_only)
            }
        },
    };
    edge::apply(request, settings, &mut response);
    if config.standalone {
        edge::log(request, &response, settings.trace_header.as_ref());
    }
    response
}

/// Identify, parse, plan, execute, respond.
async fn answer(
    worker: &Worker,
    snapshot: &Snapshot,
    http: &HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, RestError> {
    let settings = snapshot.settings.as_ref();
    let config = &settings.config;
    let mut timing = Timing::start(config.server_timing_enabled);
    let identity = Identity::of(&bearer_of(http, settings)?, config, unix_now())?;
    timing.mark("jwt");
    let catalog = snapshot.catalog.as_ref().ok_or(CatalogError::NotLoaded)?;
    let body = read_body(http, payload, config).await?;
    let method = http.method().as_str();
    let path = http.uri().path();
    let path = path.strip_prefix(config.path_prefix.as_str()).unwrap_or(path);
    let request = ApiRequest::parse(method, path, http.query_string(), http.headers(), &body, config)?;
    timing.mark("parse");
    let plan = Plan::new(&request, catalog, config)?;
    timing.mark("plan");
    let execution = Execution {
        settings,
        pool: worker.pool(),
        identity: &identity,
        texts: &texts(http),
        request: &request,
    };
    match plan {
        Plan::Describe { allow } => {
            timing.mark("transaction");
            Ok(respond::describe(&allow, timing))
        }
        Plan::Root { headers_only } => {
            let host = http.connection_info().host().to_owned();
            openapi::answer(&execution, catalog, &host, headers_only, timing).await
        }
        Plan::Query(plan) => {
            let outcome = execution.run(&plan).await?;
            timing.mark("transaction");
            respond::respond(config, &request, &plan, outcome, timing)
        }
    }
}

/// The caller's token: what the gateway says of it, or what `jwt-secret` does. Behind the gateway the secret is one
/// more key for tokens that none of the project's keys has signed.
fn bearer_of(http: &HttpRequest, settings: &Settings) -> Result<Bearer, AuthError> {
    if settings.config.standalone {
        return match (bearer_token(http), &settings.verifier) {
            (None, _) => Ok(Bearer::None),
            (Some(_), None) => Err(AuthError::NoSecret),
            (Some(token), Some(verifier)) => verifier
                .verify(token)
                .map(Bearer::Valid)
                .map_err(AuthError::Token),
        };
    }
    let bearer = Caller::of(http).bearer().clone();
    if let Bearer::Invalid(TokenError::NoSuitableKey | TokenError::BadSignature) = bearer
        && let (Some(token), Some(verifier)) = (bearer_token(http), &settings.verifier)
        && let Ok(claims) = verifier.verify(token)
    {
        return Ok(Bearer::Valid(claims));
    }
    Ok(bearer)
}

/// What follows the scheme `Bearer`, in any case; empty when nothing does. Other schemes are no token.
fn bearer_token(http: &HttpRequest) -> Option<&str> {
    let value = http.headers().get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn texts(http: &HttpRequest) -> RequestTexts {
    RequestTexts {
        headers: headers_json(http.headers()),
        cookies: cookies_json(http.headers()),
    }
}

/// The whole body, up to the limit.
async fn read_body(
    http: &HttpRequest,
    mut payload: web::Payload,
    config: &RestConfig,
) -> Result<Bytes, RestError> {
    if matches!(http.method().as_str(), "GET" | "HEAD" | "OPTIONS") {
        return Ok(Bytes::new());
    }
    let too_large = || RestError::from(RequestError::BodyTooLarge(config.body_limit_bytes));
    let announced = http.headers().get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.trim().parse::<u64>().ok());
    if announced.is_some_and(|length| usize::try_from(length).map_or(true, |n| n > config.body_limit_bytes)) {
        return Err(too_large());
    }
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    let mut length = 0;
    let begun = Instant::now();
    while let Some(chunk) = timeout(config.body_pause, payload.next())
        .await
        .map_err(|_| RequestError::BodyTooSlow)?
    {
        if begun.elapsed() > config.body_duration {
            return Err(RequestError::BodyTooSlow.into());
        }
        let chunk = chunk.map_err(|_| RequestError::Body("The request body could not be read".to_owned()))?;
        length += chunk.len();
        if length > config.body_limit_bytes {
            return Err(too_large());
        }
        // a body in one piece is passed on without a copy
        match first.take() {
            None if rest.is_empty() => first = Some(chunk),
            None => rest.extend_from_slice(&chunk),
            Some(earlier) => {
                rest.extend_from_slice(&earlier);
                rest.extend_from_slice(&chunk);
            }
        }
    }
    Ok(first.unwrap_or_else(|| rest.freeze()))
}
