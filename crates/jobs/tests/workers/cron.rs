//! pg_cron: due jobs run once each, as their users, and are recorded.

use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use crate::{development, query_value, start_node, wait_until};

/// A database with pg_cron, created as a project's migration creates it.
pub(crate) async fn create_database() -> (TestDatabase, Client) {
    let database = TestDatabase::create().await;
    let client = database.connect("postgres").await;
    client
        .batch_execute("select _selvedge.create_extension('pg_cron', true, null, null, false)")
        .await
        .expect("created");
    (database, client)
}

#[tokio::test]
async fn jobs_run_as_their_users_and_their_results_are_recorded() {
    let (database, client) = create_database().await;
    client
        .batch_execute(
            "create table public.runs (by_user text, application text);
             select cron.schedule('insert', '1 second', 'insert into public.runs values (current_user, current_setting(''application_name'')); select 1; delete from public.runs where false');
             select cron.schedule('rows', '1 seconds', 'select * from generate_series(1, 3)');
             select cron.schedule('vacuum', '1 seconds', 'vacuum public.runs');
             select cron.schedule('fails', '1 seconds', 'select 1 / 0');
             select cron.schedule('off', '1 seconds', 'select 1');
             select cron.alter_job((select jobid from cron.job where jobname = 'off'), active := false);",
        )
        .await
        .expect("scheduled");
    // A superuser may schedule for a role whose password is not that of the services.
    database
        .superuser()
        .await
        .batch_execute(
            "create role other login password 'other';
             select cron.schedule_in_database('other', '1 second', 'select 1', current_database(), 'other');
             select cron.schedule_in_database('auth', '1 second', 'select 1', current_database(), 'supabase_auth_admin');",
        )
        .await
        .expect("scheduled");
    let node = start_node(&database, development()).await;

    wait_until(
        &client,
        "select count(distinct jobid) = 6 from cron.job_run_details where end_time is not null",
    )
    .await;

    let results = "select string_agg(distinct jobname || ': ' || status || ' ' || return_message, '|' order by jobname || ': ' || status || ' ' || return_message)
        from cron.job_run_details join cron.job using (jobid) where end_time is not null";
    assert_eq!(
        query_value(&client, results).await,
        "auth: failed ERROR:  jobs do not run as \"supabase_auth_admin\"\n\
         DETAIL:  It is a superuser, or a role of the platform.\n|fails: failed ERROR:  division by zero\n|insert: succeeded DELETE 0|\
         other: failed connection failed: password authentication failed for user \"other\"|\
         rows: succeeded 3 rows|vacuum: succeeded VACUUM"
    );
    assert_eq!(
        query_value(
            &client,
            "select distinct by_user || ' ' || application from public.runs"
        )
        .await,
        "postgres pg_cron"
    );
    assert_eq!(
        query_value(
            &client,
            "select bool_and(job_pid is not null and start_time <= end_time and username = 'postgres'
               and database = current_database() and command = 'vacuum public.runs')
             from cron.job_run_details join cron.job using (jobid, database, username, command)
             where jobname = 'vacuum' and end_time is not null"
        )
        .await,
        "true"
    );
    node.abort();
}

#[tokio::test]
async fn a_job_never_runs_twice_at_once_also_after_another_node_took_over() {
    let (database, client) = create_database().await;
    // The first run waits for a row in `go`, and continues in PostgreSQL while another node becomes the leader.
    client
        .batch_execute(
            "create table public.go (); create table public.spans (began timestamptz, ended timestamptz);
             select cron.schedule('slow', '1 second', $job$
               do $$ declare began timestamptz := clock_timestamp(); begin
                 while not exists (select from public.go) loop perform pg_sleep(0.05); end loop;
                 perform pg_sleep(0.2);
                 insert into public.spans values (began, clock_timestamp());
               end $$ $job$);",
        )
        .await
        .expect("scheduled");
    let first = start_node(&database, development()).await;
    wait_until(
        &client,
        "select exists (select from cron.job_run_details where status = 'running')",
    )
    .await;
    first.abort();
    let second = start_node(&database, development()).await;
    wait_until(&client, "select count(*) = 2 from cron.job_run_details").await;
    client
        .batch_execute("insert into public.go default values")
        .await
        .expect("inserted");

    wait_until(&client, "select count(*) >= 3 from public.spans").await;

    let overlaps = "select count(*) from public.spans as a join public.spans as b
        on a.began < b.began and b.began < a.ended";
    assert_eq!(query_value(&client, overlaps).await, "0");
    assert_eq!(
        query_value(
            &client,
            "select status || ' ' || return_message from cron.job_run_details order by runid limit 1"
        )
        .await,
        "failed server restarted"
    );
    second.abort();
}

#[tokio::test]
async fn changes_of_jobs_take_effect_while_the_scheduler_runs() {
    let (database, client) = create_database().await;
    let node = start_node(&database, development()).await;
    client
        .batch_execute("select cron.schedule('a', '1 second', 'select 1')")
        .await
        .expect("scheduled");
    wait_until(&client, "select exists (select from cron.job_run_details)").await;

    client
        .batch_execute("select cron.schedule('a', '1 second', 'select 2')")
        .await
        .expect("changed");
    wait_until(
        &client,
        "select exists (select from cron.job_run_details where command = 'select 2')",
    )
    .await;

    client
        .batch_execute("select cron.unschedule('a'), cron.schedule('b', '1 second', 'select 3')")
        .await
        .expect("changed");
    // When the scheduler has read `b`, it has also noticed that `a` was deleted.
    wait_until(
        &client,
        "select exists (select from cron.job_run_details where command = 'select 3')",
    )
    .await;
    let runs_of_a = "select count(*) from cron.job_run_details where jobid = 1";
    let before = query_value(&client, runs_of_a).await;
    wait_until(
        &client,
        "select count(*) >= 3 from cron.job_run_details where command = 'select 3'",
    )
    .await;
    assert_eq!(query_value(&client, runs_of_a).await, before);
    node.abort();
}

/// `postgres` may make a schema of that name where the extension is not.
#[tokio::test]
async fn a_table_of_jobs_that_belongs_to_no_superuser_is_not_read() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres
        .batch_execute(
            "create schema cron;
             create function cron._require_valid_schedule(text) returns void language sql as '';
             create table cron.job (jobid bigint, schedule text, command text, database text, username text, active bool, jobname text);
             create table cron.job_run_details (jobid bigint, runid bigserial, job_pid int, database text, username text, command text,
               status text, return_message text, start_time timestamptz, end_time timestamptz);
             grant usage on schema cron to authenticator; grant all on all tables in schema cron to authenticator;
             grant all on all sequences in schema cron to authenticator;
             insert into cron.job values (1, '1 second', 'create table public.ran ()', current_database(), 'postgres', true)",
        )
        .await
        .expect("postgres may");
    let node = start_node(&database, development()).await;

    let leads = "select exists (select from _selvedge.selvedge_worker_sessions where pid is not null)";
    wait_until(&database.superuser().await, leads).await;
    // A job of each second would have run in this time.
    postgres
        .batch_execute("notify selvedge_jobs, 'cron'; select pg_sleep(2.5)")
        .await
        .expect("waited");

    let facts = "select (select count(*) from cron.job_run_details) || ' ' || coalesce(to_regclass('public.ran')::text, 'none')";
    assert_eq!(query_value(&postgres, facts).await, "0 none");
    node.abort();
}

/// Only the session itself tells as whom it has begun.
#[tokio::test]
async fn a_job_whose_session_begins_as_a_superuser_does_not_run() {
    let (database, client) = create_database().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "create role superior superuser nologin;
             create role of_superior login password 'postgres' in role superior;
             alter role of_superior set role = 'superior';
             select cron.schedule_in_database('x', '1 second', 'create table public.ran ()', current_database(), 'of_superior')",
        )
        .await
        .expect("a superuser may");
    let node = start_node(&database, development()).await;

    wait_until(
        &client,
        "select exists (select from cron.job_run_details where end_time is not null)",
    )
    .await;
    node.abort();

    let facts = "select (select distinct status || ' ' || split_part(return_message, E'\\n', 1) from cron.job_run_details where end_time is not null)
        || ' ' || coalesce(to_regclass('public.ran')::text, 'none')";
    assert_eq!(
        query_value(&client, facts).await,
        "failed ERROR:  jobs do not run as \"of_superior\" none"
    );
    superuser
        .batch_execute("drop role of_superior; drop role superior")
        .await
        .expect("dropped");
}
