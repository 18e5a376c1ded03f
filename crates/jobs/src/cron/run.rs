//! One run of a job: a connection of the job's user, the command, and what it returned.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use futures_util::TryStreamExt;
use selvedge_postgres::Database;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

use super::result::{describe_error, describe_result};
use super::store::{Job, RunResult, insert_run, set_finished, set_running};
use crate::error::JobsError;
use crate::liveness::END_WITH_NODE;
use crate::metrics::{METRICS, Raised};

/// Longest time for opening a connection and logging in.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long one of several hosts may take. The one that is asked first is the one to which the scheduler is connected.
const HOST_TIMEOUT: Duration = Duration::from_secs(6);

/// Asks the session who it is, and takes the advisory lock by which earlier versions wait for a session of the job.
/// [`END_WITH_NODE`] follows.
const BEGIN: &str = "
    select pg_catalog.pg_backend_pid(),
      pg_catalog.current_setting('is_superuser'),
      (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname operator(pg_catalog.=) session_user),
      pg_catalog.pg_try_advisory_lock(1936486515, $1),
      pg_catalog.set_config('application_name', 'pg_cron', false),";

/// Whether a session of the job has not ended, also one of an earlier version. A node that led before may have ended while PostgreSQL
/// still runs its command; the next run begins after that one.
const IS_RUNNING: &str = "
    select exists (
        select from _selvedge.selvedge_worker_sessions as w
        where w.name = $1 and _selvedge.is_session_alive(w.pid, w.started)
      )
      or _selvedge.is_locked_by_earlier_version(1936486515, $2, $3::text::name, 'pg_cron')";

const CLAIM: &str = "select _selvedge.claim_session($1, $2)";

/// The first pause before a job's earlier session is looked for again; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How long a job waits for its earlier session before the log says so.
const TOLD_AFTER: Duration = Duration::from_secs(10);

/// Runs the job and records it. `client` is the connection of the scheduler, and `now` its clock.
pub(super) async fn run_job(
    client: &Client,
    database: &Database,
    job: &Job,
    now: fn() -> DateTime<Utc>,
) -> Result<(), JobsError> {
    let _running = Raised::raise(&METRICS.cron_running);
    // Fails when another node leads by now, because the connection held this node's lock.
    let run = insert_run(client, job).await?;
    let result = if job.is_user_allowed {
        let waiting = Raised::raise(&METRICS.cron_waiting);
        let begun = begin_session(client, database, run, job, now).await?;
        drop(waiting);
        match begun {
            Ok(session) => run_command(&session, &job.command).await,
            Err(refusal) => refusal,
        }
    } else {
        refuse_user(job)
    };
    set_finished(client, run, &result, now()).await?;
    let outcome = if result.is_success { "succeeded" } else { "failed" };
    METRICS.cron_runs.with_label_values(&[outcome]).inc();
    if !result.is_success {
        tracing::info!(
            job = job.id,
            message = result.message.trim_end(),
            "a job of pg_cron failed"
        );
    }
    Ok(())
}

/// Opens the session of a run, which gets the job's name. An error of the scheduler's connection ends the workers, one of the session only
/// this run.
async fn begin_session(
    client: &Client,
    database: &Database,
    run: i64,
    job: &Job,
    now: fn() -> DateTime<Utc>,
) -> Result<Result<Client, RunResult>, JobsError> {
    wait_for_earlier_session(client, job).await?;
    let login = database.client_as(&job.username, &job.database, HOST_TIMEOUT);
    let session = match tokio::time::timeout(CONNECT_TIMEOUT, login).await {
        Ok(Ok(session)) => session,
        Ok(Err(error)) => return Ok(Err(RunResult::failed(describe_failed_login(&error)))),
        Err(_elapsed) => return Ok(Err(RunResult::failed("connection failed: no answer in time"))),
    };
    // Limited, because a session that never answers has not been told yet to end with this node.
    let question = format!("{BEGIN}{END_WITH_NODE}");
    let params: [&(dyn ToSql + Sync); 1] = [&lock_of(job)];
    let begun = tokio::time::timeout(CONNECT_TIMEOUT, session.query_one(&question, &params));
    let row = match begun.await {
        Ok(Ok(row)) => row,
        Ok(Err(error)) => return Ok(Err(describe_failed_command(&error))),
        Err(_elapsed) => return Ok(Err(RunResult::failed("connection failed: no answer in time"))),
    };
    // Asked of the session itself: the role may have become a superuser's since the jobs were read. Settings of a role may let its
    // sessions begin as another one, therefore both users of the session count.
    if row.try_get::<_, &str>(1)? != "off" || row.try_get::<_, Option<bool>>(2)? != Some(false) {
        return Ok(Err(refuse_user(job)));
    }
    let pid: i32 = row.try_get(0)?;
    let claimed = client.query_one(CLAIM, &[&name_of(job), &pid]).await?;
    if !claimed.try_get::<_, bool>(0)? {
        return Ok(Err(RunResult::failed("another session of the job has not ended")));
    }
    set_running(client, run, pid, now()).await?;
    METRICS.cron_last_start.set(now().timestamp());
    Ok(Ok(session))
}

/// Sends the command and waits for its end.
async fn run_command(session: &Client, command: &str) -> RunResult {
    match run_statements(session, command).await {
        Ok(message) => RunResult {
            is_success: true,
            message,
        },
        Err(error) => describe_failed_command(&error),
    }
}

/// The name of the job's session.
fn name_of(job: &Job) -> String {
    format!("job {}", job.id)
}

/// The number of the job in the advisory locks of earlier versions.
fn lock_of(job: &Job) -> i32 {
    i32::try_from(job.id % i64::from(i32::MAX)).unwrap_or_default()
}

async fn wait_for_earlier_session(client: &Client, job: &Job) -> Result<(), Error> {
    let (begun, mut is_told) = (Instant::now(), false);
    let mut pause = FIRST_PAUSE;
    loop {
        let row = client
            .query_one(IS_RUNNING, &[&name_of(job), &lock_of(job), &job.username])
            .await?;
        if !row.try_get::<_, bool>(0)? {
            return Ok(());
        }
        if !is_told && begun.elapsed() > TOLD_AFTER {
            is_told = true;
            tracing::warn!(
                job = job.id,
                "a job of pg_cron waits for its earlier session, which _selvedge.selvedge_worker_sessions names"
            );
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Runs all statements of a command, and describes what the last one did.
async fn run_statements(session: &Client, command: &str) -> Result<String, Error> {
    let mut messages = std::pin::pin!(session.simple_query_raw(command).await?);
    let mut has_columns = false;
    let mut last = (0, false);
    while let Some(message) = messages.try_next().await? {
        match message {
            SimpleQueryMessage::RowDescription(_) => has_columns = true,
            SimpleQueryMessage::CommandComplete(rows) => {
                last = (rows, has_columns);
                has_columns = false;
            }
            _ => {}
        }
    }
    Ok(describe_result(command, last.0, last.1))
}

fn refuse_user(job: &Job) -> RunResult {
    RunResult::failed(format!(
        "ERROR:  jobs do not run as \"{}\"\nDETAIL:  It is a superuser, or a role of the platform.\n",
        job.username
    ))
}

fn describe_failed_login(error: &Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("connection failed: {}", error.message()),
        None => "connection failed".to_owned(),
    }
}

fn describe_failed_command(error: &Error) -> RunResult {
    RunResult::failed(match error.as_db_error() {
        Some(error) => describe_error(error),
        None if error.is_closed() => "connection lost".to_owned(),
        // The driver does not expect COPY's messages after a simple query.
        None => "COPY not supported".to_owned(),
    })
}
