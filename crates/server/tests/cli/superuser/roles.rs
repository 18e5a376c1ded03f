//! Roles of a server by which `postgres` would be a superuser.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{VERSION, expect_failure, expect_success, migrate_up, query, text_of};
use crate::plain_server::PlainServer;
use crate::support::{Project, connect};

const ARE_RESERVED: &str = "select bool_and(rolsuper) from pg_roles
    where rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')";

/// PostgreSQL 15 lets `postgres` grant them. That they become superusers is a decision about the whole server.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn migrate_up_asks_before_it_makes_roles_of_an_external_server_superusers() {
    let project = Project::new();
    let running = project.start().await;
    let superuser = project.superuser().await;
    let version: i32 = query(&superuser, VERSION).await;
    let are_reserved = async || -> bool { query(&superuser, ARE_RESERVED).await };
    let migrate = |decision: Option<&str>| {
        let mut command = migrate_up(&project);
        if let Some(decision) = decision {
            command.env("SELVEDGE_RESERVE_FILE_ROLES", decision);
        }
        command
    };
    // As on a server that somebody else has made.
    superuser
        .batch_execute(
            "update pg_authid set rolsuper = false where rolname ~ '^pg_(read|write|execute)_server'",
        )
        .await
        .expect("a superuser may");

    if version >= 16 {
        expect_success(&mut migrate(None));
        assert!(!are_reserved().await, "PostgreSQL itself keeps them");
        running.stop();
        return;
    }
    let message = expect_failure(&mut migrate(None));
    assert!(message.contains("SELVEDGE_RESERVE_FILE_ROLES=true"), "{message}");
    assert!(!are_reserved().await, "nothing was changed");

    let printed = expect_success(&mut migrate(Some("false")));
    assert!(
        !are_reserved().await && printed.contains("postgres can grant itself pg_read_server_files"),
        "{printed}"
    );
    superuser
        .batch_execute("create role backups; grant pg_read_server_files to backups; grant pg_execute_server_program to postgres")
        .await
        .expect("a superuser may");
    expect_success(&mut migrate(Some("false")));

    // Whoever is a member would become a superuser, and postgres can become whoever is.
    let message = expect_failure(&mut migrate(Some("true")));
    assert!(
        message.contains("revoke \"pg_read_server_files\" from \"backups\""),
        "{message}"
    );
    superuser
        .batch_execute("revoke pg_read_server_files from backups")
        .await
        .expect("as it says");
    let printed = expect_success(&mut migrate(Some("true")));
    assert!(
        printed.contains("postgres was a member of pg_execute_server_program"),
        "{printed}"
    );
    assert!(are_reserved().await);
    expect_success(&mut migrate(None));

    expect_success(&mut migrate(Some("false")));
    assert!(!are_reserved().await, "the way back");
    running.stop();
}

/// What others than `postgres` may have meant is refused where others may use the server, and ended where nobody else does.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_way_to_a_superuser_through_another_role_is_refused_by_migrate_up_and_ended_by_start() {
    let project = Project::new();
    let running = project.start().await;
    let superuser = project.superuser().await;
    superuser
        .batch_execute(
            "create role operators superuser nologin; create role near; create role far;
             grant operators to far; grant far to near; grant near to postgres",
        )
        .await
        .expect("a superuser may");

    let message = expect_failure(&mut migrate_up(&project));

    assert!(message.contains("revoke \"operators\" from \"far\""), "{message}");

    // What is stored of a password by md5 is enough to log in with, and `postgres` reads it.
    superuser
        .batch_execute(
            "set password_encryption = 'md5'; create role plain login password 'x'; create role stored login password 'x' in role operators",
        )
        .await
        .expect("a superuser may");
    let message = expect_failure(&mut migrate_up(&project));
    assert!(
        message.contains("more rights than postgres as md5: stored. "),
        "{message}"
    );
    superuser
        .batch_execute("drop role stored; drop role plain")
        .await
        .expect("a superuser may");
    running.stop();
    let running = project.start().await;
    let printed = running.output();
    assert!(
        printed.contains("far was a member of operators, and is not any more"),
        "{printed}"
    );
    let refused = project.database().await.batch_execute("set role operators").await;
    assert_eq!(
        refused.expect_err("no way").code().expect("of PostgreSQL").code(),
        "42501"
    );
    running.stop();
}

/// Nobody sees a membership whose transaction has not ended, and its member would become a superuser.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_grant_of_a_file_role_that_is_not_committed_is_waited_for_before_the_role_becomes_a_superuser() {
    let server = PlainServer::start().await;
    let project = Project::new();
    expect_success(
        server
            .migrate_up_command(&project)
            .env("SELVEDGE_RESERVE_FILE_ROLES", "false"),
    );
    let superuser = server.superuser().await;
    let postgres = connect(&server.url_of("postgres", "of-postgres"))
        .await
        .expect("a login");
    let grant = "begin; grant pg_execute_server_program to postgres";
    if query::<i32>(&superuser, VERSION).await >= 16 {
        postgres
            .batch_execute(grant)
            .await
            .expect_err("PostgreSQL itself refuses it");
        return;
    }
    postgres
        .batch_execute(grant)
        .await
        .expect("PostgreSQL 15 lets it");

    let running = server
        .migrate_up_command(&project)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let waits =
        "select exists (select from pg_locks where relation = 'pg_auth_members'::regclass and not granted)";
    let deadline = Instant::now() + Duration::from_secs(60);
    while !query::<bool>(&superuser, waits).await {
        assert!(Instant::now() < deadline, "it does not wait for the grant");
        actix_web::rt::time::sleep(Duration::from_millis(10)).await;
    }
    postgres.batch_execute("commit").await.expect("granted");
    let output = running.wait_with_output().expect("it ends");

    let printed = text_of(&output);
    let members = "select count(*) from pg_auth_members where roleid::regrole::text like 'pg_%_server_%'";
    assert_eq!(query::<i64>(&superuser, members).await, 0, "{printed}");
    postgres
        .batch_execute("copy (select 1) to program 'true'")
        .await
        .expect_err("neither a member nor a superuser");
    expect_success(&mut server.migrate_up_command(&project));
    assert!(query::<bool>(&superuser, ARE_RESERVED).await);
    postgres
        .batch_execute(&grant[7..])
        .await
        .expect_err("nobody grants what superusers have");
}
