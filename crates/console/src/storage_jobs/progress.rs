//! The statements with which a job is taken, carried on and ended. All run on the connection that holds the job's lock, so whoever
//! loses the lock cannot write any more.

use tokio_postgres::Client;
use uuid::Uuid;

use super::job::{COLUMNS, Job};
use super::request::Step;
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;

/// The files that are dealt with between two writes of the progress.
const BATCH: i64 = 100;
/// The failures whose text is kept; the others are counted.
const MOST_FAILURES: i64 = 1000;

/// Files of bucket `$1` with names in `$2..$3` that sort after `$4`, the last one already processed.
const FILES: &str = "from storage.objects where bucket_id = $1
     and name collate \"C\" >= $2 and name collate \"C\" < $3 and name collate \"C\" > $4";

/// Takes the lock of the oldest job that nobody else carries out.
pub(super) async fn take_job(lock: &Client) -> Result<Option<Job>, ConsoleError> {
    let unfinished = lock
        .query(
            "select id from selvedge_console.storage_jobs where state in ('waiting', 'running', 'cancelling')
             order by created_at",
            &[],
        )
        .await?;
    for row in &unfinished {
        let id: Uuid = row.get(0);
        let row = lock
            .query_one("select pg_try_advisory_lock($1)", &[&lock_of(id)])
            .await?;
        if !row.get::<_, bool>(0) {
            continue;
        }
        // Read again under the lock, because another node may have ended it meanwhile.
        if let Some(job) = read_job(lock, id).await? {
            return Ok(Some(job));
        }
        release_job(lock, id).await?;
    }
    Ok(None)
}

/// Gives the lock back.
pub(super) async fn release_job(lock: &Client, id: Uuid) -> Result<(), ConsoleError> {
    lock.query_one("select pg_advisory_unlock($1)", &[&lock_of(id)])
        .await?;
    Ok(())
}

/// Reads a job that has not ended.
pub(super) async fn read_job(lock: &Client, id: Uuid) -> Result<Option<Job>, ConsoleError> {
    let sql = format!(
        "select {COLUMNS} from selvedge_console.storage_jobs
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
            .query_one(&statement, &[&bucket, &step.from, &end_of(step), &""])
            .await?;
        total += row.get::<_, i64>(0);
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
        .query(&sql, &[&bucket, &step.from, &end_of(step), &last_name])
        .await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Writes that the job has begun, with the number of its files.
pub(super) async fn write_begin(lock: &Client, id: Uuid, total: i64) -> Result<(), ConsoleError> {
    lock.execute(
        "update selvedge_console.storage_jobs
         set total = $2, state = case state when 'waiting' then 'running' else state end where id = $1",
        &[&id, &total],
    )
    .await?;
    Ok(())
}

/// Writes which files are dealt with next, or that the next step begins.
pub(super) async fn write_plan(lock: &Client, job: &Job) -> Result<(), ConsoleError> {
    let step = i32::try_from(job.step).unwrap_or(i32::MAX);
    lock.execute(
        "update selvedge_console.storage_jobs set step = $2, last_name = $3, batch = $4 where id = $1",
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
    // One transaction: after a crash in between, the batch would be repeated and its failures be there twice.
    let transaction = lock.transaction().await?;
    transaction
        .execute(
            "insert into selvedge_console.storage_job_failures (job, name, message)
             select $1, f.name, f.message from unnest($2::text[], $3::text[]) f (name, message)
             limit greatest(0, $4 - (select count(*) from selvedge_console.storage_job_failures where job = $1))
             on conflict do nothing",
            &[&job.id, &failed_names, &messages, &MOST_FAILURES],
        )
        .await?;
    transaction
        .execute(
            "update selvedge_console.storage_jobs
             set done = done + $2, failed = failed + $3, last_name = $4, batch = null where id = $1",
            &[&job.id, &done, &failed, &names.last()],
        )
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// Writes the end of a job, and of the audit's entry for it.
pub(super) async fn write_end(
    lock: &mut Client,
    job: &Job,
    state: &str,
    error: Option<&str>,
) -> Result<(), ConsoleError> {
    let transaction = lock.transaction().await?;
    let row = transaction
        .query_one(
            "update selvedge_console.storage_jobs set state = $2, error = $3, batch = null, finished_at = now()
             where id = $1 returning done, failed",
            &[&job.id, &state, &error],
        )
        .await?;
    let (done, failed): (i64, i64) = (row.get(0), row.get(1));
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
    audit::write(&transaction, &job.session, entry).await?;
    transaction.commit().await?;
    Ok(())
}

/// The exclusive upper bound of a step's names: `/` is followed by `0` in byte order, and a file's name is followed by itself plus
/// U+0001, which no name contains.
fn end_of(step: &Step) -> String {
    match step.from.strip_suffix('/') {
        Some(folder) => format!("{folder}0"),
        None => format!("{}\u{1}", step.from),
    }
}

/// The number of a job's advisory lock.
fn lock_of(id: Uuid) -> i64 {
    // The lock's number has half the bits of the id. Two jobs with the same number would only wait for each other.
    let (high, low) = id.as_u64_pair();
    i64::from_ne_bytes((high ^ low).to_ne_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_121_the_files_of_a_folder_are_a_range_without_its_neighbours() {
        let step = |from: &str| Step {
            from: from.to_owned(),
            to: None,
        };
        let (folder, file) = (step("a/b/"), step("a/b"));
        let is_in = |step: &Step, name: &str| step.from.as_str() <= name && name < end_of(step).as_str();
        for name in ["a/b/c", "a/b/c/d", "a/b/~"] {
            assert!(is_in(&folder, name), "{name}");
        }
        for name in ["a/b", "a/b-", "a/b0", "a/bc/d", "a/"] {
            assert!(!is_in(&folder, name), "{name}");
        }
        assert!(is_in(&file, "a/b") && !is_in(&file, "a/b/") && !is_in(&file, "a/b "));
    }
}
