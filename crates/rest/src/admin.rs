//! The admin server: whether the service lives and is ready, its counters, and its catalog.
//!
//! Source: REST contract §8.8. Meant for a port that only operators reach.

use crate::catalog::Catalog;
use crate::state::RestState;
use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, web};
use selvedge_postgres::Database;
use serde_json::{Value, json};
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpStream, UnixStream};

/// How long the service's own socket may take to let somebody in.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Where the service listens, to see whether it does.
#[derive(Debug, Clone)]
pub enum MainSocket {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// What the admin server shows.
pub struct Admin {
    pub state: Arc<RestState>,
    pub database: Arc<Database>,
    pub main: MainSocket,
    /// Connections that requests may use, of all workers together.
    pub pool_max: usize,
}

/// Mounts the admin server's paths; for every method, as probes like to ask with HEAD.
pub fn configure_admin(admin: Arc<Admin>) -> impl FnOnce(&mut web::ServiceConfig) {
    move |config| {
        config
            .app_data(web::Data::from(admin))
            .route("/live", web::to(live))
            .route("/ready", web::to(ready))
            .route("/metrics", web::to(metrics))
            .route("/schema_cache", web::to(schema_cache))
            .default_service(web::to(|| async { HttpResponse::NotFound().finish() }));
    }
}

impl MainSocket {
    async fn lets_in(&self) -> bool {
        let connect = async {
            match self {
                Self::Tcp(address) => TcpStream::connect(address).await.map(drop),
                Self::Unix(path) => UnixStream::connect(path).await.map(drop),
            }
        };
        matches!(tokio::time::timeout(CONNECT_TIMEOUT, connect).await, Ok(Ok(())))
    }
}

/// 200, or 500 when the service's socket lets nobody in.
async fn live(admin: web::Data<Admin>) -> HttpResponse {
    status(if admin.main.lets_in().await { 200 } else { 500 })
}

/// 200 with a current catalog, 503 without, 500 when the service's socket lets nobody in.
async fn ready(admin: web::Data<Admin>) -> HttpResponse {
    if !admin.main.lets_in().await {
        return status(500);
    }
    let health = admin.state.health();
    let is_current = health.loaded && health.listening && health.failure.is_none();
    status(if is_current { 200 } else { 503 })
}

fn status(code: u16) -> HttpResponse {
    let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    HttpResponse::build(code)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

/// Counters in the text form that Prometheus scrapes, by PostgREST's names.
async fn metrics(admin: web::Data<Admin>) -> HttpResponse {
    let health = admin.state.health();
    let pool = admin.database.pool_use().report();
    let tokens = admin.state.token_cache();
    let most = i64::try_from(admin.pool_max).unwrap_or(i64::MAX);
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, lines: &[(&str, f64)]| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in lines {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "counters stay far below 2^53")]
    let number = |value: u64| value as f64;
    #[expect(clippy::cast_precision_loss, reason = "gauges are small")]
    let gauge = |value: i64| value.max(0) as f64;
    metric(
        "pgrst_schema_cache_query_time_seconds",
        "gauge",
        "The query time in seconds of the last schema cache load",
        &[("", health.load_time.as_secs_f64())],
    );
    metric(
        "pgrst_schema_cache_loads_total",
        "counter",
        "The total number of times the schema cache was loaded",
        &[
            ("{status=\"SUCCESS\"}", number(health.loads)),
            ("{status=\"FAIL\"}", number(health.failures)),
        ],
    );
    metric(
        "pgrst_db_pool_timeouts_total",
        "counter",
        "The total number of pool connection timeouts",
        &[("", number(pool.timeouts))],
    );
    metric(
        "pgrst_db_pool_available",
        "gauge",
        "Available connections in the pool",
        &[("", gauge(most.saturating_sub(pool.running)))],
    );
    metric(
        "pgrst_db_pool_waiting",
        "gauge",
        "Requests waiting to acquire a pool connection",
        &[("", gauge(pool.waiting))],
    );
    metric(
        "pgrst_db_pool_max",
        "gauge",
        "Max pool connections",
        &[("", gauge(most))],
    );
    metric(
        "pgrst_jwt_cache_requests_total",
        "counter",
        "The total number of JWT cache lookups",
        &[("", number(tokens.lookups))],
    );
    metric(
        "pgrst_jwt_cache_hits_total",
        "counter",
        "The total number of JWT cache hits",
        &[("", number(tokens.hits))],
    );
    metric(
        "pgrst_jwt_cache_evictions_total",
        "counter",
        "The total number of JWT cache evictions",
        &[("", number(tokens.evictions))],
    );
    HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(text)
}

/// The catalog as JSON, or 503 before there is one.
async fn schema_cache(admin: web::Data<Admin>) -> HttpResponse {
    match &admin.state.snapshot().catalog {
        Some(catalog) => HttpResponse::Ok()
            .content_type("application/json; charset=utf-8")
            .body(document(catalog).to_string()),
        None => status(503),
    }
}

fn document(catalog: &Catalog) -> Value {
    let tables: Vec<Value> = catalog
        .all_relations()
        .into_iter()
        .map(|relation| {
            let columns: Vec<Value> = relation
                .columns
                .values()
                .map(|column| {
                    json!({
                        "colName": column.name,
                        "colDescription": column.comment,
                        "colNullable": column.nullable,
                        "colType": column.data_type,
                        "colNominalType": column.declared_type,
                        "colMaxLen": column.max_length,
                        "colDefault": column.default,
                        "colEnum": column.enum_labels,
                    })
                })
                .collect();
            json!({
                "tableSchema": relation.name.schema,
                "tableName": relation.name.name,
                "tableDescription": relation.comment,
                "tableIsView": relation.is_view,
                "tableInsertable": relation.insertable,
                "tableUpdatable": relation.updatable,
                "tableDeletable": relation.deletable,
                "tablePKCols": relation.primary_key,
                "tableColumns": columns,
            })
        })
        .collect();
    let relationships: Vec<Value> = catalog
        .all_relationships()
        .into_iter()
        .map(|relationship| {
            json!({
                "relTable": relationship.origin.to_string(),
                "relForeignTable": relationship.target.to_string(),
                "relIsSelf": relationship.is_self,
                "relTableIsView": relationship.origin_is_view,
                "relFTableIsView": relationship.target_is_view,
                "relCardinality": format!("{:?}", relationship.cardinality),
            })
        })
        .collect();
    let routines: Vec<Value> = catalog
        .all_functions()
        .into_iter()
        .map(|function| {
            let parameters: Vec<Value> = function
                .parameters
                .iter()
                .map(|parameter| {
                    json!({
                        "ppName": parameter.name,
                        "ppType": parameter.type_name,
                        "ppReq": parameter.required,
                        "ppVar": parameter.variadic,
                    })
                })
                .collect();
            json!({
                "pdSchema": function.name.schema,
                "pdName": function.name.name,
                "pdDescription": function.comment,
                "pdParams": parameters,
                "pdReturnType": function.returns.name.to_string(),
                "pdReturnsSet": function.returns.is_set,
                "pdVolatility": format!("{:?}", function.volatility),
            })
        })
        .collect();
    json!({ "dbTables": tables, "dbRelationships": relationships, "dbRoutines": routines })
}
