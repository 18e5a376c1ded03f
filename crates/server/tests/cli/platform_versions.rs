//! Two versions of this program on one database: the older one changes nothing, and what the newer one resets it can start again.

use std::process::Output;

use crate::plain_server::PlainServer;
use crate::support::Project;

/// As if a newer version had brought the database up to date.
const NEWER: &str = "
    insert into _selvedge.platform_migrations (version, name, sha256) values (9999, '9999_later.sql', 'x');
    create table auth.later (id int);
    alter table auth.users add column later text;";

/// As if an older version had made the database.
const OLDER: &str = "
    delete from _selvedge.platform_migrations where version in (135, 231);
    drop function _selvedge.find_tenants_run();
    drop view _selvedge.installed_extensions;
    alter table _selvedge.selvedge_installed_extensions rename to installed_extensions;";

const LATER_PARTS: &str = "select (to_regclass('auth.later') is not null)::text || count(*) from pg_attribute
    where attrelid = 'auth.users'::regclass and attname = 'later'";

const HAS_FILE: &str = "select count(*)::text from _selvedge.platform_migrations where version = 135";

async fn read(client: &tokio_postgres::Client, query: &str) -> String {
    client.query_one(query, &[]).await.expect("a row").get(0)
}

fn text_of(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{err}")
}

/// A project whose commands have something to do.
fn project() -> Project {
    let project = Project::new();
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[api]\nschemas = [\"public\", \"tenant_*\"]\n",
    );
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (id int);",
    );
    project
}

/// Commands that write. They have a database to write to.
const WRITING: [&[&str]; 7] = [
    &["migration", "up"],
    &["migration", "down"],
    &["migration", "repair", "--status", "applied"],
    &["db", "push"],
    &["db", "query", "drop table if exists auth.later"],
    &["tenants", "create", "acme"],
    &["db", "reset"],
];

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_017_an_older_program_writes_nothing_to_a_running_database_of_a_newer_one() {
    let project = project();
    let running = project.start().await;
    let superuser = project.superuser().await;
    superuser.batch_execute(NEWER).await.expect("made");

    for command in WRITING {
        let refused = project.run_and_expect_failure(command);
        assert!(
            refused.contains("newer version") && refused.contains("9999_later.sql"),
            "{command:?}: {refused}"
        );
    }

    assert_eq!(read(&superuser, LATER_PARTS).await, "true1");
    assert!(project.path(".selvedge/initialized").exists());
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_017_an_older_program_writes_nothing_to_an_external_database_of_a_newer_one() {
    let (project, server) = (project(), PlainServer::start().await);
    server.migrate_up(&project);
    let superuser = server.superuser().await;
    superuser.batch_execute(NEWER).await.expect("made");

    for url in [server.url(), server.url_of("postgres", "of-postgres")] {
        for command in WRITING {
            let mut arguments = command.to_vec();
            if command.contains(&"reset") || command.contains(&"down") {
                arguments.push("--yes");
            }
            let refused = project.command(&arguments).env("DATABASE_URL", &url).output();
            let refused = refused.expect("the binary runs");
            let printed = text_of(&refused);
            assert!(
                !refused.status.success() && printed.contains("newer version"),
                "{command:?}: {printed}"
            );
        }
    }

    assert_eq!(read(&superuser, LATER_PARTS).await, "true1");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_by_a_newer_program_leaves_a_project_that_starts() {
    let project = project();
    let running = project.start().await;
    let superuser = project.superuser().await;
    superuser.batch_execute(OLDER).await.expect("made");

    let reset = project.run(&["db", "reset"]);

    let printed = text_of(&reset);
    assert!(reset.status.success(), "{printed}");
    assert!(printed.contains("an older version of selvedge runs"), "{printed}");
    assert_eq!(read(&superuser, HAS_FILE).await, "1");
    drop(superuser);
    running.stop();
    project.start().await.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_of_an_external_database_of_an_older_version_takes_a_superuser() {
    let (project, server) = (project(), PlainServer::start().await);
    server.migrate_up(&project);
    let superuser = server.superuser().await;
    superuser.batch_execute(OLDER).await.expect("made");
    let reset = |url: String| {
        let mut command = project.command(&["db", "reset", "--yes"]);
        command
            .env("DATABASE_URL", url)
            .output()
            .expect("the binary runs")
    };

    let refused = reset(server.url_of("postgres", "of-postgres"));
    let printed = text_of(&refused);
    assert!(
        !refused.status.success() && printed.contains("an older version made it"),
        "{printed}"
    );
    assert_eq!(read(&superuser, HAS_FILE).await, "0");

    let done = reset(server.url());
    assert!(done.status.success(), "{}", text_of(&done));
    assert_eq!(read(&superuser, HAS_FILE).await, "1");
    server.migrate_up(&project);
}

/// Everything of the catalogs that a reset compares.
const STATE: &str = include_str!("../../../postgres/src/migrate/database_state.sql");

async fn read_state(client: &tokio_postgres::Client) -> Vec<String> {
    let set = "set search_path = pg_catalog, pg_temp";
    client.batch_execute(set).await.expect("set");
    let query = format!("select s::text from ({STATE}) as s");
    let rows = client.query(&query, &[]).await.expect("rows");
    rows.iter().map(|row| row.get(0)).collect()
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_that_is_refused_has_changed_nothing() {
    let project = project();
    project.write(
        "migrations/20260102000000_closed.sql",
        "alter default privileges in schema public revoke all on tables from anon, authenticated;
         alter role anon set statement_timeout = '7s';",
    );
    let running = project.start().await;
    let superuser = project.superuser().await;
    let before = read_state(&superuser).await;
    let refuse = |what: &str, expected: &str| {
        let arguments = ["db", "reset", "--version", "20260103000000"];
        let refused = project.run_and_expect_failure(if what.is_empty() {
            &arguments
        } else {
            &arguments[..2]
        });
        assert!(refused.contains(expected), "{what}: {refused}");
        assert!(!refused.contains("is empty now"), "{what}: {refused}");
        assert!(project.path(".selvedge/initialized").exists(), "{what}");
        assert!(!project.path(".selvedge/fresh").exists(), "{what}");
    };

    refuse("", "there is no migration of version 20260103000000");
    project.write("roles.sql", "comment on role anon is 'not ended;");
    refuse("roles", "roles.sql");
    std::fs::remove_file(project.path("roles.sql")).expect("removed");
    project.write("migrations/20260104000000_open.sql", "select 'not ended;");
    refuse("migration", "20260104000000_open.sql");
    project.write(
        "migrations/20260104000000_open.sql",
        "create extension no_such_extension;",
    );
    refuse("extension", "no_such_extension");
    std::fs::remove_file(project.path("migrations/20260104000000_open.sql")).expect("removed");
    // Somebody's open transaction would be waited for without end.
    let reader = project.database().await;
    // Messages are deleted after the project's tables, in another transaction.
    for table in ["public.notes", "realtime.messages"] {
        let reads =
            format!("begin; set application_name = 'of a reader of {table}'; select count(*) from {table}");
        reader.batch_execute(&reads).await.expect("read");
        refuse(table, &format!("of a reader of {table}"));
        reader.batch_execute("rollback").await.expect("ended");
    }

    assert_eq!(read_state(&superuser).await, before);
    running.stop();

    // As `reset` and `db reset` of a project that does not run.
    project.write("migrations/20260104000000_open.sql", "select 'not ended;");
    for command in [&["db", "reset"][..], &["reset", "--yes"]] {
        let refused = project.run_and_expect_failure(command);
        assert!(refused.contains("20260104000000_open.sql"), "{refused}");
        assert!(project.path(".selvedge/initialized").exists(), "{command:?}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_reset_of_an_external_database_is_refused_when_its_files_create_roles_that_exist() {
    let (project, server) = (project(), PlainServer::start().await);
    project.write(
        "migrations/20260102000000_worker.sql",
        "create role app_worker; create table jobs (id int); insert into jobs values (1);",
    );
    server.migrate_up(&project);
    let superuser = server.superuser().await;
    let mut command = project.command(&["db", "reset", "--yes"]);

    let refused = command.env("DATABASE_URL", server.url()).output();

    let refused = refused.expect("the binary runs");
    let printed = text_of(&refused);
    assert!(
        !refused.status.success()
            && printed.contains("20260102000000_worker.sql:1: app_worker")
            && printed.contains("nothing was changed"),
        "{printed}"
    );
    let jobs = "select count(*)::text from public.jobs";
    assert_eq!(read(&superuser, jobs).await, "1");
}

/// It only looks, so it does not bring the database up to date, which the older program could not use any more.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_017_a_dry_run_of_a_sweep_leaves_a_stopped_database_of_an_older_version_as_it_is() {
    let project = project();
    let running = project.start().await;
    project
        .superuser()
        .await
        .batch_execute(OLDER)
        .await
        .expect("made older");
    running.stop();

    let looked = [(); 2].map(|()| project.run_and_expect_failure(&["sweep", "--dry-run"]));
    project.run_and_expect_success(&["sweep"]);
    project.run_and_expect_success(&["sweep", "--dry-run"]);

    for refused in looked {
        assert!(
            refused.contains("an older version") && refused.contains("selvedge start"),
            "{refused}"
        );
    }
}
