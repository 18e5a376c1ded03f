//! The admin server: liveness, readiness, metrics and the schema cache.
//!
//! Source: REST contract §8.8. Meant for a port that only operators reach.

mod metrics;
mod schema_dump;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, web};
use selvedge_postgres::Database;
use tokio::net::{TcpStream, UnixStream};

use crate::schema_cache::SchemaCache;

/// How long the service's own socket may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Where the service listens: probes connect to it to see whether it accepts connections.
#[derive(Debug, Clone)]
pub enum MainSocket {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// The state on which the admin server reports.
pub struct Admin {
    pub cache: Arc<SchemaCache>,
    /// Read for its counters of connections.
    pub database: Arc<Database>,
    /// The service's own socket.
    pub main: MainSocket,
    /// Connections that requests may use, of all workers together.
    pub pool_max: usize,
}

/// The catalog as JSON, as `/schema_cache` answers it; `None` before there is one.
pub fn dump_schema(cache: &SchemaCache) -> Option<String> {
    let snapshot = cache.snapshot();
    let catalog = snapshot.catalog.as_ref()?;
    Some(schema_dump::dump_catalog(catalog).to_string())
}

/// Mounts the admin server's paths. They answer every method, because load balancers often probe by HEAD.
pub fn configure_admin(admin: Arc<Admin>) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
    Box::new(move |config| {
        config
            .app_data(web::Data::from(admin))
            .route("/live", web::to(get_live))
            .route("/ready", web::to(get_ready))
            .route("/metrics", web::to(get_metrics))
            .route("/schema_cache", web::to(schema_cache))
            .default_service(web::to(|| async { HttpResponse::NotFound().finish() }));
    })
}

impl MainSocket {
    /// Whether the socket accepts a connection in time.
    async fn accepts_connections(&self) -> bool {
        let connect = async {
            match self {
                Self::Tcp(address) => TcpStream::connect(address).await.map(drop),
                Self::Unix(path) => UnixStream::connect(path).await.map(drop),
            }
        };
        // A listener whose queue is full neither accepts nor refuses, so the wait has a limit.
        matches!(tokio::time::timeout(CONNECT_TIMEOUT, connect).await, Ok(Ok(())))
    }
}

/// `/live`: 200, or 500 when the service's socket accepts no connection.
async fn get_live(admin: web::Data<Admin>) -> HttpResponse {
    empty_response(if admin.main.accepts_connections().await {
        200
    } else {
        500
    })
}

/// `/ready`: 200 with a current catalog, 503 without, 500 when the service's socket accepts no connection.
async fn get_ready(admin: web::Data<Admin>) -> HttpResponse {
    if !admin.main.accepts_connections().await {
        return empty_response(500);
    }
    let health = admin.cache.health();
    // A catalog that misses notifications, or whose last reload failed, may be outdated: traffic should go elsewhere.
    let is_current = health.loaded && health.listening && health.failure.is_none();
    empty_response(if is_current { 200 } else { 503 })
}

/// A response without body, which no cache may keep.
fn empty_response(code: u16) -> HttpResponse {
    let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    HttpResponse::build(code)
        // A cached response would report an earlier state.
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

/// `/metrics`: counters and gauges in the text form that Prometheus scrapes.
async fn get_metrics(admin: web::Data<Admin>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(metrics::render_metrics(
            &admin.cache,
            &admin.database,
            admin.pool_max,
        ))
}

/// `/schema_cache`: the catalog as JSON, or 503 before there is one.
async fn schema_cache(admin: web::Data<Admin>) -> HttpResponse {
    match dump_schema(&admin.cache) {
        Some(text) => HttpResponse::Ok()
            .content_type("application/json; charset=utf-8")
            .body(text),
        None => empty_response(503),
    }
}
