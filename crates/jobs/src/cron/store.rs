//! The tables of pg_cron: reads jobs, records their runs. Start and end of a run are recorded by the scheduler's clock, which also decides
//! when a job is due, so a node that takes over can compare the two and knows which runs have been started.

use chrono::{DateTime, TimeDelta, Utc};
use tokio_postgres::{Client, Error};

/// True when the database has pg_cron as this project ships it. The original runs its jobs itself. Jobs say which role runs them, so only
/// tables of a superuser are read: somebody else may make a schema of that name while the extension is not there.
const IS_INSTALLED: &str = "
    select pg_catalog.count(*) operator(pg_catalog.=) 3
    from (
      select c.relowner from pg_catalog.pg_class as c
      join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
      where n.nspname operator(pg_catalog.=) 'cron'
        and (c.relname operator(pg_catalog.=) 'job' or c.relname operator(pg_catalog.=) 'job_run_details')
      union all
      select p.proowner from pg_catalog.pg_proc as p
      join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) p.pronamespace
      where n.nspname operator(pg_catalog.=) 'cron' and p.proname operator(pg_catalog.=) '_require_valid_schedule'
    ) as found (owner)
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) found.owner and o.rolsuper";

/// A job belongs to the role that has written it (the trigger `cron_job_check_owner` of the table), except for those that a superuser has
/// written. None runs as a superuser or as a role of the platform: both have rights that `postgres` has not.
const LIST: &str = "
    select j.jobid, j.schedule, j.command, j.database, j.username,
      not (
        _selvedge.is_reserved_role(j.username)
        or exists (
          select from pg_catalog.pg_roles as r
          where r.rolname::pg_catalog.text operator(pg_catalog.=) j.username and r.rolsuper
        )
      )
    from cron.job as j
    where j.active and (
      select o.rolsuper from pg_catalog.pg_class as c
      join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) c.relowner
      where c.oid operator(pg_catalog.=) j.tableoid
    )
    order by j.jobid";

const INSERT_RUN: &str = "
    insert into cron.job_run_details (jobid, database, username, command, status)
    values ($1, $2, $3, $4, 'starting') returning runid";

const RUNNING: &str = "
    update cron.job_run_details set status = 'running', job_pid = $2, start_time = $3 where runid = $1";

const UPDATE_RUN: &str = "
    update cron.job_run_details
    set status = $2, return_message = $3, start_time = coalesce(start_time, $4), end_time = $4
    where runid = $1";

const FAIL_UNFINISHED: &str = "
    update cron.job_run_details set status = 'failed', return_message = 'server restarted'
    where end_time is null and status in ('starting', 'running')";

/// A run without `start_time` is not counted: its node ended before it sent the command, so the command has to run again.
const COUNT_STARTS: &str = "
    select jobid, count(*) from cron.job_run_details where jobid = any($1) and start_time >= $2 group by jobid";

/// Selects the jobs that have a run since PostgreSQL was started. The clocks of the node and of PostgreSQL may differ by 2 seconds.
const LIST_STARTED: &str = "
    select distinct jobid from cron.job_run_details
    where jobid = any($1) and start_time >= pg_catalog.pg_postmaster_start_time() - interval '2 seconds'";

/// By how much the clocks of two nodes may differ. A run that started up to this long before a minute therefore counts as a run of that
/// minute, and is not repeated.
const CLOCK_DIFFERENCE: TimeDelta = TimeDelta::seconds(2);

/// A row of `cron.job`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) id: i64,
    pub(super) schedule: String,
    pub(super) command: String,
    pub(super) database: String,
    pub(super) username: String,
    /// Whether jobs may run as `username`.
    pub(super) is_user_allowed: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunResult {
    pub(super) is_success: bool,
    pub(super) message: String,
}

impl RunResult {
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self {
            is_success: false,
            message: message.into(),
        }
    }
}

/// Whether there are jobs that this scheduler runs.
pub(super) async fn is_installed(client: &Client) -> Result<bool, Error> {
    client.query_one(IS_INSTALLED, &[]).await?.try_get(0)
}

/// The jobs that are not switched off.
pub(super) async fn list_active_jobs(client: &Client) -> Result<Vec<Job>, Error> {
    let rows = client.query(LIST, &[]).await?;
    let jobs = rows.iter().map(|row| {
        Ok(Job {
            id: row.try_get(0)?,
            schedule: row.try_get(1)?,
            command: row.try_get(2)?,
            database: row.try_get(3)?,
            username: row.try_get(4)?,
            is_user_allowed: row.try_get(5)?,
        })
    });
    jobs.collect()
}

/// Records that a run begins, and returns its id.
pub(super) async fn insert_run(client: &Client, job: &Job) -> Result<i64, Error> {
    let row = client
        .query_one(INSERT_RUN, &[&job.id, &job.database, &job.username, &job.command])
        .await?;
    row.try_get(0)
}

/// Records that the command is about to be run by the backend `pid`.
pub(super) async fn set_running(
    client: &Client,
    run: i64,
    pid: i32,
    start: DateTime<Utc>,
) -> Result<(), Error> {
    client.execute(RUNNING, &[&run, &pid, &start]).await.map(drop)
}

/// Records how a run ended.
pub(super) async fn set_finished(
    client: &Client,
    run: i64,
    result: &RunResult,
    end: DateTime<Utc>,
) -> Result<(), Error> {
    let status = if result.is_success { "succeeded" } else { "failed" };
    client
        .execute(UPDATE_RUN, &[&run, &status, &result.message, &end])
        .await
        .map(drop)
}

/// Marks unfinished runs of an ended node as failed.
pub(super) async fn fail_unfinished_runs(client: &Client) -> Result<u64, Error> {
    client.execute(FAIL_UNFINISHED, &[]).await
}

/// Counts the runs of each of these jobs that have started since `minute`. Jobs without such a run are not in the result.
pub(super) async fn count_starts(
    client: &Client,
    jobs: &[i64],
    minute: DateTime<Utc>,
) -> Result<Vec<(i64, u32)>, Error> {
    let rows = client
        .query(COUNT_STARTS, &[&jobs, &(minute - CLOCK_DIFFERENCE)])
        .await?;
    let counts = rows.iter().map(|row| {
        let count: i64 = row.try_get(1)?;
        Ok((row.try_get(0)?, u32::try_from(count).unwrap_or(u32::MAX)))
    });
    counts.collect()
}

/// Returns those of these jobs that have started at least once since PostgreSQL was started.
pub(super) async fn list_started_jobs(client: &Client, jobs: &[i64]) -> Result<Vec<i64>, Error> {
    let rows = client.query(LIST_STARTED, &[&jobs]).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

#[cfg(test)]
mod tests {
    use selvedge_testing::TestDatabase;

    use super::*;

    /// Tables and a function as those of pg_cron, of `postgres`, with a job that would run as a role of the platform.
    const MADE_UP: &str = "
        create schema cron;
        create function cron._require_valid_schedule(text) returns void language sql as '';
        create table cron.job (
          jobid bigint, schedule text, command text, database text, username text, active bool, jobname text);
        create table cron.job_run_details (
          jobid bigint, runid bigserial, job_pid int, database text, username text, command text, status text,
          return_message text, start_time timestamptz, end_time timestamptz);
        grant usage on schema cron to authenticator;
        grant all on all tables in schema cron to authenticator;
        insert into cron.job values (1, '1 second', 'select 1', current_database(), 'supabase_auth_admin', true);";

    #[tokio::test]
    async fn gw_012_tables_of_jobs_that_postgres_has_made_are_not_believed() {
        let database = TestDatabase::create().await;
        let postgres = database.connect("postgres").await;
        postgres.batch_execute(MADE_UP).await.expect("postgres may");
        let scheduler = database.connect("authenticator").await;

        assert!(!is_installed(&scheduler).await.expect("asked"));
        // Also when the tables took the place of the extension's while the scheduler was running.
        let jobs = list_active_jobs(&scheduler).await.expect("listed");
        assert!(jobs.is_empty(), "{jobs:?}");

        postgres
            .batch_execute(
                "drop schema cron cascade;
                 select _selvedge.create_extension('pg_cron', true, 'public', null, false);",
            )
            .await
            .expect("created");
        assert!(is_installed(&scheduler).await.expect("asked"));
    }

    #[tokio::test]
    async fn gw_012_jobs_of_superusers_and_roles_of_the_platform_are_told_from_others() {
        let database = TestDatabase::create().await;
        let postgres = database.connect("postgres").await;
        postgres
            .batch_execute(
                "select _selvedge.create_extension('pg_cron', true, 'public', null, false);
                 select cron.schedule('mine', '1 second', 'select 1');",
            )
            .await
            .expect("scheduled");
        let superuser = database.superuser().await;
        superuser
            .batch_execute(
                "insert into cron.job (schedule, command, username)
                 select '1 second', 'select 1', name
                 from unnest(array['supabase_admin', 'supabase_auth_admin', 'selvedge_console_service', 'authenticator']) as name",
            )
            .await
            .expect("a superuser may");

        let jobs = list_active_jobs(&database.connect("authenticator").await)
            .await
            .expect("listed");

        let allowed: Vec<&str> = jobs
            .iter()
            .filter(|job| job.is_user_allowed)
            .map(|job| job.username.as_str())
            .collect();
        assert_eq!((jobs.len(), allowed), (5, vec!["postgres"]));
    }

    const INDEX_OF_EARLIER_DATABASES: &str =
        include_str!("../../../../sql/platform/0202_cron_starts_index.sql");

    #[tokio::test]
    async fn the_index_is_made_for_the_extension_and_not_for_tables_that_postgres_has_made() {
        for (setup, is_extension) in [
            (
                "select _selvedge.create_extension('pg_cron', true, 'public', null, false)",
                true,
            ),
            (MADE_UP, false),
        ] {
            let database = TestDatabase::create().await;
            let postgres = database.connect("postgres").await;
            postgres.batch_execute(setup).await.expect("postgres may");
            let superuser = database.superuser().await;
            superuser
                .batch_execute("drop index if exists cron.job_run_details_started_idx")
                .await
                .expect("an earlier version had none");

            for _ in 0..2 {
                superuser
                    .batch_execute(INDEX_OF_EARLIER_DATABASES)
                    .await
                    .expect("applied");
            }

            let found = "select pg_catalog.to_regclass('cron.job_run_details_started_idx') is not null";
            let row = superuser.query_one(found, &[]).await.expect("asked");
            assert_eq!(row.get::<_, bool>(0), is_extension, "{setup}");
        }
    }

    /// Nothing deletes recorded runs but the project.
    #[tokio::test]
    async fn runs_that_began_lately_are_found_without_reading_all_runs() {
        let database = TestDatabase::create().await;
        let postgres = database.connect("postgres").await;
        postgres
            .batch_execute("select _selvedge.create_extension('pg_cron', true, 'public', null, false)")
            .await
            .expect("created");
        let superuser = database.superuser().await;
        superuser
            .batch_execute(
                "insert into cron.job_run_details (jobid, start_time, end_time, status)
                 select n % 20, now() - n * interval '10 seconds', now(), 'succeeded' from generate_series(1, 100000) as n;
                 analyze cron.job_run_details;",
            )
            .await
            .expect("recorded");
        let scheduler = database.connect("authenticator").await;

        for query in [COUNT_STARTS, LIST_STARTED] {
            let query = query
                .replace("$1", "'{1,2,3}'")
                .replace("$2", "now() - interval '2 minutes'")
                .replace("pg_catalog.pg_postmaster_start_time()", "now()");
            let lines = scheduler
                .query(
                    &format!("explain (analyze, timing off, format text) {query}"),
                    &[],
                )
                .await
                .expect("explained");
            let plan: Vec<String> = lines.iter().map(|line| line.get(0)).collect();
            let plan = plan.join("\n");
            assert!(plan.contains("job_run_details_started_idx"), "{plan}");
            assert!(!plan.contains("Seq Scan"), "{plan}");
        }
    }
}
