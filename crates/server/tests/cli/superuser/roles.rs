//! Roles of a server by which `postgres` would be a superuser.

use super::{expect_success, text_of};
use crate::support::Project;

const ARE_RESERVED: &str = "select bool_and(rolsuper) from pg_roles
    where rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')";

/// PostgreSQL 15 lets `postgres` grant them. That they become superusers is a decision about the whole server.
#[actix_web::test]
async fn migrate_up_asks_before_it_makes_roles_of_an_external_server_superusers() {
    let project = Project::new();
    let running = project.start().await;
    let superuser = project.superuser().await;
    let version: i32 = superuser
        .query_one("select current_setting('server_version_num')::int / 10000", &[])
        .await
        .expect("a row")
        .get(0);
    let are_reserved = async || -> bool {
        superuser
            .query_one(ARE_RESERVED, &[])
            .await
            .expect("a row")
            .get(0)
    };
    let migrate = |decision: Option<&str>| {
        let mut command = project.command(&["migrate", "up"]);
        command.env("DATABASE_URL", project.superuser_url());
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
    let output = migrate(None).output().expect("the binary runs");
    let message = text_of(&output);
    assert!(
        !output.status.success() && message.contains("SELVEDGE_RESERVE_FILE_ROLES=true"),
        "{message}"
    );
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
    let output = migrate(Some("true")).output().expect("the binary runs");
    let message = text_of(&output);
    assert!(!output.status.success(), "{message}");
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
#[actix_web::test]
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

    let output = project
        .command(&["migrate", "up"])
        .env("DATABASE_URL", project.superuser_url())
        .output()
        .expect("the binary runs");

    let message = text_of(&output);
    assert!(!output.status.success(), "{message}");
    assert!(message.contains("revoke \"operators\" from \"far\""), "{message}");
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
