//! Runs a request through the stages: parse, plan, sql, execute, respond.
//!
//! Parts of HTTP that belong to no stage are in this folder, too: reading the body, and the headers of every response.

mod admission;
mod graphql;
mod large_body;
mod request_body;
mod response_headers;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::header;
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, web};
use selvedge_gateway::{Bearer, Caller, sent_path};
use selvedge_limits::Turn;
use selvedge_memory::{COUNTED_FROM, DatabaseTurn};
use selvedge_postgres::{ReplicaPools, RequestPool};
use selvedge_token::unix_now;

use crate::catalog::Catalog;
use crate::config::EffectiveConfig;
use crate::error::{AuthError, CatalogError, RequestError, RestError};
use crate::execute::{Execution, ReplicaReads, RequestTexts, ResultMemory, is_read_method, record_write};
use crate::identity::Identity;
use crate::openapi::{self, RootCache};
use crate::plan::Plan;
use crate::request::ApiRequest;
use crate::request::headers::{cookies_json, headers_json};
use crate::respond::{self, Timing};
use crate::schema_cache::{SchemaCache, Snapshot};
use crate::sql;
use admission::Admission;
use large_body::LargeBody;
use request_body::read_body;

pub use graphql::graphql_scope;

/// Mounts the service; `pool` belongs to the worker. Every path below the scope is served here.
pub fn configure(cache: Arc<SchemaCache>, pool: RequestPool) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    RestWorker::new(cache, pool, None).configure()
}

/// The service of one worker thread, which can be mounted at several paths.
#[derive(Clone)]
pub struct RestWorker(Rc<Worker>);

impl RestWorker {
    /// Creates the service of the current worker thread, to which `pool` and `replicas` belong. GET and HEAD may read from the
    /// replicas.
    pub fn new(cache: Arc<SchemaCache>, pool: RequestPool, replicas: Option<Rc<ReplicaPools>>) -> Self {
        Self(Rc::new(Worker::new(cache, pool, replicas)))
    }

    /// Mounts the service. Every path below the scope is served here.
    pub fn configure(self) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
        let Self(worker) = self;
        Box::new(move |config| {
            // One handler for all paths, because relations and functions are found in the catalog.
            config.default_service(web::to(move |request: HttpRequest, payload: web::Payload| {
                let worker = Rc::clone(&worker);
                async move { serve_request(&worker, &request, payload).await }
            }));
        })
    }

    /// Returns the path prefix of tables and functions, such as `/rest/v1`.
    pub(crate) fn path_prefix(&self) -> String {
        self.0.cache.snapshot().config.path_prefix.clone()
    }
}

/// One worker's service: the shared schema cache and the worker's own connections.
struct Worker {
    cache: Arc<SchemaCache>,
    pool: RequestPool,
    replicas: Option<Rc<ReplicaPools>>,
    /// The generation of the catalog under which the pool's statements were prepared.
    generation: Cell<u64>,
    admission: Admission,
    roots: RootCache,
}

impl Worker {
    fn new(cache: Arc<SchemaCache>, pool: RequestPool, replicas: Option<Rc<ReplicaPools>>) -> Self {
        let generation = Cell::new(cache.generation());
        Self {
            cache,
            pool,
            replicas,
            generation,
            admission: Admission::default(),
            roots: RootCache::default(),
        }
    }

    /// The worker's connections, without statements from before the catalog last changed: PostgreSQL refuses a prepared
    /// statement whose result would have other columns now.
    fn pool(&self) -> &RequestPool {
        let current = self.cache.generation();
        // Compared per request, because each worker finds out by itself: nothing crosses threads.
        if self.generation.replace(current) != current {
            self.pool.forget_statements();
            if let Some(replicas) = &self.replicas {
                replicas.forget_statements();
            }
        }
        &self.pool
    }
}

/// Serves one request; errors are rendered in PostgREST's shape.
async fn serve_request(worker: &Worker, request: &HttpRequest, payload: web::Payload) -> HttpResponse {
    let snapshot = worker.cache.snapshot();
    let config = snapshot.config.as_ref();
    let mut response = match response_headers::preflight_response(request, config) {
        Some(preflight) => preflight,
        None => match run_request(worker, &snapshot, request, payload).await {
            Ok(response) => response,
            Err(error) => render_error(request, &snapshot, &error),
        },
    };
    response_headers::apply_headers(request, config, &mut response);
    if config.standalone {
        response_headers::log_request(request, &response, config.trace_header.as_ref());
    }
    response
}

fn render_error(request: &HttpRequest, snapshot: &Snapshot, error: &RestError) -> HttpResponse {
    // A response to HEAD must not have a body (RFC 9110 §9.3.2), error or not.
    let headers_only = request.method() == actix_web::http::Method::HEAD;
    error
        .wire()
        .response(snapshot.config.error_verbosity, headers_only)
}

/// Verifies the token, runs the stages, and remembers who wrote where that decides between replicas and the primary.
///
/// The token comes first: a caller who is refused must not learn which tables exist from later errors.
async fn run_request(
    worker: &Worker,
    snapshot: &Snapshot,
    http: &HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, RestError> {
    // Behind the gateway requests are admitted there.
    let _admitted = match snapshot.config.standalone {
        true => Some(worker.admission.admit(worker.pool.memory())?),
        false => None,
    };
    let bearer = verify_bearer(http, snapshot.config.as_ref())?;
    let result = run_stages(worker, snapshot, http, &bearer, payload).await;
    match &worker.replicas {
        Some(replicas) if !is_read_method(http.method()) => {
            // Also after an error, which does not prove that nothing was written: the connection may have broken.
            let mut response = result.unwrap_or_else(|error| render_error(http, snapshot, &error));
            record_write(replicas, &bearer, response.headers_mut());
            Ok(response)
        }
        _ => result,
    }
}

/// Parse, plan, sql, execute, respond.
async fn run_stages(
    worker: &Worker,
    snapshot: &Snapshot,
    http: &HttpRequest,
    bearer: &Bearer,
    payload: web::Payload,
) -> Result<HttpResponse, RestError> {
    let config = snapshot.config.as_ref();
    let mut timing = Timing::start(config.server_timing_enabled);
    let identity = Identity::resolve(bearer, config, unix_now())?;
    timing.end_stage("jwt");
    // Without a catalog nothing can be planned, so the body of such a request is not even read.
    if snapshot.catalog.is_none() {
        return Err(CatalogError::NotLoaded.into());
    }
    let body = read_body(http, payload, config, worker.pool.memory()).await?;
    let large = admit_large(worker, http, &body).await?;
    let planned = plan_request(
        worker,
        snapshot,
        http,
        bearer,
        (&body, large.as_ref()),
        &mut timing,
    )
    .await?;
    let (turn, _session) = wait_for_turns(worker, http, &body, large).await?;
    let memory = (worker.pool.memory(), worker.cache.result_sizes());
    let result_memory = ResultMemory::for_request(memory, turn.as_ref(), &identity, http);
    let replicas = worker.replicas.as_deref();
    let replicas = replicas.and_then(|replicas| ReplicaReads::for_request(replicas, http, bearer));
    let execution = Execution {
        config,
        catalog: &planned.catalog,
        search_path: planned.search_path,
        pool: worker.pool(),
        replicas: replicas.as_ref(),
        identity: &identity,
        client: Caller::client_of(http),
        texts: &request_texts(http),
        turn: turn.as_ref(),
        result_memory,
    };
    let roots = (&worker.roots, &planned.catalog, &snapshot.config);
    run_plan(planned.plan, &execution, roots, http, timing).await
}

/// Waits until a large body may be worked on; `None` for the others.
async fn admit_large(
    worker: &Worker,
    http: &HttpRequest,
    body: &Bytes,
) -> Result<Option<LargeBody>, RestError> {
    if !LargeBody::is_large(body) {
        return Ok(None);
    }
    // Boxed, because few requests need it.
    Box::pin(LargeBody::admit(http, body, worker.pool.memory()))
        .await
        .map(Some)
}

/// Waits until PostgreSQL may work on a body: until it may take the memory for a large one, and its client may use one more session.
async fn wait_for_turns(
    worker: &Worker,
    http: &HttpRequest,
    body: &Bytes,
    large: Option<LargeBody>,
) -> Result<(Option<DatabaseTurn>, Option<Turn>), RestError> {
    if body.len() < COUNTED_FROM {
        return Ok((None, None));
    }
    // Boxed, because few requests need it.
    let turn = match large {
        Some(large) => Box::pin(large.wait_for_database()).await?,
        None => None,
    };
    let session = large_body::wait_for_session(http, worker.pool.memory());
    Ok((turn, Box::pin(session).await?))
}

/// A plan with the search path and the catalog that it was made for.
struct Planned<'a> {
    plan: Plan,
    /// `search_path` for the request's schema, quoted.
    search_path: &'a str,
    catalog: Arc<Catalog>,
}

/// Runs the stages parse and plan.
///
/// A function of its own, because what it keeps while a tenant's catalog is read would take room in the request's future until
/// the response.
async fn plan_request<'a>(
    worker: &Worker,
    snapshot: &'a Snapshot,
    http: &HttpRequest,
    bearer: &Bearer,
    (body, large): (&Bytes, Option<&LargeBody>),
    timing: &mut Timing,
) -> Result<Planned<'a>, RestError> {
    let config = snapshot.config.as_ref();
    // SQL sees the path below the prefix, so that functions work alike behind the gateway and standalone.
    let (method, path) = (http.method().as_str(), sent_path(http.uri()));
    let path = path.strip_prefix(config.path_prefix.as_str()).unwrap_or(path);
    let of_tenant = match bearer {
        Bearer::Valid(claims) => config.schema_of_tenant(claims.map()),
        _ => None,
    };
    let (query, headers) = (http.query_string(), http.headers());
    let request = match large {
        None => ApiRequest::parse(method, path, query, headers, body, config, of_tenant)?,
        Some(large) => {
            let parsed = large.parse((method, path, query), headers, &snapshot.config, of_tenant);
            Box::pin(parsed).await?
        }
    };
    timing.end_stage("parse");
    let search_path = snapshot
        .search_path(&request.schema)
        .ok_or_else(|| RequestError::unknown_schema(request.schema.clone(), &config.schemas))?;
    let catalog = worker.cache.find_catalog(snapshot, &request.schema).await?;
    let memory = worker.pool.memory();
    let plan = match large {
        None => Plan::new(request, &catalog, config, memory)?,
        Some(large) => Box::pin(large.plan(request, &catalog, &snapshot.config, memory)).await?,
    };
    timing.end_stage("plan");
    Ok(Planned {
        plan,
        search_path,
        catalog,
    })
}

/// Runs the stages sql, execute and respond on a plan.
async fn run_plan(
    plan: Plan,
    execution: &Execution<'_>,
    roots: (&RootCache, &Arc<Catalog>, &Arc<EffectiveConfig>),
    http: &HttpRequest,
    mut timing: Timing,
) -> Result<HttpResponse, RestError> {
    let config = execution.config;
    match plan {
        Plan::Query(plan) => {
            let statements = sql::write_statements(&plan);
            let outcome = execution.run(&plan, statements).await?;
            timing.end_stage("transaction");
            respond::render_outcome(&plan, outcome, config.error_verbosity, timing)
        }
        Plan::Root(root) => {
            let statement = openapi::write_privilege_query(&root.session.schema);
            let rows = execution.read(&root.session, &statement).await?;
            timing.end_stage("transaction");
            let host = read_host(http, config);
            Ok(openapi::render_root(&root, roots, &rows, &host, timing))
        }
        Plan::Describe { allow } => {
            timing.end_stage("transaction");
            Ok(respond::render_allow(&allow, timing))
        }
    }
}

/// The host by which the client reached us, for the OpenAPI document. What the client says of proxies counts only behind a
/// trusted one, which the gateway knows; standing alone there is none.
fn read_host(http: &HttpRequest, config: &EffectiveConfig) -> String {
    if config.standalone {
        let host = http.headers().get(header::HOST);
        return host
            .and_then(|host| host.to_str().ok())
            .unwrap_or_default()
            .to_owned();
    }
    let origin = Caller::extract(http).public_origin(http);
    origin
        .split_once("://")
        .map_or(origin.clone(), |(_, host)| host.to_owned())
}

/// The caller's token. Behind the gateway it is verified already, and `jwt-secret` is one more key for tokens that none
/// of the project's keys has signed; standing alone, `jwt-secret` is the only key.
///
/// # Errors
/// PGRST300 for a token without a key to verify it by, PGRST301 and PGRST303 for a token that is refused.
fn verify_bearer(http: &HttpRequest, config: &EffectiveConfig) -> Result<Bearer, AuthError> {
    if config.standalone {
        return match (bearer_token(http), &config.verifier) {
            (None, _) => Ok(Bearer::None),
            (Some(_), None) => Err(AuthError::NoSecret),
            (Some(token), Some(verifier)) => verifier
                .verify(token)
                .map(Bearer::Valid)
                .map_err(AuthError::Token),
        };
    }
    // Only these errors can mean that another key signed the token; an expired token stays refused.
    let bearer = Caller::extract(http).bearer().clone();
    if let Bearer::Invalid(error) = &bearer
        && error.may_be_of_another_key()
        && let (Some(token), Some(verifier)) = (bearer_token(http), &config.verifier)
        && let Ok(claims) = verifier.verify(token)
    {
        return Ok(Bearer::Valid(claims));
    }
    Ok(bearer)
}

/// Returns the text after the scheme `Bearer`, in upper or lower case; empty when there is none. Other schemes are ignored.
fn bearer_token(http: &HttpRequest) -> Option<&str> {
    // Compat: `Basic` and other schemes are ignored rather than refused, so such requests run as the anonymous role.
    let value = http.headers().get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Headers and cookies as SQL reads them.
fn request_texts(http: &HttpRequest) -> RequestTexts {
    RequestTexts {
        headers: headers_json(http.headers()),
        cookies: cookies_json(http.headers()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_output<A, B, C, F>(_function: impl FnOnce(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    /// Every request allocates its future and copies it there, which for 18 kB once was a seventh of all instructions of a row by
    /// key. What is awaited rarely is boxed.
    #[test]
    fn the_future_of_a_request_stays_small() {
        let size = size_of_output(
            |worker: &'static Worker, request: &'static HttpRequest, payload: web::Payload| {
                serve_request(worker, request, payload)
            },
        );

        assert!(size <= 4_096, "{size} bytes");
    }
}
