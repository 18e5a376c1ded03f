//! Carries jobs out, one after the other on each node.

use std::sync::Arc;
use std::time::Duration;

use actix_web::ResponseError as _;
use actix_web::http::StatusCode;
use tokio::time::timeout;
use tokio_postgres::Client;

use super::job::Job;
use super::objects::Objects;
use super::progress;
use crate::error::ConsoleError;
use crate::services::ThreadApi;
use crate::state::{ConsoleState, Level};

/// How often a node looks for jobs that another node, or its own last run, has left unfinished.
const LOOK_INTERVAL: Duration = Duration::from_secs(15);

/// Carries out jobs as they come. Call it on a thread that may make the API's request handler.
pub(crate) async fn run_forever(state: Arc<ConsoleState>) {
    // Without the API's services in this process there is no storage service to call.
    if state.api().is_err() {
        return;
    }
    // Apart from that of the console's worker: database connections of the API belong to the thread that made them.
    let api = ThreadApi::default();
    loop {
        if let Err(error) = run_waiting(&state, &api).await {
            tracing::warn!(%error, "a job on files waits");
        }
        // A new job wakes it at once.
        let _ = timeout(LOOK_INTERVAL, state.storage_job_added.notified()).await;
    }
}

/// Carries out the jobs that wait, until there is none.
async fn run_waiting(state: &ConsoleState, api: &ThreadApi) -> Result<(), ConsoleError> {
    // Asked on a connection of the pool, so that an idle console keeps none of its own for this.
    let waiting = "select exists (
        select from selvedge_console.storage_jobs where state in ('waiting', 'running', 'cancelling'))";
    let row = state.database.service().await?.query_one(waiting, &[]).await?;
    if !row.get::<_, bool>(0) {
        return Ok(());
    }
    let mut lock = state.database.dedicated_service().await?;
    let objects = Objects { state, api };
    while let Some(mut job) = progress::take_job(&lock).await? {
        match run_job(&objects, &mut lock, &mut job).await {
            Ok(()) => {}
            // The job goes on when the database or the services are back.
            Err(error) if error.status_code() == StatusCode::SERVICE_UNAVAILABLE => return Err(error),
            Err(error) => progress::write_end(&mut lock, &job, "failed", Some(&error.to_string())).await?,
        }
        progress::release_job(&lock, job.id).await?;
    }
    Ok(())
}

/// Carries a job to its end.
async fn run_job(objects: &Objects<'_>, lock: &mut Client, job: &mut Job) -> Result<(), ConsoleError> {
    let id = job.id;
    if job.total.is_none() {
        let reader = objects.state.database.connection(Level::Admin).await?;
        let total = progress::count_files(&reader, &job.bucket, &job.steps).await?;
        progress::write_begin(lock, id, total).await?;
    }
    // A batch that was begun by an earlier run comes first.
    let mut is_resumed = job.batch.is_some();
    loop {
        if job.is_cancelled {
            return progress::write_end(lock, job, "cancelled", None).await;
        }
        if job.batch.is_none() && !plan_batch(objects.state, lock, job).await? {
            return progress::write_end(lock, job, "done", None).await;
        }
        let failures = objects.run_batch(job, is_resumed).await?;
        progress::write_batch(lock, job, &failures).await?;
        is_resumed = false;
        match progress::read_job(lock, id).await? {
            // Read again, because somebody may have cancelled it meanwhile.
            Some(next) => *job = next,
            None => return Ok(()),
        }
    }
}

/// Writes down the files that come next; false when there are none left.
async fn plan_batch(state: &ConsoleState, lock: &Client, job: &mut Job) -> Result<bool, ConsoleError> {
    while let Some(step) = job.steps.get(job.step) {
        let reader = state.database.connection(Level::Admin).await?;
        let names = progress::list_files(&reader, &job.bucket, step, &job.last_name).await?;
        if names.is_empty() {
            // Names of the next folder may sort before the last one of this folder.
            job.step += 1;
            job.last_name.clear();
        } else {
            job.batch = Some(names);
            progress::write_plan(lock, job).await?;
            return Ok(true);
        }
    }
    Ok(false)
}
