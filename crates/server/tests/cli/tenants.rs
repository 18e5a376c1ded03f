//! `selvedge tenants`: creates tenants, and migrates them also after an interruption.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Project, Running};

/// Sends a GET on the schema `profile` and returns status and body.
async fn get(running: &Running, profile: &str, path: &str) -> (u16, Value) {
    let response = reqwest::Client::new()
        .get(running.url(path))
        .header("accept-profile", profile)
        .send()
        .await
        .expect("a response");
    (
        response.status().as_u16(),
        response.json().await.unwrap_or(Value::Null),
    )
}

/// Repeats a GET until the response has `status`, because a change of the schema takes effect a moment later.
async fn wait_for(running: &Running, profile: &str, path: &str, status: u16) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let (found, body) = get(running, profile, path).await;
        if found == status {
            return body;
        }
        assert!(Instant::now() < deadline, "{found} {body}");
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn count(database: &tokio_postgres::Client, sql: &str) -> i64 {
    database.query_one(sql, &[]).await.expect("a count").get(0)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_killed_tenant_migration_is_completed_by_the_next_run() {
    let project = Project::new();
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[api]\nschemas = [\"public\", \"tenant_*\"]\n",
    );
    project.write(
        "tenant_migrations/20260101000000_notes.sql",
        "create table notes (id int primary key, body text); insert into notes values (1, current_schema());",
    );
    let running = project.start().await;
    project.run_and_expect_success(&["tenants", "create", "a", "tenant_b", "c"]);

    // Each tenant has its own tables and rows, and schemas that do not match the pattern are not exposed.
    for tenant in ["tenant_a", "tenant_b", "tenant_c"] {
        let body = wait_for(&running, tenant, "/rest/v1/notes?select=body", 200).await;
        assert_eq!(body[0]["body"], tenant);
    }
    assert_eq!(get(&running, "storage", "/rest/v1/objects").await.0, 406);
    assert_eq!(get(&running, "tenant_d", "/rest/v1/notes").await.0, 406);
    assert_eq!(get(&running, "public", "/rest/v1/notes").await.0, 404);

    // In the second tenant's schema, the second migration waits for a lock that the test holds.
    project.write(
        "tenant_migrations/20260102000000_tags.sql",
        "create table tags (id int);
         select pg_advisory_xact_lock(4711) where current_schema() = 'tenant_b';
         alter table notes add column tag int;",
    );
    let database = project.database().await;
    database
        .batch_execute("select pg_advisory_lock(4711)")
        .await
        .expect("a lock");
    let mut migrating = project
        .command(&["tenants", "migrate"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let waiting = "select count(*) from pg_locks where locktype = 'advisory' and not granted";
    let deadline = Instant::now() + Duration::from_secs(60);
    while count(&database, waiting).await == 0 {
        assert!(Instant::now() < deadline, "the migration does not wait");
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
    migrating.kill().expect("a running process");
    migrating.wait().expect("it has ended");
    database
        .batch_execute("select pg_advisory_unlock(4711)")
        .await
        .expect("a lock");

    let migrated = project.run_and_expect_success(&["tenants", "migrate"]);

    assert!(
        migrated.contains("3 tenants, 2 of them migrated now"),
        "{migrated}"
    );
    let tables = "select count(*) from pg_tables where tablename = 'tags' and schemaname like 'tenant_%'";
    assert_eq!(count(&database, tables).await, 3);
    let history = "select count(*) from supabase_migrations.tenant_migrations";
    assert_eq!(count(&database, history).await, 6);
    wait_for(&running, "tenant_c", "/rest/v1/notes?select=tag", 200).await;

    // The error of a failed migration names the tenant; tenants migrated before stay migrated.
    project.write(
        "tenant_migrations/20260103000000_bad.sql",
        "create table half (id int);\nselect 1 / (current_schema() <> 'tenant_b')::int;",
    );
    let message = project.run_and_expect_failure(&["tenants", "migrate"]);
    assert!(
        message.contains("tenant tenant_b: 1 of 3 tenants are up to date"),
        "{message}"
    );
    assert!(message.contains("20260103000000_bad.sql:2"), "{message}");
    let listed = project.run_and_expect_success(&["tenants", "list"]);
    assert!(
        listed.contains("tenant_b") && listed.contains("2 applied, 1 pending"),
        "{listed}"
    );

    assert!(
        project
            .run_and_expect_failure(&["tenants", "drop", "b"])
            .contains("--yes")
    );
    project.run_and_expect_success(&["tenants", "drop", "b", "--yes"]);
    wait_for(&running, "tenant_b", "/rest/v1/notes", 406).await;
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn creating_tenants_requires_a_pattern_and_plain_names() {
    let project = Project::new();
    let message = project.run_and_expect_failure(&["tenants", "create", "a"]);
    assert!(message.contains("there is no pattern"), "{message}");

    project.write(
        "config.toml",
        "project_id = \"cli\"\n[api]\nschemas = [\"public\", \"t_*\"]\n",
    );
    let message = project.run_and_expect_failure(&["tenants", "create", "A-b"]);
    assert!(message.contains("letters a to z"), "{message}");
}

/// Whoever names a host means the database there.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn what_empties_a_database_refuses_the_name_of_a_host_on_the_projects_own() {
    let project = Project::new();
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[api]\nschemas = [\"public\", \"tenant_*\"]\n",
    );
    project.run_and_expect_success(&["tenants", "create", "acme"]);
    let stopped = [&["tenants", "drop", "acme"][..], &["db", "reset"]];
    let running = [
        &["tenants", "drop", "acme"][..],
        &["db", "reset"],
        &["migration", "down"],
    ];
    let refuse = |commands: &[&[&str]], running: bool| {
        for command in commands {
            let refused =
                project.run_and_expect_failure(&[command, &["--yes=staging.example.com"][..]].concat());
            assert!(
                refused.contains("--yes=staging.example.com does not name the target"),
                "{command:?}, running: {running}: {refused}"
            );
        }
    };

    refuse(&stopped, false);
    let server = project.start().await;
    refuse(&running, true);

    let listed = project.run_and_expect_success(&["tenants", "list"]);
    assert!(listed.contains("tenant_acme"), "{listed}");
    server.stop();
}
