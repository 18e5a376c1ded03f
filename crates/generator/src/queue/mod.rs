//! The queue: claims, leases and outcomes of jobs, one short transaction each, as `service_role`.

pub(crate) mod job;
mod statements;
pub(crate) mod token;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Pool, Transaction};
use selvedge_postgres::{
    AccessMode, Database, ListenEvent, Login, RequestContext, TableName, begin_as_caller,
};
use serde_json::Value;
use tokio::sync::mpsc::Receiver;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::error::QueueError;
use job::{Job, Target};
use statements::Statements;
use token::CallbackToken;

/// The channel on which a project announces a waiting job. Without announcements, workers poll every few seconds.
const CHANNEL: &str = "selvedge_generator";

/// Connections of one node: statements are short, and their number is bounded by the jobs in progress and by callbacks.
const CONNECTIONS: usize = 4;

/// The role that bypasses the project's policies.
const SERVICE: RequestContext<'static> = RequestContext {
    search_path: "public, extensions",
    role: "service_role",
    claims: "{\"role\":\"service_role\"}",
    method: "",
    path: "",
    headers: "{}",
    cookies: "{}",
    extra: &[],
};

/// The project's table of jobs.
pub(crate) struct Queue {
    database: Arc<Database>,
    pool: Pool,
    statements: Statements,
}

/// A job that a callback may finish.
pub(crate) struct TakenJob {
    pub(crate) attempt: i32,
    pub(crate) target: Target,
}

type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Queue {
    pub(crate) fn new(table: &TableName, database: Arc<Database>) -> Self {
        Self {
            pool: database.pool(Login::Authenticator, CONNECTIONS),
            statements: Statements::new(table),
            database,
        }
    }

    /// Notifications of waiting jobs.
    pub(crate) fn listen(&self) -> Receiver<ListenEvent> {
        self.database.listen(&[CHANNEL])
    }

    /// Claims the job that has been due for longest.
    ///
    /// # Errors
    /// `Malformed` when the row's `input` cannot be read; the job is failed then.
    pub(crate) async fn claim(
        &self,
        token: &CallbackToken,
        lease: Duration,
    ) -> Result<Option<Job>, QueueError> {
        let rows = self
            .query(&self.statements.claim, &[&lease.as_secs_f64(), &token.hash()])
            .await?;
        rows.first().map(read_job).transpose()
    }

    /// Gives jobs whose lease has expired to another attempt, or fails them after their last one. Returns their number.
    pub(crate) async fn release_expired(&self, message: &str) -> Result<u64, QueueError> {
        self.execute(&self.statements.release_expired, &[&message]).await
    }

    /// Stores the progress; false when the job no longer belongs to this attempt.
    pub(crate) async fn set_progress(&self, job: &Job, percent: i16) -> Result<bool, QueueError> {
        let params: Params = &[&job.id, &job.attempt, &percent];
        Ok(self.execute(&self.statements.set_progress, params).await? > 0)
    }

    /// Extends the lease until the picture must have arrived; false when the job no longer belongs to this attempt, for
    /// example because the picture has arrived already.
    pub(crate) async fn await_result(&self, job: &Job, within: Duration) -> Result<bool, QueueError> {
        let params: Params = &[&job.id, &job.attempt, &within.as_secs_f64()];
        Ok(self.execute(&self.statements.await_result, params).await? > 0)
    }

    /// Stores the picture; false when the job no longer belongs to this attempt.
    pub(crate) async fn finish(
        &self,
        id: Uuid,
        attempt: i32,
        name: &str,
        is_preview: bool,
    ) -> Result<bool, QueueError> {
        let params: Params = &[&id, &attempt, &name, &is_preview];
        Ok(self.execute(&self.statements.finish, params).await? > 0)
    }

    /// Stores a failure. Returns the job's new status; `None` when the job no longer belongs to this attempt.
    pub(crate) async fn fail(
        &self,
        (id, attempt): (Uuid, i32),
        message: &str,
        is_permanent: bool,
        pause: Duration,
    ) -> Result<Option<String>, QueueError> {
        let params: Params = &[&id, &attempt, &message, &is_permanent, &pause.as_secs_f64()];
        let rows = self.query(&self.statements.fail, params).await?;
        Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
    }

    /// The attempt that waits for a call with this token.
    pub(crate) async fn find_by_token(
        &self,
        id: Uuid,
        token: &CallbackToken,
    ) -> Result<Option<i32>, QueueError> {
        let params: Params = &[&id, &token.hash()];
        let rows = self.query(&self.statements.find_by_token, params).await?;
        Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
    }

    /// Uses the token up; `None` when it is not, or no longer, valid.
    pub(crate) async fn take_token(
        &self,
        id: Uuid,
        token: &CallbackToken,
        lease: Duration,
    ) -> Result<Option<TakenJob>, QueueError> {
        let params: Params = &[&id, &token.hash(), &lease.as_secs_f64()];
        let rows = self.query(&self.statements.take_token, params).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        Ok(Some(TakenJob {
            attempt: row.try_get(0)?,
            target: read_target(row, 1)?,
        }))
    }

    /// Makes a token valid again whose picture could not be stored, so that the generator may send it once more.
    pub(crate) async fn give_token_back(
        &self,
        (id, attempt): (Uuid, i32),
        token: &CallbackToken,
        within: Duration,
    ) -> Result<(), QueueError> {
        let params: Params = &[&id, &attempt, &token.hash(), &within.as_secs_f64()];
        self.execute(&self.statements.give_token_back, params).await?;
        Ok(())
    }

    /// Records the progress that a generator reports; false for an invalid token.
    pub(crate) async fn set_progress_by_token(
        &self,
        id: Uuid,
        token: &CallbackToken,
        percent: i16,
    ) -> Result<bool, QueueError> {
        let params: Params = &[&id, &token.hash(), &percent];
        Ok(self
            .execute(&self.statements.set_progress_by_token, params)
            .await?
            > 0)
    }

    async fn query(&self, statement: &str, params: Params<'_>) -> Result<Vec<Row>, QueueError> {
        let mut client = self.pool.get().await?;
        let transaction = self.begin(&mut client).await?;
        let prepared = transaction.prepare_cached(statement).await?;
        let rows = transaction.query(&prepared, params).await?;
        transaction.commit().await?;
        Ok(rows)
    }

    async fn execute(&self, statement: &str, params: Params<'_>) -> Result<u64, QueueError> {
        let mut client = self.pool.get().await?;
        let transaction = self.begin(&mut client).await?;
        let prepared = transaction.prepare_cached(statement).await?;
        let count = transaction.execute(&prepared, params).await?;
        transaction.commit().await?;
        Ok(count)
    }

    async fn begin<'c>(
        &self,
        client: &'c mut deadpool_postgres::Client,
    ) -> Result<Transaction<'c>, QueueError> {
        // A project may have set a statement timeout or search path for service_role.
        let roles = self.database.role_settings();
        Ok(begin_as_caller(client, &SERVICE, &roles, AccessMode::ReadWrite).await?)
    }
}

fn read_job(row: &Row) -> Result<Job, QueueError> {
    let (id, attempt): (Uuid, i32) = (row.try_get(0)?, row.try_get(1)?);
    let malformed = |reason: String| QueueError::Malformed { id, attempt, reason };
    // JSON may be valid for PostgreSQL and nested too deeply for us.
    let input: Value = row.try_get(4).map_err(|error| malformed(error.to_string()))?;
    let input = serde_json::from_value(input).map_err(|error| malformed(error.to_string()))?;
    Ok(Job {
        id,
        attempt,
        target: read_target(row, 2).map_err(|error| malformed(error.to_string()))?,
        input,
    })
}

/// Bucket and folder, in two columns from `first` on.
fn read_target(row: &Row, first: usize) -> Result<Target, tokio_postgres::Error> {
    let folder: String = row.try_get(first + 1)?;
    Ok(Target {
        bucket: row.try_get(first)?,
        folder: folder.trim_matches('/').to_owned(),
    })
}
