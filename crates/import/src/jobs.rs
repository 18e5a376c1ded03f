//! Copies the jobs of pg_cron. Each is written by the role that it runs as, which is all that the table lets anybody but a superuser
//! do.

use anyhow::Result;
use selvedge_postgres::{quote_identifier, quote_literal};
use tokio_postgres::{Client, Row};

use super::report::Report;
use super::source::Source;
use super::target::{Writer, try_statement};

/// The text of each value, as older versions of pg_cron have names where newer ones have texts.
const JOBS: &str = "
    select jobid::text, schedule::text, command::text, username::text, active::text, jobname::text
    from cron.job order by jobid";

/// More numbers than a project uses, and few enough to be counted in a moment.
const MOST_NUMBERS: i64 = 1_000_000;

/// The number of the last job. Numbers are not used again after a job has gone.
const LAST_NUMBER: &str = "select last_value from cron.jobid_seq where is_called";

const HAS_JOBS: &str = "select to_regclass('cron.job') is not null";

/// The role `$1`, and whether it may use the schema.
const MAY_USE: &str = "select has_schema_privilege(r.oid, 'cron', 'usage') from pg_catalog.pg_roles as r
    where r.rolname = $1::text";

/// Copies all jobs, in the import's transaction. Those that the target refuses are reported as left out, for example those of the
/// platform's own roles.
pub(crate) async fn copy_jobs(source: &Source, writer: &Writer, report: &mut Report) -> Result<()> {
    let client = &writer.client;
    if !client.query_one(HAS_JOBS, &[]).await?.get::<_, bool>(0) {
        return Ok(());
    }
    let mut copied = 0;
    writer.become_postgres().await?;
    for job in source.try_query(JOBS).await?.unwrap_or_default() {
        let user: String = job.get(3);
        let refusal = match client.query_opt(MAY_USE, &[&user]).await? {
            None => Some("the role is not here".to_owned()),
            Some(row) => try_statement(client, &insert_job(&job, row.get(0))).await?,
        };
        match refusal {
            None => copied += 1,
            Some(reason) => report.leave_out(format!("{} of {user}: {reason}", describe(&job))),
        }
        writer.become_postgres().await?;
    }
    if copied > 0 {
        report.rows.insert("cron.job".to_owned(), copied);
        skip_numbers(source, client).await?;
    }
    Ok(())
}

fn describe(job: &Row) -> String {
    match job.get::<_, Option<&str>>(5) {
        Some(name) => format!("job {name}"),
        None => format!("job {}", job.get::<_, &str>(0)),
    }
}

/// The statements that write a job as its own role, which gets the use of the schema for that if it does not have it.
fn insert_job(job: &Row, may_use: bool) -> String {
    let user = quote_identifier(job.get(3));
    let values: Vec<String> = (0..6)
        .map(|index| {
            job.get::<_, Option<&str>>(index)
                .map_or("null".to_owned(), quote_literal)
        })
        .collect();
    let insert = format!(
        "insert into cron.job (jobid, schedule, command, username, active, jobname) values ({})",
        values.join(", ")
    );
    let (grant, revoke) = match may_use {
        true => (String::new(), String::new()),
        false => (
            format!("grant usage on schema cron to {user};"),
            format!("; revoke usage on schema cron from {user}"),
        ),
    };
    // The import reads with row-level security off, which refuses tables with policies to others than their owners.
    format!(
        "{grant} set local row_security = on; set local role {user}; {insert}; set local role postgres; \
         set local row_security = off{revoke}"
    )
}

/// Takes the numbers that the source has used out of the sequence, which only a superuser may set.
async fn skip_numbers(source: &Source, target: &Client) -> Result<()> {
    let last = source.try_query(LAST_NUMBER).await?.unwrap_or_default();
    let own = target.query_opt(LAST_NUMBER, &[]).await?;
    let Some(last) = last.first().map(|row| row.get::<_, i64>(0)) else {
        return Ok(());
    };
    let own = own.map_or(0, |row| row.get::<_, i64>(0));
    // The source's owner chooses the number.
    let last = last.min(own.saturating_add(MOST_NUMBERS));
    let skip = "select count(nextval('cron.jobid_seq')) from generate_series($1::bigint + 1, $2::bigint)";
    target.execute(skip, &[&own, &last]).await?;
    Ok(())
}
