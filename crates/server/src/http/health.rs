//! `/health/live` and `/health/ready`.
//!
//! "Live" means that the process responds. "Ready" means that it can serve requests: the database responds and the
//! catalog is loaded, and it has not announced its stop. Load balancers use `/health/ready`. A supervisor that restarts
//! the process uses `/health/live`, because a restart does not repair a database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, web};
use deadpool_postgres::{Pool, PoolError};
use selvedge_gateway::{Drain, list_panicked_tasks};
use selvedge_postgres::DiskState;
use serde::Serialize;
use serde_json::json;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;

use super::metrics::WRITABLE;

/// Why the database accepts no writes; null when it does. A setting of the database or the login counts for sessions that begin after it, and this
/// session stays, so the settings are read as a login does: the most specific one, or else that of the configuration.
const WRITES: &str = "select case when pg_catalog.pg_is_in_recovery() then 'the database is a standby, or recovers' \
    when coalesce((select split_part(line, '=', 2)::boolean from pg_catalog.pg_db_role_setting as given, unnest(given.setconfig) as line \
      where lower(split_part(line, '=', 1)) = 'default_transaction_read_only' \
      and given.setdatabase in (0, (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database())) \
      and given.setrole in (0, (select oid from pg_catalog.pg_roles where rolname = session_user)) \
      order by given.setrole <> 0 desc, given.setdatabase <> 0 desc limit 1), \
      (select setting = 'on' and source not in ('global', 'database', 'user', 'database user') from pg_catalog.pg_settings \
       where name = 'default_transaction_read_only')) \
    then 'the database is read-only (default_transaction_read_only)' end";

/// How often the database is asked for the metric.
const WATCH_INTERVAL: Duration = Duration::from_secs(10);

/// How long a check may take before it counts as failed.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns why the catalog cannot be used; `None` when it can.
pub type CatalogCheck = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// Returns why the message broker cannot be used; `None` when it can.
pub type BrokerCheck = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// The checks behind `/health/ready`.
pub struct Health {
    /// A pool of one connection, so that checks do not wait behind requests. It is kept: for another one PostgreSQL may have no place left.
    database: Pool,
    catalog: CatalogCheck,
    /// `None` for a node that runs alone.
    broker: Option<BrokerCheck>,
    /// Whether the embedded PostgreSQL has ended and is being restarted.
    is_restarting: AtomicBool,
    /// The disk of the database, where it is on this machine.
    disk: DiskState,
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
            disk: DiskState::default(),
            drain,
        }
    }

    /// Reports also the room on this disk.
    #[must_use]
    pub fn with_disk(mut self, disk: &DiskState) -> Self {
        self.disk = disk.clone();
        self
    }

    fn check_disk(&self) -> Option<Check> {
        self.disk.level().warning().map(Check::degraded)
    }

    /// Sets whether the embedded PostgreSQL has ended and is being restarted.
    pub fn set_database_restarting(&self, is_restarting: bool) {
        self.is_restarting.store(is_restarting, Ordering::Relaxed);
    }

    /// Asks the database, until the process ends, whether it accepts writes, for the metric.
    pub async fn watch_writes(&self) {
        loop {
            self.check_database().await.ok();
            tokio::time::sleep(WATCH_INTERVAL).await;
        }
    }

    /// Why requests cannot be answered; `None` when they can.
    pub async fn find_fault(&self) -> Option<String> {
        match self.check_database().await {
            Ok(_) => (self.catalog)(),
            Err(reason) => Some(reason),
        }
    }

    /// Asks the database, and notes for the metric whether it accepts writes.
    async fn check_database(&self) -> Result<Answer, String> {
        let answer = self.ask_database().await;
        // A check that gets no connection says nothing about writes.
        if !matches!(answer, Ok(Answer::NoConnectionLeft)) {
            WRITABLE.set(i64::from(matches!(answer, Ok(Answer::Writable))));
        }
        answer
    }

    async fn ask_database(&self) -> Result<Answer, String> {
        if self.is_restarting.load(Ordering::Relaxed) {
            return Err("PostgreSQL has ended and is started again".to_owned());
        }
        let query = async {
            let client = match self.database.get().await {
                Ok(client) => client,
                Err(error) if is_full(&error) => return Ok(Answer::NoConnectionLeft),
                Err(error) => return Err(error.to_string()),
            };
            let answer = client
                .simple_query(WRITES)
                .await
                .map_err(|error| error.to_string())?;
            let fault = answer.iter().find_map(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            });
            Ok(fault.map_or(Answer::Writable, Answer::ReadOnly))
        };
        tokio::time::timeout(CHECK_TIMEOUT, query)
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", CHECK_TIMEOUT.as_secs())))
    }
}

/// What a database says that responds.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Writable,
    /// Why nothing can be written.
    ReadOnly(String),
    /// It responds, and refuses a login because there are too many. The services go on with the connections that they have.
    NoConnectionLeft,
}

/// Whether the database refused a login because there are too many.
fn is_full(error: &PoolError) -> bool {
    matches!(error, PoolError::Backend(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
}

/// `{"status":"ok"}`, `{"status":"failed","reason":…}`, or `degraded` with a reason.
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

    /// The reason of `degraded`: requests are served, but something is missing.
    fn degraded(reason: &str) -> Self {
        Self {
            status: "degraded",
            reason: Some(reason.to_owned()),
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
    /// Only while there is little room.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<Check>,
    /// Only while there is a task to report.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Check>,
}

/// `GET /health/ready`: 200, or 503, with `{"status", "version", "checks": {"database", "writes"?, "catalog", "broker"?, "disk"?, "tasks"?}}`. The
/// broker between several nodes does not decide: without it a node still serves everything but other nodes' broadcasts, and the
/// status is then `degraded`; so it is while the database accepts reads only, its disk has little room, or it has no connection left for the check, and for ten minutes after a background task has panicked, which is started again. A node that
/// is going to stop answers 503 with the status `stopping`, and still serves.
pub async fn report_readiness(health: web::Data<Health>) -> HttpResponse {
    let (database, writes) = match health.check_database().await {
        Ok(Answer::Writable) => (Check::from_reason(None), None),
        Ok(Answer::ReadOnly(reason)) => (Check::from_reason(None), Some(Check::from_reason(Some(reason)))),
        Ok(Answer::NoConnectionLeft) => (
            Check::degraded("PostgreSQL has no connection left for this check"),
            None,
        ),
        Err(reason) => (Check::from_reason(Some(reason)), None),
    };
    let catalog = Check::from_reason((health.catalog)());
    let broker = health.broker.as_ref().map(|check| Check::from_reason(check()));
    let is_ready = [&database, &catalog].iter().all(|check| check.status != "failed");
    let panicked = list_panicked_tasks();
    let reason = format!("panicked lately and was started again: {}", panicked.join(", "));
    let tasks = (!panicked.is_empty()).then(|| Check::from_reason(Some(reason)));
    let disk = health.check_disk();
    let is_degraded = tasks.is_some()
        || disk.is_some()
        || writes.is_some()
        || database.reason.is_some()
        || broker.as_ref().is_some_and(|check| check.reason.is_some());
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
            "checks": Checks { database, writes, catalog, broker, disk, tasks },
        }),
    )
}

fn uncached_json(code: StatusCode, body: serde_json::Value) -> HttpResponse {
    HttpResponse::build(code)
        // A cached answer would hide an outage from a load balancer behind a proxy.
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(body)
}

#[cfg(test)]
mod tests {
    use selvedge_postgres::{Database, Login, Logins};
    use selvedge_testing::TestDatabase;

    use super::*;

    async fn health_of(test: &TestDatabase) -> Health {
        let login = test.config("authenticator");
        let database = Database::new(Logins::with_single_login(login));
        let pool = database.pool(Login::Authenticator, 1);
        Health::new(pool, Arc::new(|| None), None, Drain::default())
    }

    async fn process_of(health: &Health) -> i32 {
        let client = health.database.get().await.expect("a login");
        let row = client.query_one("select pg_backend_pid()", &[]).await;
        row.expect("it answers").get(0)
    }

    #[actix_web::test]
    async fn a_check_reads_settings_for_new_sessions_on_the_connection_that_it_keeps() {
        let test = TestDatabase::create().await;
        let health = health_of(&test).await;
        let superuser = test.superuser().await;
        let process = process_of(&health).await;
        let name = test.name();
        let of_database = format!("alter database {name} set default_transaction_read_only = on");
        let of_login =
            format!("alter role authenticator in database {name} set default_transaction_read_only = off");

        let before = health.ask_database().await;
        superuser.batch_execute(&of_database).await.expect("set");
        let read_only = health.ask_database().await;
        superuser
            .batch_execute(&format!("set default_transaction_read_only = off; {of_login}"))
            .await
            .expect("set");
        let excepted = health.ask_database().await;

        assert_eq!(before, Ok(Answer::Writable));
        assert!(matches!(read_only, Ok(Answer::ReadOnly(_))), "{read_only:?}");
        assert_eq!(excepted, Ok(Answer::Writable));
        assert_eq!(process_of(&health).await, process);
    }

    #[actix_web::test]
    async fn a_database_without_a_connection_left_is_not_a_database_that_is_away() {
        let test = TestDatabase::create().await;
        let (kept, late) = (health_of(&test).await, health_of(&test).await);
        assert_eq!(kept.ask_database().await, Ok(Answer::Writable));
        let limit = format!("alter database {} connection limit 0", test.name());
        test.superuser().await.batch_execute(&limit).await.expect("set");

        assert_eq!(kept.ask_database().await, Ok(Answer::Writable));
        assert_eq!(late.ask_database().await, Ok(Answer::NoConnectionLeft));
        let answer = report_readiness(web::Data::new(late)).await;
        assert_eq!(answer.status(), StatusCode::OK);
    }
}
