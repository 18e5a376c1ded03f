//! The SQL of the queue, for the project's table.
//!
//! Each statement that changes a claimed job names its attempt, so that it has no effect after the job was cancelled,
//! deleted or taken over. Columns and states are the contract of docs/generator.md.

use selvedge_postgres::TableName;

/// All statements for one table.
pub(crate) struct Statements {
    pub(crate) claim: String,
    pub(crate) release_expired: String,
    pub(crate) set_progress: String,
    pub(crate) await_result: String,
    pub(crate) finish: String,
    pub(crate) fail: String,
    pub(crate) find_by_token: String,
    pub(crate) take_token: String,
    pub(crate) give_token_back: String,
    pub(crate) set_progress_by_token: String,
}

impl Statements {
    /// The table's name is quoted; everything else of the statements is fixed text.
    pub(crate) fn new(table: &TableName) -> Self {
        let table = table.quoted();
        let with_table = |text: &str| text.replace("{table}", &table);
        Self {
            claim: with_table(CLAIM),
            release_expired: with_table(RELEASE_EXPIRED),
            set_progress: with_table(SET_PROGRESS),
            await_result: with_table(AWAIT_RESULT),
            finish: with_table(FINISH_JOB),
            fail: with_table(FAIL),
            find_by_token: with_table(FIND_BY_TOKEN),
            take_token: with_table(TAKE_TOKEN),
            give_token_back: with_table(GIVE_TOKEN_BACK),
            set_progress_by_token: with_table(SET_PROGRESS_BY_TOKEN),
        }
    }
}

/// $1 seconds of the lease, $2 hash of the callback token. A row that another worker is claiming is skipped.
const CLAIM: &str = "
    update {table} as job
    set status = 'running', attempts = job.attempts + 1, progress = 0,
      lease_until = now() + make_interval(secs => $1), callback_token_hash = $2,
      started_at = coalesce(job.started_at, now())
    where job.id = (
      select due.id from {table} as due
      where due.status = 'queued' and due.run_after <= now()
      order by due.run_after, due.id
      limit 1
      for update skip locked)
    returning job.id, job.attempts, job.result_bucket, job.result_folder, job.input";

/// $1 text for the owner. A lease expires when a node died, or when an endpoint did not deliver in time.
const RELEASE_EXPIRED: &str = "
    update {table} as job
    set status = case when job.attempts < job.max_attempts then 'queued' else 'failed' end,
      error = $1, run_after = now(), lease_until = null, callback_token_hash = null,
      finished_at = case when job.attempts < job.max_attempts then null else now() end
    where job.id in (
      select due.id from {table} as due
      where due.status = 'running' and due.lease_until < now()
      for update skip locked)";

/// $1 id, $2 attempt, $3 percent.
const SET_PROGRESS: &str = "
    update {table} as job set progress = greatest(job.progress, $3)
    where job.id = $1 and job.attempts = $2 and job.status = 'running'";

/// $1 id, $2 attempt, $3 seconds until the picture must have arrived.
const AWAIT_RESULT: &str = "
    update {table} as job set lease_until = now() + make_interval(secs => $3)
    where job.id = $1 and job.attempts = $2 and job.status = 'running'";

/// $1 id, $2 attempt, $3 name of the object, $4 whether the picture is a preview.
const FINISH_JOB: &str = "
    update {table} as job
    set status = 'succeeded', progress = 100, error = null, result_name = $3, result_is_preview = $4,
      lease_until = null, callback_token_hash = null, finished_at = now()
    where job.id = $1 and job.attempts = $2 and job.status = 'running'";

/// $1 id, $2 attempt, $3 text for the owner, $4 whether no further attempt is made, $5 seconds until the next one.
const FAIL: &str = "
    update {table} as job
    set status = case when $4 or job.attempts >= job.max_attempts then 'failed' else 'queued' end,
      error = $3, run_after = now() + make_interval(secs => $5), lease_until = null, callback_token_hash = null,
      finished_at = case when $4 or job.attempts >= job.max_attempts then now() end
    where job.id = $1 and job.attempts = $2 and job.status = 'running'
    returning job.status";

/// Parameters: $1 id of the job, $2 hash of its token.
const FIND_BY_TOKEN: &str = "
    select job.attempts from {table} as job
    where job.id = $1 and job.callback_token_hash = $2 and job.status = 'running'";

/// $1 id, $2 hash of the token, $3 seconds that storing the picture may take. Of two calls with one token only the first
/// finds a row, because the second waits for the first and then reads the row anew.
const TAKE_TOKEN: &str = "
    update {table} as job
    set callback_token_hash = null, lease_until = now() + make_interval(secs => $3)
    where job.id = $1 and job.callback_token_hash = $2 and job.status = 'running'
    returning job.attempts, job.result_bucket, job.result_folder";

/// $1 id, $2 attempt, $3 hash of the token, $4 seconds until the picture must have arrived.
const GIVE_TOKEN_BACK: &str = "
    update {table} as job
    set callback_token_hash = $3, lease_until = now() + make_interval(secs => $4)
    where job.id = $1 and job.attempts = $2 and job.status = 'running' and job.callback_token_hash is null";

/// $1 id, $2 hash of the token, $3 percent.
const SET_PROGRESS_BY_TOKEN: &str = "
    update {table} as job set progress = greatest(job.progress, $3)
    where job.id = $1 and job.callback_token_hash = $2 and job.status = 'running'";
