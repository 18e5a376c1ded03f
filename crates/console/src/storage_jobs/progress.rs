//! The statements that take, update and end a job. All of them run on the connection whose session has the job, so a node that loses
//! the job with its connection cannot write either. A row names the session, and no advisory lock, because every role may take one.

use tokio_postgres::{Client, Row};
use uuid::Uuid;

use super::job::{COLUMNS, Job};
use super::request::Step;
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::state::ConsoleState;

/// Files per batch; progress is stored after each batch.
const BATCH: i64 = 100;
/// How many failures are stored with their text; the others are only counted.
const MOST_FAILURES: i64 = 1000;

/// Files of bucket `$1` with names in `$2..$3` that sort after `$4`, the last one already processed.
const FILES: &str = "from only storage.objects where bucket_id = $1
     and name collate \"C\" >= $2 and name collate \"C\" < $3 and name collate \"C\" > $4";

/// Another session of this login that holds the advisory lock with key `$2`: a node of an earlier version, which runs the job.
const LOCKED_BY_EARLIER_VERSION: &str = "
    select from pg_catalog.pg_locks as l
    join pg_catalog.pg_stat_activity as a on a.pid = l.pid and a.usename = current_user
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.pid <> pg_catalog.pg_backend_pid()
      and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = pg_catalog.current_database())
      and l.classid::bigint = ($2::bigint >> 32) & 4294967295 and l.objid::bigint = $2::bigint & 4294967295";

/// Takes the oldest unfinished job that no living session runs.
pub(super) async fn take_job(lock: &Client) -> Result<Option<Job>, ConsoleError> {
    let unfinished = lock
        .query(
            "select id from selvedge_console.selvedge_storage_jobs where state in ('waiting', 'running', 'cancelling')
             order by created_at",
            &[],
        )
        .await?;
    for row in &unfinished {
        let id: Uuid = row.try_get(0)?;
        let Some(row) = claim_job(lock, id).await? else {
            continue;
        };
        // A job of a newer version is left to a node of that version.
        if let Some(job) = Job::read(&row) {
            return Ok(Some(job));
        }
        release_job(lock, id).await?;
    }
    Ok(None)
}

/// Gives a job to this connection's session, unless it has ended or another living session has it.
///
/// The runner is compared with the one that was found dead: PostgreSQL does not look for a living session again when the update has
/// waited for another node that took the job, but it compares the row's columns with their new values.
async fn claim_job(lock: &Client, id: Uuid) -> Result<Option<Row>, ConsoleError> {
    let sql = format!(
        "with free as materialized (
           select j.runner_pid as pid, j.runner_started as started from selvedge_console.selvedge_storage_jobs as j
           where j.id = $1
             and not exists (select from pg_catalog.pg_stat_activity as a
                             where a.pid = j.runner_pid and a.backend_start = j.runner_started)
             and not exists ({LOCKED_BY_EARLIER_VERSION}))
         update selvedge_console.selvedge_storage_jobs
         set runner_pid = pg_catalog.pg_backend_pid(),
             runner_started = (select a.backend_start from pg_catalog.pg_stat_activity as a
                               where a.pid = pg_catalog.pg_backend_pid())
         from free
         where id = $1 and state in ('waiting', 'running', 'cancelling')
           and runner_pid is not distinct from free.pid and runner_started is not distinct from free.started
         returning {COLUMNS}"
    );
    let key = lock_key(id);
    let row = lock.query_opt(&sql, &[&id, &key]).await?;
    if row.is_some() {
        // Nodes of earlier versions run a job if they get this lock, so it keeps them from running this one as well. Its result is not
        // looked at: every role may take the lock, and could otherwise stop the job.
        lock.execute("select pg_catalog.pg_try_advisory_lock($1)", &[&key])
            .await?;
    }
    Ok(row)
}

/// Returns the key of a job's advisory lock, which versions before December 2026 take.
fn lock_key(id: Uuid) -> i64 {
    let (high, low) = id.as_u64_pair();
    i64::from_ne_bytes((high ^ low).to_ne_bytes())
}

/// Gives up a job that this connection's session runs.
pub(super) async fn release_job(lock: &Client, id: Uuid) -> Result<(), ConsoleError> {
    let sql = "update selvedge_console.selvedge_storage_jobs set runner_pid = null, runner_started = null
               where id = $1 and runner_pid = pg_catalog.pg_backend_pid()";
    lock.execute(sql, &[&id]).await?;
    lock.execute("select pg_catalog.pg_advisory_unlock($1)", &[&lock_key(id)])
        .await?;
    Ok(())
}

/// Reads an unfinished job.
pub(super) async fn read_job(lock: &Client, id: Uuid) -> Result<Option<Job>, ConsoleError> {
    let sql = format!(
        "select {COLUMNS} from selvedge_console.selvedge_storage_jobs
         where id = $1 and state in ('waiting', 'running', 'cancelling')"
    );
    let row = lock.query_opt(&sql, &[&id]).await?;
    Ok(row.as_ref().and_then(Job::read))
}

/// Counts the files of all steps.
pub(super) async fn count_files(reader: &Client, bucket: &str, steps: &[Step]) -> Result<i64, ConsoleError> {
    let statement = reader.prepare(&format!("select count(*) {FILES}")).await?;
    let mut total = 0;
    for step in steps {
        let row = reader
            .query_one(&statement, &[&bucket, &step.from, &upper_bound(step), &""])
            .await?;
        total += row.try_get::<_, i64>(0)?;
    }
    Ok(total)
}

/// Lists the next files of a step.
pub(super) async fn list_files(
    reader: &Client,
    bucket: &str,
    step: &Step,
    last_name: &str,
) -> Result<Vec<String>, ConsoleError> {
    let sql = format!("select name {FILES} order by name collate \"C\" limit {BATCH}");
    let rows = reader
        .query(&sql, &[&bucket, &step.from, &upper_bound(step), &last_name])
        .await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// Stores that the job runs, and the number of its files.
pub(super) async fn write_begin(lock: &Client, id: Uuid, total: i64) -> Result<(), ConsoleError> {
    lock.execute(
        "update selvedge_console.selvedge_storage_jobs
         set total = $2, state = case state when 'waiting' then 'running' else state end where id = $1",
        &[&id, &total],
    )
    .await?;
    Ok(())
}

/// Stores the next batch and the current step.
pub(super) async fn write_plan(lock: &Client, job: &Job) -> Result<(), ConsoleError> {
    let step = i32::try_from(job.step).unwrap_or(i32::MAX);
    lock.execute(
        "update selvedge_console.selvedge_storage_jobs set step = $2, last_name = $3, batch = $4 where id = $1",
        &[&job.id, &step, &job.last_name, &job.batch],
    )
    .await?;
    Ok(())
}

/// Stores the results of a batch in one transaction, so that no file is counted twice.
pub(super) async fn write_batch(
    lock: &mut Client,
    job: &Job,
    failures: &[(String, String)],
) -> Result<(), ConsoleError> {
    let names = job.batch.as_deref().unwrap_or_default();
    let failed = i64::try_from(failures.len()).unwrap_or(i64::MAX);
    let done = i64::try_from(names.len()).unwrap_or(i64::MAX) - failed;
    let (failed_names, messages): (Vec<&str>, Vec<&str>) = failures
        .iter()
        .map(|(name, message)| (name.as_str(), message.as_str()))
        .unzip();
    // Without the transaction, a crash between the statements would repeat the batch and store its failures twice.
    let transaction = lock.transaction().await?;
    transaction
        .execute(
            "insert into selvedge_console.selvedge_storage_job_failures (job, name, message)
             select $1, f.name, f.message from unnest($2::text[], $3::text[]) f (name, message)
             limit greatest(0, $4 - (select count(*) from selvedge_console.selvedge_storage_job_failures where job = $1))
             on conflict do nothing",
            &[&job.id, &failed_names, &messages, &MOST_FAILURES],
        )
        .await?;
    transaction
        .execute(
            "update selvedge_console.selvedge_storage_jobs
             set done = done + $2, failed = failed + $3, last_name = $4, batch = null where id = $1",
            &[&job.id, &done, &failed, &names.last()],
        )
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// Stores the final state of a job and of its audit entry.
pub(super) async fn write_end(
    console: &ConsoleState,
    lock: &mut Client,
    job: &Job,
    state: &str,
    error: Option<&str>,
) -> Result<(), ConsoleError> {
    let transaction = lock.transaction().await?;
    let row = transaction
        .query_one(
            "update selvedge_console.selvedge_storage_jobs set state = $2, error = $3, batch = null, finished_at = now()
             where id = $1 returning done, failed",
            &[&job.id, &state, &error],
        )
        .await?;
    let (done, failed): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    // A job with failed files is recorded as failed in the audit, although it ran to its end.
    let result = match state {
        "done" if failed == 0 => "ok",
        "cancelled" => "cancelled",
        _ => "failed",
    };
    let action = format!("storage.job.{}", job.kind.name());
    let target = format!("job {}", job.id);
    let entry = AuditEntry::new(&action, &target)
        .with_rows(done)
        .with_result(result);
    audit::write_by_service(console, &transaction, &job.session, entry).await?;
    transaction.commit().await?;
    Ok(())
}

/// Returns the exclusive upper bound of a step's file names in byte order: for a folder the name with `0`, the character after `/`,
/// in place of the final slash; for a file the name with U+0001 appended, which no name contains.
fn upper_bound(step: &Step) -> String {
    match step.from.strip_suffix('/') {
        Some(folder) => format!("{folder}0"),
        None => format!("{}\u{1}", step.from),
    }
}

#[cfg(test)]
mod tests {
    use selvedge_testing::TestDatabase;

    use super::*;

    /// A job that waits to be run.
    async fn add_job(database: &TestDatabase) -> Uuid {
        let superuser = database.superuser().await;
        let row = superuser
            .query_one(
                "insert into selvedge_console.selvedge_storage_jobs (kind, bucket, steps, level, address, request_id)
                 values ('delete', 'b', '[{\"from\": \"a/\"}]', 'admin', '127.0.0.1', 'r') returning id",
                &[],
            )
            .await
            .expect("added");
        row.get(0)
    }

    /// A session of a node, and the job that it gets.
    async fn node(database: &TestDatabase) -> (Client, Option<Uuid>) {
        let client = database.connect("selvedge_console_service").await;
        let job = take_job(&client).await.expect("asked");
        (client, job.map(|job| job.id))
    }

    #[tokio::test]
    async fn console_121_a_job_belongs_to_one_living_session_and_goes_to_the_next_when_that_ends() {
        let database = TestDatabase::create().await;
        let job = add_job(&database).await;

        let (first, taken) = node(&database).await;
        assert_eq!(taken, Some(job));
        let (second, taken) = node(&database).await;
        assert_eq!(taken, None, "a living session has it");
        release_job(&second, job).await.expect("not its own");
        assert!(take_job(&second).await.expect("asked").is_none());

        drop(first);
        // The session ends a little after its connection.
        let mut taken = None;
        for _ in 0..500 {
            taken = take_job(&second).await.expect("asked").map(|job| job.id);
            if taken.is_some() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(taken, Some(job));
        release_job(&second, job).await.expect("its own");
        assert_eq!(node(&database).await.1, Some(job), "given up, it is free at once");
    }

    #[tokio::test]
    async fn console_121_one_of_many_sessions_gets_a_job_that_all_ask_for() {
        let database = TestDatabase::create().await;
        let job = add_job(&database).await;
        let mut clients = Vec::new();
        for _ in 0..6 {
            clients.push(database.connect("selvedge_console_service").await);
        }
        let superuser = database.superuser().await;
        superuser
            .batch_execute("begin; select from selvedge_console.selvedge_storage_jobs for update")
            .await
            .expect("locked");
        let ask = futures_util::future::join_all(clients.iter().map(take_job));
        // All of them have found the job free, and wait for its row, before the first one can write to it.
        let observer = database.superuser().await;
        let unlock = async {
            let waiting = "select count(*) from pg_catalog.pg_stat_activity
                           where datname = pg_catalog.current_database() and wait_event_type = 'Lock'";
            let mut count = 0;
            for _ in 0..3000 {
                count = observer
                    .query_one(waiting, &[])
                    .await
                    .expect("counted")
                    .get::<_, i64>(0);
                if count == 6 {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            superuser.batch_execute("commit").await.expect("unlocked");
            count
        };

        let (asked, waited) = futures_util::future::join(ask, unlock).await;

        assert_eq!(waited, 6);
        let taken = asked
            .into_iter()
            .filter_map(|job| job.expect("asked"))
            .map(|job| job.id);
        assert_eq!(taken.collect::<Vec<_>>(), [job]);
    }

    #[tokio::test]
    async fn console_121_advisory_locks_of_other_roles_keep_no_session_from_a_job() {
        let database = TestDatabase::create().await;
        let job = add_job(&database).await;
        let stranger = database.connect("postgres").await;
        stranger
            .execute("select pg_catalog.pg_advisory_lock($1)", &[&lock_key(job)])
            .await
            .expect("every role may take it");
        let earlier = database.connect("selvedge_console_service").await;

        assert_eq!(node(&database).await.1, Some(job));

        // A node of an earlier version holds only the advisory lock, by the console's login: its job is not taken from it.
        let other = add_job(&database).await;
        earlier
            .execute("select pg_catalog.pg_advisory_lock($1)", &[&lock_key(other)])
            .await
            .expect("taken");
        let (_held, first) = node(&database).await;
        assert_ne!(first, Some(other));
    }

    #[test]
    fn console_121_a_folders_range_of_names_excludes_its_neighbours() {
        let step = |from: &str| Step {
            from: from.to_owned(),
            to: None,
        };
        let (folder, file) = (step("a/b/"), step("a/b"));
        let is_in = |step: &Step, name: &str| step.from.as_str() <= name && name < upper_bound(step).as_str();
        for name in ["a/b/c", "a/b/c/d", "a/b/~"] {
            assert!(is_in(&folder, name), "{name}");
        }
        for name in ["a/b", "a/b-", "a/b0", "a/bc/d", "a/"] {
            assert!(!is_in(&folder, name), "{name}");
        }
        assert!(is_in(&file, "a/b") && !is_in(&file, "a/b/") && !is_in(&file, "a/b "));
    }
}
