//! `/api/storage/jobs`: creates, lists and cancels storage jobs.

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::job::COLUMNS;
use super::request::JobRequest;
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// How many jobs are listed, the newest first.
const MOST_LISTED: i64 = 50;

/// `GET /api/storage/jobs` → `{jobs: [{id, kind, bucket, target_bucket, first, steps, state, total, done, failed, …}]}`
pub(super) async fn list(state: web::Data<ConsoleState>) -> Result<HttpResponse, ConsoleError> {
    let client = state.database.service().await?;
    let sql = format!(
        "select {COLUMNS} from selvedge_console.selvedge_storage_jobs order by created_at desc limit $1"
    );
    let rows = client.query(&sql, &[&MOST_LISTED]).await?;
    let jobs: Vec<Value> = rows.iter().map(job_json).collect();
    Ok(HttpResponse::Ok().json(json!({ "jobs": jobs })))
}

/// `GET /api/storage/jobs/{id}` → the job with `failures: [{name, message}]`
pub(super) async fn show(
    state: web::Data<ConsoleState>,
    id: web::Path<Uuid>,
) -> Result<HttpResponse, ConsoleError> {
    let client = state.database.service().await?;
    let sql = format!("select {COLUMNS} from selvedge_console.selvedge_storage_jobs where id = $1");
    let row = client.query_opt(&sql, &[&*id]).await?.ok_or_else(unknown)?;
    let failures = client
        .query(
            "select name, message from selvedge_console.selvedge_storage_job_failures where job = $1 order by name",
            &[&*id],
        )
        .await?;
    let read = |row: &tokio_postgres::Row| json!({ "name": row.get::<_, String>(0), "message": row.get::<_, String>(1) });
    let mut job = job_json(&row);
    job["failures"] = failures.iter().map(read).collect();
    Ok(HttpResponse::Ok().json(job))
}

/// `POST /api/storage/jobs {kind, bucket, target_bucket?, steps: [{from, to?}]}` → 202 with the job
pub(super) async fn create(
    state: web::Data<ConsoleState>,
    session: Session,
    wish: web::Json<JobRequest>,
) -> Result<HttpResponse, ConsoleError> {
    wish.check()?;
    state.api()?;
    check_buckets(&state, &session, &wish).await?;
    let mut client = state.database.service().await?;
    let transaction = client.transaction().await?;
    // Failure lists can be long, so jobs that ended over a month ago are deleted. The audit keeps an entry of each job.
    transaction
        .execute(
            "delete from selvedge_console.selvedge_storage_jobs where finished_at < now() - interval '30 days'",
            &[],
        )
        .await?;
    // The steps are sent as text, as they are read (`steps::text`).
    let sql = format!(
        "insert into selvedge_console.selvedge_storage_jobs (kind, bucket, target_bucket, steps, account, level, address, request_id)
         values ($1, $2, $3, $4::text::jsonb, $5, $6, $7, $8) returning {COLUMNS}"
    );
    let row = transaction
        .query_one(
            &sql,
            &[
                &wish.kind.name(),
                &wish.bucket,
                &wish.target_bucket,
                &serde_json::to_string(&wish.steps)?,
                &session.account.as_deref(),
                &session.level.name(),
                &&*session.address,
                &&*session.request_id,
            ],
        )
        .await?;
    let action = format!("storage.job.{}", wish.kind.name());
    let target = wish.describe();
    let entry = AuditEntry::new(&action, &target).with_result("started");
    audit::write_by_service(&state, &*transaction, &session, entry).await?;
    transaction.commit().await?;
    state.storage_job_added.notify_one();
    Ok(HttpResponse::Accepted().json(job_json(&row)))
}

/// `DELETE /api/storage/jobs/{id}` → 204: cancels a running job, or removes an ended one from the list.
pub(super) async fn end(
    state: web::Data<ConsoleState>,
    session: Session,
    id: web::Path<Uuid>,
) -> Result<HttpResponse, ConsoleError> {
    let mut client = state.database.service().await?;
    let transaction = client.transaction().await?;
    let cancelled = transaction
        .execute(
            "update selvedge_console.selvedge_storage_jobs set state = 'cancelling' where id = $1 and finished_at is null",
            &[&*id],
        )
        .await?;
    // The job has ended, so it is removed from the list. Its audit entries stay.
    if cancelled == 0 {
        let removed = transaction
            .execute(
                "delete from selvedge_console.selvedge_storage_jobs where id = $1",
                &[&*id],
            )
            .await?;
        if removed == 0 {
            return Err(unknown());
        }
    }
    let action = match cancelled {
        0 => "storage.job.remove",
        _ => "storage.job.cancel",
    };
    let target = format!("job {}", *id);
    audit::write_by_service(&state, &*transaction, &session, AuditEntry::new(action, &target)).await?;
    transaction.commit().await?;
    // Wakes the runner, which ends a waiting job immediately.
    state.storage_job_added.notify_one();
    Ok(HttpResponse::NoContent().finish())
}

/// Checks that the buckets exist: without the source a job would have no files, without the target every file would fail.
async fn check_buckets(
    state: &ConsoleState,
    session: &Session,
    wish: &JobRequest,
) -> Result<(), ConsoleError> {
    let client = state.database.connection(session.level).await?;
    for bucket in std::iter::once(&wish.bucket).chain(&wish.target_bucket) {
        let found = client
            .query_opt("select from storage.buckets where id = $1", &[bucket])
            .await?;
        if found.is_none() {
            return Err(ConsoleError::not_found(format!("There is no bucket {bucket}")));
        }
    }
    Ok(())
}

fn unknown() -> ConsoleError {
    ConsoleError::not_found("There is no such job")
}

/// Renders a row as the JSON of the API.
fn job_json(row: &Row) -> Value {
    let steps: Value = serde_json::from_str(row.get(4)).unwrap_or_default();
    let count = steps.as_array().map_or(0, Vec::len);
    json!({
        "id": row.get::<_, Uuid>(0),
        "kind": row.get::<_, String>(1),
        "bucket": row.get::<_, String>(2),
        "target_bucket": row.get::<_, Option<String>>(3),
        "first": steps.get(0),
        "steps": count,
        "state": row.get::<_, String>(5),
        "account": row.get::<_, Option<String>>(6),
        "created_at": row.get::<_, String>(10),
        "finished_at": row.get::<_, Option<String>>(11),
        "total": row.get::<_, Option<i64>>(12),
        "done": row.get::<_, i64>(13),
        "failed": row.get::<_, i64>(14),
        "error": row.get::<_, Option<String>>(18),
    })
}
