//! Liveness and readiness, with reasons.
//!
//! Live: the process answers. Ready: it can serve requests, which needs the database and a loaded catalog.
//! A load balancer asks `/health/ready`; a supervisor that restarts asks `/health/live`, as a restart does
//! not bring a database back.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, web};
use deadpool_postgres::Pool;
use serde::Serialize;
use serde_json::json;

/// How long a check may take before it counts as failed.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Says why the catalog is not usable, or nothing when it is.
pub type CatalogCheck = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// What readiness looks at.
pub struct Health {
    /// One connection, kept for the checks.
    database: Pool,
    catalog: CatalogCheck,
}

impl Health {
    /// Checks on these.
    pub fn new(database: Pool, catalog: CatalogCheck) -> Self {
        Self { database, catalog }
    }

    async fn check_database(&self) -> Result<(), String> {
        let ask = async {
            let client = self.database.get().await.map_err(|error| error.to_string())?;
            client
                .simple_query("select 1")
                .await
                .map_err(|error| error.to_string())?;
            Ok(())
        };
        tokio::time::timeout(CHECK_TIMEOUT, ask)
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
    fn of(reason: Option<String>) -> Self {
        Self {
            status: if reason.is_none() { "ok" } else { "failed" },
            reason,
        }
    }
}

/// `GET /health/live`
pub async fn report_liveness() -> HttpResponse {
    answer(
        StatusCode::OK,
        json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }),
    )
}

/// `GET /health/ready`: 200, or 503 with what is missing.
pub async fn report_readiness(health: web::Data<Health>) -> HttpResponse {
    let database = Check::of(health.check_database().await.err());
    let catalog = Check::of((health.catalog)());
    let is_ready = [&database, &catalog].iter().all(|check| check.reason.is_none());
    let (code, status) = if is_ready {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
    };
    answer(
        code,
        json!({
            "status": status,
            "version": env!("CARGO_PKG_VERSION"),
            "checks": { "database": database, "catalog": catalog },
        }),
    )
}

fn answer(code: StatusCode, body: serde_json::Value) -> HttpResponse {
    HttpResponse::build(code)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .json(body)
}
