//! Scripts of extensions that a superuser runs in a schema of the project.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use super::query;
use crate::support::Project;

/// An extension of somebody else, whose script calls a function of PostgreSQL without naming its schema. The server lets `postgres` create
/// one of this name.
const CONTROL: &str = "default_version = '1.0'\nrelocatable = false\n";
const SCRIPT: &str = "-- lower('X'::text)
\\echo Use CREATE EXTENSION \\quit
create function advise(int) returns int language sql as 'select 1';
comment on function advise(int) is 'advise(1)';
select FORMAT('%s'::text, 'x'::text);";

/// One that calls nothing, as that of pgvector.
const QUIET_SCRIPT: &str =
    "create function hypo(int) returns text language sql as 'select format(''%s''::text, ''x''::text)';";

/// What PostgreSQL would call in its place.
const PLANTED: &str = "create function public.format(text, text) returns text language plpgsql as $$
    begin create role attacker superuser; return ''; end $$";

async fn refusal(client: &tokio_postgres::Client, sql: &str) -> String {
    let error = client.batch_execute(sql).await.expect_err(sql);
    let error = error.as_db_error().expect("of PostgreSQL");
    assert_eq!(error.code().code(), "42501", "{error:?}");
    error.message().to_owned()
}

#[actix_web::test]
async fn no_script_of_an_extension_calls_a_function_of_the_project_as_a_superuser() {
    let project = Project::new();
    let cache = tempfile::Builder::new()
        // Run as root, the cluster belongs to another user, who has to read its programs there.
        .permissions(Permissions::from_mode(0o755))
        .tempdir()
        .expect("a temporary folder");
    for version in 15..=18 {
        let folder = cache
            .path()
            .join(format!("selvedge/extensions-{version}/scripts"));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, script) in [("index_advisor", SCRIPT), ("hypopg", QUIET_SCRIPT)] {
            std::fs::write(folder.join(format!("{name}.control")), CONTROL).expect("written");
            std::fs::write(folder.join(format!("{name}--1.0.sql")), script).expect("written");
        }
    }
    let cache = cache.path().display().to_string();
    let running = project.spawn(&project.start_arguments(), &[("XDG_CACHE_HOME", &cache)]);
    running.wait_until_ready().await;
    let postgres = project.database().await;
    let harmless = "create function public.lower(int) returns int language sql as 'select 1';
        create function public.advise(text) returns text language sql as 'select $1'";
    postgres.batch_execute(harmless).await.expect("postgres may");
    postgres.batch_execute(PLANTED).await.expect("postgres may");

    let create = "create extension index_advisor schema public";
    for way in [
        create,
        "select _selvedge.create_extension('index_advisor', false, 'public', null, false)",
        "set session_replication_role = replica; create extension index_advisor schema public",
    ] {
        let message = refusal(&postgres, way).await;
        assert!(
            message.contains("index_advisor")
                && message.contains("public.format(text,text)")
                && !message.contains("public.lower")
                && !message.contains("advise"),
            "{message}"
        );
    }
    // One that another session is about to add is waited for.
    postgres
        .batch_execute("reset session_replication_role; drop function public.format(text, text)")
        .await
        .expect("dropped");
    let other = project.database().await;
    other
        .batch_execute(&format!("begin; {PLANTED}"))
        .await
        .expect("postgres may");
    let waits = "select exists (select from pg_stat_activity where query like 'create extension%' and wait_event = 'PgSleep')";
    let commit = async {
        let watching = project.database().await;
        let deadline = Instant::now() + Duration::from_secs(60);
        while !query::<bool>(&watching, waits).await {
            assert!(Instant::now() < deadline, "nobody waits");
            actix_web::rt::time::sleep(Duration::from_millis(5)).await;
        }
        other.batch_execute("commit").await.expect("committed");
    };
    let (message, ()) = tokio::join!(refusal(&postgres, create), commit);
    assert!(message.contains("public.format(text,text)"), "{message}");

    postgres
        .batch_execute("drop function public.format(text, text)")
        .await
        .expect("dropped");
    postgres.batch_execute(create).await.expect("postgres may");
    // Once it is there its script does not run any more. One that calls nothing waits for nobody and refuses nothing.
    postgres.batch_execute(PLANTED).await.expect("postgres may");
    other
        .batch_execute("begin; create table public.open (id int)")
        .await
        .expect("postgres may");
    postgres
        .batch_execute("create extension citext schema public; create extension hypopg schema public")
        .await
        .expect("postgres may");
    let attackers = "select count(*) from pg_roles where rolname = 'attacker'";
    assert_eq!(query::<i64>(&postgres, attackers).await, 0);
    running.stop();
}
