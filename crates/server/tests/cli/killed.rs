//! Kills a first start, a push and a reset by SIGKILL, and checks that nothing is half applied and that the next command completes
//! the work.

use std::time::{Duration, Instant};

use crate::support::{Project, kill_when};

const FIRST_MIGRATION: &str = "create table notes (body text);";
/// Sleeps three seconds between its two statements, during which the test kills the process.
const SLOW: &str = "create table half (n int); select pg_sleep(3); create table whole (n int);";
const SEED: &str = "insert into notes values ('one'); select pg_sleep(3); insert into notes values ('two');";

fn project() -> Project {
    let project = Project::new();
    project.write("migrations/20260101000000_first.sql", FIRST_MIGRATION);
    project
}

/// Whether the project's database is executing a statement that contains this text. All that are asked for last seconds; each question
/// is a login, which takes 20 ms of a core.
async fn is_executing(project: &Project, text: &str) -> bool {
    actix_web::rt::time::sleep(Duration::from_millis(50)).await;
    let query = "select exists (select from pg_stat_activity
        where pid <> pg_backend_pid() and state = 'active' and query like '%' || $1 || '%')";
    match project.try_socket().await {
        Some(client) => client
            .query_one(query, &[&text])
            .await
            .is_ok_and(|row| row.get(0)),
        None => false,
    }
}

/// Whether there is a data directory that initdb is still writing.
fn has_unfinished(project: &Project) -> bool {
    let entries = std::fs::read_dir(project.path(".selvedge")).into_iter().flatten();
    entries.flatten().any(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .starts_with("pgdata.unfinished")
            && entry.path().join("base").exists()
    })
}

/// Returns the rows of `notes`, the tables of the slow migration, and the versions in the history.
async fn describe(project: &Project) -> String {
    let query = "select concat_ws(' | ',
        (select string_agg(body, ',' order by body) from notes),
        (select string_agg(relname, ',' order by relname) from pg_class where relname in ('half', 'whole')),
        (select string_agg(version, ',' order by version) from supabase_migrations.schema_migrations))";
    let row = project.database().await.query_one(query, &[]).await;
    row.expect("a row").get(0)
}

const COMPLETE_STATE: &str = "one,two | half,whole | 20260101000000,20260101000001";

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_a_killed_first_start_is_completed_by_the_next_start() {
    let project = project();
    project.write("migrations/20260101000001_slow.sql", SLOW);
    project.write("seed.sql", SEED);
    let start = || {
        let arguments = project.start_arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        project.command(&arguments)
    };

    kill_when(start(), async || has_unfinished(&project)).await;
    kill_when(start(), async || {
        is_executing(&project, "create table half").await
    })
    .await;
    kill_when(start(), async || {
        is_executing(&project, "insert into notes").await
    })
    .await;

    let running = project.start().await;
    assert_eq!(describe(&project).await, COMPLETE_STATE);
    assert!(!has_unfinished(&project));
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_a_killed_push_or_reset_leaves_nothing_half_applied() {
    let project = project();
    let running = project.start().await;
    project.write("migrations/20260101000001_slow.sql", SLOW);
    let in_migration = async || is_executing(&project, "create table half").await;

    kill_when(project.command(&["db", "push"]), in_migration).await;
    assert_eq!(describe(&project).await, "20260101000000");
    project.run_and_expect_success(&["db", "push"]);
    assert_eq!(
        describe(&project).await,
        "half,whole | 20260101000000,20260101000001"
    );

    project.write("seed.sql", SEED);
    kill_when(project.command(&["db", "reset"]), in_migration).await;
    let in_seed = async || is_executing(&project, "insert into notes").await;
    kill_when(project.command(&["db", "reset"]), in_seed).await;
    running.stop();
    let running = project.start().await;
    assert_eq!(
        describe(&project).await,
        COMPLETE_STATE,
        "the start has run the seeds"
    );

    kill_when(project.command(&["db", "reset"]), in_seed).await;
    project.run_and_expect_success(&["db", "reset"]);
    assert_eq!(describe(&project).await, COMPLETE_STATE);
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_a_killed_reset_of_a_stopped_project_is_completed_by_the_next_start() {
    let project = project();
    project.start().await.stop();
    project.write("seed.sql", SEED);
    let port = project.ports.database.to_string();
    let reset = project.command(&["reset", "--yes", "--db-port", &port]);

    kill_when(reset, async || is_executing(&project, "insert into notes").await).await;

    let running = project.start().await;
    assert_eq!(describe(&project).await, "one,two | 20260101000000");
    running.stop();
}

/// Waits until no transaction of `postgres` is open but that of the session that asks.
async fn wait_for_other_transactions(database: &tokio_postgres::Client) {
    let open = "select count(*) from pg_stat_activity
        where usename = 'postgres' and pid <> pg_backend_pid() and xact_start is not null";
    let deadline = Instant::now() + Duration::from_secs(60);
    while database
        .query_one(open, &[])
        .await
        .expect("a count")
        .get::<_, i64>(0)
        > 0
    {
        assert!(Instant::now() < deadline, "a transaction does not end");
        actix_web::rt::time::sleep(Duration::from_millis(10)).await;
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_that_is_killed_while_it_waits_for_an_open_transaction_changes_nothing() {
    let project = project();
    project.write("seed.sql", "insert into notes values ('kept');");
    let running = project.start().await;
    let (reader, watcher) = (project.database().await, project.database().await);
    let is_waiting =
        "select exists (select from pg_locks where not granted and relation = 'public.notes'::regclass)";
    let is_member = "select pg_has_role('postgres', 'supabase_auth_admin', 'member')";
    // Without that membership a reset has to change the roles before it can empty the database.
    for has_membership in [true, false] {
        if !has_membership {
            let revoke = "revoke supabase_auth_admin from postgres";
            project
                .superuser()
                .await
                .batch_execute(revoke)
                .await
                .expect("revoked");
        }
        let read = "begin; select * from notes";
        reader.batch_execute(read).await.expect("read");

        kill_when(project.command(&["db", "reset"]), async || {
            watcher.query_one(is_waiting, &[]).await.expect("a row").get(0)
        })
        .await;
        reader.batch_execute("commit").await.expect("ended");
        wait_for_other_transactions(&watcher).await;

        assert_eq!(describe(&project).await, "kept | 20260101000000");
        let marker = std::fs::read_to_string(project.path(".selvedge/initialized"));
        assert_eq!(marker.expect("the database is complete"), "");
        let row = watcher.query_one(is_member, &[]).await.expect("a row");
        assert_eq!(row.get::<_, bool>(0), has_membership);
    }
    project.run_and_expect_success(&["db", "reset"]);
    let row = watcher.query_one(is_member, &[]).await.expect("a row");
    assert!(row.get::<_, bool>(0), "as in a fresh project");
    running.stop();
}

/// Nobody knows of a command that was killed at its commit whether the database was emptied, but PostgreSQL.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_start_finds_out_whether_a_reset_that_was_cut_off_at_its_commit_has_emptied_the_database() {
    let project = project();
    let marker = project.path(".selvedge/initialized");
    let mut is_first = Vec::new();
    for end in ["", "rollback", "commit"] {
        let running = project.start().await;
        is_first.push(running.output().contains("first start"));
        assert_eq!(std::fs::read_to_string(&marker).expect("it is complete"), "");
        let database = project.database().await;
        if end.is_empty() {
            running.stop();
            continue;
        }
        database.batch_execute("begin").await.expect("begun");
        let number = "select pg_current_xact_id()::text";
        let number: String = database.query_one(number, &[]).await.expect("a row").get(0);
        std::fs::write(&marker, number).expect("written");
        database.batch_execute(end).await.expect("ended");
        let file = project.path("project.tar");
        let backup = ["backup", file.to_str().expect("a path")];
        if end == "rollback" {
            project.run_and_expect_success(&backup);
            std::fs::remove_file(&file).expect("removed");
        } else {
            let refused = project.run_and_expect_failure(&backup);
            assert!(refused.contains("no complete database"), "{refused}");
        }
        running.stop();
    }
    let running = project.start().await;
    is_first.push(running.output().contains("first start"));
    running.stop();

    assert_eq!(is_first, [true, false, false, true]);
}
