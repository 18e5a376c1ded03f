//! `/health/live` and `/health/ready`.
//!
//! "Live" means that the process responds. "Ready" means that it can serve requests: the database responds and the
//! catalog is loaded, and it has not announced its stop. Load balancers use `/health/ready`. A supervisor that restarts
//! the process uses `/health/live`, because a restart does not repair a database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, web};
use deadpool_postgres::{Object, Pool};
use prometheus::IntGauge;
use selvedge_gateway::{Drain, list_panicked_tasks};
use serde::Serialize;
use serde_json::json;
use tokio_postgres::SimpleQueryMessage;

/// Why the database accepts no writes; null when it does.
const WRITES: &str = "select case when pg_catalog.pg_is_in_recovery() then 'the database is a standby, or recovers' \
    when pg_catalog.current_setting('transaction_read_only') = 'on' then 'the database is read-only (default_transaction_read_only)' end";

/// How often the database is asked for the metric.
const WATCH_INTERVAL: Duration = Duration::from_secs(10);

/// A static, because the registry accepts each name only once.
static WRITABLE: LazyLock<IntGauge> = LazyLock::new(|| {
    let gauge = IntGauge::new(
        "selvedge_database_writable",
        "Whether the database accepts writes: 0 also while it does not answer, and while only a former primary does",
    );
    let gauge = gauge.expect("a valid name");
    prometheus::default_registry()
        .register(Box::new(gauge.clone()))
        .expect("registered once");
    gauge
});

/// How long a check may take before it counts as failed.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns why the catalog cannot be used; `None` when it can.
pub type CatalogCheck = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// Returns why the message broker cannot be used; `None` when it can.
pub type BrokerCheck = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// The checks behind `/health/ready`.
pub struct Health {
    /// A pool of one connection, so that checks do not wait behind requests.
    database: Pool,
    catalog: CatalogCheck,
    /// `None` for a node that runs alone.
    broker: Option<BrokerCheck>,
    /// Whether the embedded PostgreSQL has ended and is being restarted.
    is_restarting: AtomicBool,
    drain: Drain,
}

impl Health {
    /// A check of this database, this catalog and this message broker, which fails once `drain` has begun.
    pub fn new(database: Pool, catalog: CatalogCheck, broker: Option<BrokerCheck>, drain: Drain) -> Self {
        Self {
            database,
            catalog,
            broker,
            is_restarting: AtomicBool::new(false),
            drain,
        }
    }

    /// Sets whether the embedded PostgreSQL has ended and is being restarted.
    pub fn set_database_restarting(&self, is_restarting: bool) {
        self.is_restarting.store(is_restarting, Ordering::Relaxed);
    }

    /// Asks the database, until the process ends, whether it accepts writes, for the metric.
    pub async fn watch_writes(&self) {
        loop {
            self.check_database().await.ok();
            // A setting of the database counts for sessions that begin after it.
            if let Ok(client) = self.database.get().await {
                drop(Object::take(client));
            }
            tokio::time::sleep(WATCH_INTERVAL).await;
        }
    }

    /// Returns why nothing can be written; `Ok(None)` when it can.
    async fn check_database(&self) -> Result<Option<String>, String> {
        let answer = self.ask_database().await;
        WRITABLE.set(i64::from(matches!(answer, Ok(None))));
        answer
    }

    async fn ask_database(&self) -> Result<Option<String>, String> {
        if self.is_restarting.load(Ordering::Relaxed) {
            return Err("PostgreSQL has ended and is started again".to_owned());
        }
        let query = async {
            let client = self.database.get().await.map_err(|error| error.to_string())?;
            let answer = client
                .simple_query(WRITES)
                .await
                .map_err(|error| error.to_string())?;
            let fault = answer.iter().find_map(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            });
            Ok(fault)
        };
        tokio::time::timeout(CHECK_TIMEOUT, query)
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", CHECK_TIMEOUT.as_secs())))
    }
}

/// `{"status":"ok"}` or `{"status":"failed","reason":…}`.
#[derive(Serialize)]
struct Check {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Check {
    fn from_reason(reason: Option<String>) -> Self {
        Self {
            status: if reason.is_none() { "ok" } else { "failed" },
            reason,
        }
    }
}

/// `GET /health/live`: 200 with `{"status", "version"}`.
pub async fn report_liveness() -> HttpResponse {
    uncached_json(
        StatusCode::OK,
        json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }),
    )
}

/// The `checks` of the response.
#[derive(Serialize)]
struct Checks {
    database: Check,
    /// Only while nothing can be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    writes: Option<Check>,
    catalog: Check,
    #[serde(skip_serializing_if = "Option::is_none")]
    broker: Option<Check>,
    /// Only while there is a task to report.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Check>,
}

/// `GET /health/ready`: 200, or 503, with `{"status", "version", "checks": {"database", "writes"?, "catalog", "broker"?, "tasks"?}}`. The
/// broker between several nodes does not decide: without it a node still serves everything but other nodes' broadcasts, and the
/// status is then `degraded`; so it is while the database accepts reads only, and for ten minutes after a background task has panicked, which is started again. A node that
/// is going to stop answers 503 with the status `stopping`, and still serves.
pub async fn report_readiness(health: web::Data<Health>) -> HttpResponse {
    let answer = health.check_database().await;
    let writes = answer.as_ref().ok().cloned().flatten();
    let writes = writes.map(|reason| Check::from_reason(Some(reason)));
    let database = Check::from_reason(answer.err());
    let catalog = Check::from_reason((health.catalog)());
    let broker = health.broker.as_ref().map(|check| Check::from_reason(check()));
    let is_ready = [&database, &catalog].iter().all(|check| check.reason.is_none());
    let panicked = list_panicked_tasks();
    let reason = format!("panicked lately and was started again: {}", panicked.join(", "));
    let tasks = (!panicked.is_empty()).then(|| Check::from_reason(Some(reason)));
    let is_degraded =
        tasks.is_some() || writes.is_some() || broker.as_ref().is_some_and(|check| check.reason.is_some());
    let (code, status) = match (is_ready, is_degraded) {
        _ if health.drain.has_begun() => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
        (true, false) => (StatusCode::OK, "ok"),
        (true, true) => (StatusCode::OK, "degraded"),
        (false, _) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
    };
    uncached_json(
        code,
        json!({
            "status": status,
            "version": env!("CARGO_PKG_VERSION"),
            "checks": Checks { database, writes, catalog, broker, tasks },
        }),
    )
}

fn uncached_json(code: StatusCode, body: serde_json::Value) -> HttpResponse {
    HttpResponse::build(code)
        // A cached answer would hide an outage from a load balancer behind a proxy.
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(body)
}
