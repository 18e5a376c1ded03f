//! Runs storage jobs, one at a time on each node.

use std::sync::Arc;
use std::time::Duration;

use actix_web::ResponseError as _;
use actix_web::http::StatusCode;
use tokio::time::timeout;
use tokio_postgres::Client;

use super::job::Job;
use super::lock::{self, hold_lock_during};
use super::objects::Objects;
use super::progress;
use crate::error::ConsoleError;
use crate::services::ThreadApi;
use crate::state::{ConsoleState, Level};

/// How often a node looks for jobs that another node, or its own last process, left unfinished.
const LOOK_INTERVAL: Duration = Duration::from_secs(15);
/// How long after its start a node looks for jobs for the first time. Looking at once would open a database connection at the same time as
/// the API, whose first requests would wait longer for theirs.
const FIRST_LOOK_DELAY: Duration = Duration::from_secs(1);

/// Runs jobs as they are created. It must run on a thread with an actix runtime, where it creates the API's request handler.
pub(crate) async fn run_forever(state: Arc<ConsoleState>) {
    // This process does not run the storage service, so another one has to run the jobs.
    if state.api().is_err() {
        return;
    }
    // A handler of its own, because the API's database connections cannot be shared between threads.
    let api = ThreadApi::default();
    let mut delay = FIRST_LOOK_DELAY;
    loop {
        // Ends early when a job was added.
        let _ = timeout(delay, state.storage_job_added.notified()).await;
        if let Err(error) = run_waiting(&state, &api).await {
            tracing::warn!(%error, "a job on files waits");
        }
        delay = LOOK_INTERVAL;
    }
}

/// Runs unfinished jobs until there is none.
async fn run_waiting(state: &ConsoleState, api: &ThreadApi) -> Result<(), ConsoleError> {
    // Checked on a pooled connection, so that a dedicated one is only opened if there is a job.
    let waiting = "select exists (
        select from selvedge_console.selvedge_storage_jobs where state in ('waiting', 'running', 'cancelling'))";
    let row = state.database.service().await?.query_one(waiting, &[]).await?;
    if !row.try_get::<_, bool>(0)? {
        return Ok(());
    }
    let mut lock = lock::connect(state).await?;
    let objects = Objects { state, api };
    while let Some(mut job) = progress::take_job(&lock).await? {
        match run_job(&objects, &mut lock, &mut job).await {
            Ok(()) => {}
            // The job stays unfinished, and continues when the database or the services are available again.
            Err(error) if error.status_code() == StatusCode::SERVICE_UNAVAILABLE => return Err(error),
            Err(error) => {
                progress::write_end(state, &mut lock, &job, "failed", Some(&error.to_string())).await?;
            }
        }
        progress::release_job(&lock, job.id).await?;
    }
    Ok(())
}

/// Runs a job to its end.
async fn run_job(objects: &Objects<'_>, lock: &mut Client, job: &mut Job) -> Result<(), ConsoleError> {
    let id = job.id;
    if job.total.is_none() {
        let reader = objects.state.database.connection(Level::Admin).await?;
        let count = progress::count_files(&reader, &job.bucket, &job.steps);
        let total = hold_lock_during(lock, count).await?;
        progress::write_begin(lock, id, total).await?;
    }
    // A stored batch was begun before a crash, and is processed first.
    let mut is_resumed = job.batch.is_some();
    loop {
        if job.is_cancelled {
            return progress::write_end(objects.state, lock, job, "cancelled", None).await;
        }
        if job.batch.is_none() && !plan_batch(objects.state, lock, job).await? {
            return progress::write_end(objects.state, lock, job, "done", None).await;
        }
        let failures = hold_lock_during(lock, objects.run_batch(job, is_resumed)).await?;
        progress::write_batch(lock, job, &failures).await?;
        is_resumed = false;
        match progress::read_job(lock, id).await? {
            // Read again, because the job may have been cancelled meanwhile.
            Some(next) => *job = next,
            None => return Ok(()),
        }
    }
}

/// Stores the next batch; false when no files are left.
async fn plan_batch(state: &ConsoleState, lock: &Client, job: &mut Job) -> Result<bool, ConsoleError> {
    while let Some(step) = job.steps.get(job.step) {
        let reader = state.database.connection(Level::Admin).await?;
        let list = progress::list_files(&reader, &job.bucket, step, &job.last_name);
        let names = hold_lock_during(lock, list).await?;
        if names.is_empty() {
            // The next step starts from its first name, which may sort before the last name of this step.
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
