//! Databases that are copied: by an import into a project, and for stacks.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::sessions::{expect_own_relations, expect_pinned_sessions, log_superuser_statements};
use super::{TRAPS, count_trapped, expect_success, find_trapped};
use crate::support::Project;

/// The target is prepared: code is attached to what an import writes, also such that calls functions of PostgreSQL alone.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_import_runs_no_code_of_the_target_and_none_of_the_source_as_a_superuser() {
    let source = Project::of_source();
    source.write("migrations/20260101000000_traps.sql", TRAPS);
    source.write(
        "migrations/20260102000000_notes.sql",
        "create table public.notes (body text check (public.trap()) default (public.trap()::text));
         create index notes_trap on public.notes (body) where public.trap();
         insert into public.notes values ('a'), ('b');
         create materialized view public.counted as select count(*) from public.notes where public.trap();
         drop schema cron cascade; create extension pg_cron;
         select cron.schedule('nightly', '0 3 * * *', 'select 1');
         create role planner login createdb; grant authenticated to planner with admin option; grant planner to postgres;
         grant create on schema public to planner; grant usage on schema cron to planner;
         set role planner; create table public.planned (id int); select cron.schedule('own', '0 4 * * *', 'select 2'); reset role;
         revoke create on schema public from planner;
         create extension dblink with schema public; create extension postgres_fdw with schema extensions;
         create server remote foreign data wrapper postgres_fdw options (host 'remote');
         create publication everything for all tables;
         alter database postgres set datestyle = 'SQL, DMY'; alter database postgres set extra_float_digits = 0;
         create table public.days as select date '2026-04-03' as day, 0.1::float8 + 0.2::float8 as total;",
    );
    let of_source = source.start().await;
    let superuser = source.superuser().await;
    superuser
        .batch_execute(
            // A number that nobody counts up to.
            "create role streaming login replication bypassrls; select setval('cron.jobid_seq', 9000000000000000000)",
        )
        .await
        .expect("a superuser may");
    let target = Project::new();
    target.write("migrations/20260101000000_traps.sql", TRAPS);
    let running = target.start().await;
    let own = log_superuser_statements(&target).await;
    let status = source.run_and_expect_success(&["status", "-o", "json"]);
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let mut import = target.command(&["import", "--yes"]);
    for (variable, name) in [
        ("SUPABASE_DB_URL", "DB_URL"),
        ("SUPABASE_URL", "API_URL"),
        ("SUPABASE_SERVICE_ROLE_KEY", "SERVICE_ROLE_KEY"),
    ] {
        import.env(variable, status[name].as_str().expect("a value"));
    }
    let printed = expect_success(import.stdin(Stdio::null()));

    // The import drops the sequence of the target's traps, and brings that of the source.
    for project in [&source, &target] {
        let trapped = find_trapped(&project.path(".selvedge/postgres.log"));
        assert_eq!(trapped, Vec::<String>::new());
    }
    expect_own_relations(&target, own).await;
    expect_pinned_sessions(&target, own);
    let facts = "select concat_ws(' ', (select count(*) from public.notes),
        (select string_agg(jobname || ' of ' || username, ', ' order by jobid) from cron.job),
        (select is_called from auth.trapped),
        (select string_agg(relname || ' of ' || relowner::regrole, ', ' order by relname) from pg_class where relname in ('notes', 'planned')),
        has_schema_privilege('planner', 'public', 'create'), has_schema_privilege('planner', 'cron', 'usage'),
        has_function_privilege('anon', 'public.dblink_connect_u(public.dblink_connection)', 'execute'),
        (select pubowner::regrole from pg_publication where pubname = 'everything' and puballtables),
        (select srvowner::regrole from pg_foreign_server where srvname = 'remote'),
        (select count(*) from pg_roles where rolname ~ '^selvedge_(run|import)'),
        (select rolsuper from pg_roles where rolname = 'planner'),
        (select rolreplication || ' ' || rolbypassrls from pg_roles where rolname = 'streaming'),
        (select day || ' ' || total from public.days),
        (select last_value between 1000000 and 2000000 from cron.jobid_seq))";
    let row = target.database().await.query_one(facts, &[]).await;
    let found: String = row.expect("a row").get(0);
    assert_eq!(
        found,
        "2 nightly of postgres, own of planner f notes of postgres, planned of planner f f f postgres postgres 0 f false true 2026-04-03 0.30000000000000004 t",
        "{printed}"
    );
    running.stop();
    of_source.stop();
}

/// The template of the stacks is made, and copied, from a database full of traps.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_stack_runs_no_code_of_the_project_as_a_superuser() {
    let project = Project::new();
    project.write("migrations/20260101000000_traps.sql", TRAPS);
    let mut stack = project
        .command(&["stack"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    let mut output = BufReader::new(stack.stdout.take().expect("a pipe"));
    output.read_line(&mut line).expect("a line");
    let urls: Value = serde_json::from_str(&line).expect("JSON");

    let trapped = count_trapped(urls["DB_URL"].as_str().expect("a URL")).await;

    let states = std::fs::read_dir(project.path(".selvedge/stacks")).expect("a folder");
    let state = states.flatten().next().expect("one state").path();
    assert_eq!((trapped, find_trapped(&state.join("postgres.log"))), (0, vec![]));
    drop(stack.stdin.take());
    assert!(stack.wait().expect("it ends").success());
}
