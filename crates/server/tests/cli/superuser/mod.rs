//! `postgres` is never more than `postgres`: sessions with more rights run nothing that a project has made.

use std::path::Path;
use std::process::{Command, Output};

use tokio_postgres::Client;
use tokio_postgres::types::FromSqlOwned;

mod autovacuum;
mod copies;
mod databases;
mod extensions;
mod plain;
mod reset_states;
mod resets;
mod roles;
mod sessions;
mod settings;
mod slots;
mod upgrade;

use self::autovacuum::{hurry_autovacuum, wait_for_sequence};
use self::sessions::{expect_own_relations, expect_pinned_sessions, log_superuser_statements};
use crate::production::{generate_keys, serve_variables};
use crate::support::{Project, connect};

const TRAPS: &str = include_str!("traps.sql");

/// PostgreSQL's major version.
const VERSION: &str = "select current_setting('server_version_num')::int / 10000";

fn text_of(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes))
        .concat()
}

/// Runs a command that must succeed, and returns what it has printed.
fn expect_success(command: &mut Command) -> String {
    let output = command.output().expect("the binary runs");
    assert!(output.status.success(), "{}", text_of(&output));
    text_of(&output)
}

/// The value that a query has in its one row.
async fn query<T: FromSqlOwned>(client: &Client, sql: &str) -> T {
    client.query_one(sql, &[]).await.expect(sql).get(0)
}

/// `migrate up` on the running project's database as on one of another server, with the superuser's URL.
fn migrate_up(project: &Project) -> Command {
    let mut command = project.command(&["migrate", "up"]);
    command.env("DATABASE_URL", project.superuser_url());
    command
}

/// Runs a command that must fail, and returns what it has printed.
fn expect_failure(command: &mut Command) -> String {
    let output = command.output().expect("the binary runs");
    let printed = text_of(&output);
    assert!(!output.status.success(), "{printed}");
    printed
}

fn assert_contains(printed: &str, parts: &[&str]) {
    for part in parts {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

/// How often code of the project has seen a superuser.
async fn count_trapped(url: &str) -> i64 {
    let client = connect(url).await.expect("a login");
    let counts = "select (select count(*) from public.trapped where is_called) + (select count(*) from auth.trapped where is_called)";
    query(&client, counts).await
}

/// The lines of PostgreSQL's log in which a trap says that it has seen a superuser.
fn find_trapped(log: &Path) -> Vec<String> {
    let log = std::fs::read_to_string(log).expect("the log of PostgreSQL");
    let lines = log.lines().filter(|line| line.contains("trapped:"));
    lines.map(str::to_owned).collect()
}

/// Checks that no trap has seen a superuser during `step`.
async fn expect_untrapped(project: &Project, step: &str) {
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        project.ports.database
    );
    let trapped = find_trapped(&project.path(".selvedge/postgres.log"));
    assert_eq!(count_trapped(&url).await, 0, "{step}: {trapped:?}");
    assert_eq!(trapped, Vec::<String>::new(), "{step}");
}

/// Lets autovacuum analyze a table whose index calls a trap, which it otherwise does at any time on a busy machine, and waits until it
/// has. Its session is one of the superuser.
async fn wait_for_autovacuum(project: &Project) {
    hurry_autovacuum(project).await;
    let owner = project.database().await;
    owner
        .batch_execute(
            "set role supabase_auth_admin;
             alter table auth.schema_migrations set (autovacuum_analyze_threshold = 0, autovacuum_analyze_scale_factor = 0);
             insert into auth.schema_migrations values ('of the test'); reset role",
        )
        .await
        .expect("the owner may");
    wait_for_sequence(&owner, "public.analyzed").await;
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn no_code_of_a_project_ever_sees_a_superuser_whose_sessions_are_pinned_and_never_lowered() {
    let project = Project::new();
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[api]\nschemas = [\"public\", \"tenant_*\"]\n",
    );
    project.write(
        "tenant_migrations/20260101000000_notes.sql",
        "create table notes (id int primary key check (public.trap())); insert into notes values (1);",
    );
    project.write("migrations/20260101000000_traps.sql", TRAPS);
    let running = project.start().await;
    wait_for_autovacuum(&project).await;
    expect_untrapped(&project, "autovacuum").await;
    let own = log_superuser_statements(&project).await;
    running.stop();
    let running = project.start().await;
    expect_untrapped(&project, "start").await;

    let archive = project.path("running.tar").display().to_string();
    project.run_and_expect_success(&["backup", &archive]);
    expect_untrapped(&project, "backup").await;
    project.run(&["doctor"]);
    expect_untrapped(&project, "doctor").await;

    let url = project.superuser_url();
    project.write(
        "migrations/20260102000000_more.sql",
        "reset session authorization; set role none; create table if not exists public.by_the_run ();",
    );
    let external = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env("DATABASE_URL", &url);
        command
    };
    expect_success(&mut external(&["migrate", "up"]));
    project.write(
        "migrations/20260103000000_pushed.sql",
        "create table public.pushed ();",
    );
    for arguments in [
        &["db", "push"][..],
        &["migrate", "list"],
        &["db", "query", "select 1"],
        &["db", "dump"],
        &["tenants", "create", "one"],
        &["tenants", "migrate"],
        &["inspect", "db", "table-stats"],
        &["console", "user", "list"],
    ] {
        expect_success(&mut external(arguments));
        expect_untrapped(&project, &arguments.join(" ")).await;
    }
    // It fails where the extension that it needs is missing.
    external(&["db", "lint"]).output().expect("the binary runs");
    expect_untrapped(&project, "db lint").await;
    project.run_and_expect_success(&["db", "reset"]);
    expect_untrapped(&project, "db reset of the running project").await;
    external(&["doctor"]).output().expect("the binary runs");
    expect_untrapped(&project, "doctor as superuser").await;
    expect_own_relations(&project, own).await;
    let roles = "select count(*) from pg_roles where rolname like 'selvedge_run_%'";
    let left: i64 = query(&project.database().await, roles).await;
    assert_eq!(left, 0, "roles of runs are dropped at their end");
    running.stop();

    project.run_and_expect_success(&["restore", &archive, "--yes"]);
    let running = project.start().await;
    expect_untrapped(&project, "restore").await;
    expect_own_relations(&project, own).await;
    running.stop();
    expect_pinned_sessions(&project, own);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn migrations_of_an_external_database_cannot_go_back_to_the_superuser() {
    let project = Project::new();
    let running = project.start().await;
    let url = project.superuser_url();
    let attempt = |name: &str, sql: &str| {
        project.write(&format!("migrations/{name}.sql"), sql);
        let output = project
            .command(&["migrate", "up"])
            .env("DATABASE_URL", &url)
            .output()
            .expect("the binary runs");
        std::fs::remove_file(project.path(&format!("migrations/{name}.sql"))).expect("removed");
        (output.status.success(), text_of(&output))
    };

    for (name, sql) in [
        (
            "20260101000001_a",
            "reset session authorization; create role attacker superuser;",
        ),
        ("20260101000002_b", "set session authorization supabase_admin;"),
        (
            "20260101000003_c",
            "set role none; create role attacker superuser;",
        ),
        (
            "20260101000004_d",
            "select set_config('role', 'supabase_admin', false);",
        ),
    ] {
        let (is_success, printed) = attempt(name, sql);
        assert!(!is_success, "{name}: {printed}");
    }
    // The rights of postgres are there, and what is created belongs to it.
    let (is_success, printed) = attempt(
        "20260101000005_e",
        "create table public.made (); create extension if not exists pg_trgm with schema extensions; create role app;",
    );
    assert!(is_success, "{printed}");
    let owners = "select c.relowner::regrole::text, e.extowner::regrole::text, current_setting('search_path')
        from pg_class c, pg_extension e where c.relname = 'made' and e.extname = 'pg_trgm'";
    let row = project
        .database()
        .await
        .query_one(owners, &[])
        .await
        .expect("a row");
    assert_eq!(
        (row.get::<_, &str>(0), row.get::<_, &str>(1)),
        ("postgres", "postgres")
    );
    running.stop();
}

/// What keeps statements from running in other sessions does not keep those of the migrations from it.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn settings_of_an_external_database_do_not_stop_its_migrations() {
    let project = Project::new();
    let running = project.start().await;
    let database = project.database().await;
    for setting in [
        "default_transaction_read_only = on",
        "default_transaction_isolation = 'serializable'",
        "statement_timeout = 1",
    ] {
        let set = format!(
            "begin read write; set local statement_timeout = 0; alter database postgres set {setting}; commit"
        );
        database.batch_execute(&set).await.expect("the owner may");
    }
    let of_postgres = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        project.ports.database
    );

    for (number, url) in [project.superuser_url(), of_postgres].into_iter().enumerate() {
        project.write(
            &format!("migrations/2026010100000{number}_slow.sql"),
            &format!(
                "create table public.made_{number} as select 1 as number from pg_sleep(0.05);
                 create extension if not exists pg_trgm with schema extensions;
                 create extension if not exists file_fdw with schema extensions;"
            ),
        );
        expect_success(project.command(&["migrate", "up"]).env("DATABASE_URL", &url));
    }
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_database_in_which_postgres_is_a_superuser_is_refused_before_anything_changes() {
    let project = Project::new();
    let running = project.start().await;
    let superuser = project.superuser().await;
    superuser
        .batch_execute(
            "alter role postgres superuser;
             delete from _selvedge.platform_migrations where version = (select max(version) from _selvedge.platform_migrations)",
        )
        .await
        .expect("a superuser may");

    let message = expect_failure(&mut migrate_up(&project));

    assert!(message.contains("rename to former_postgres"), "{message}");
    assert!(!message.contains("platform"), "nothing was applied: {message}");
    superuser
        .batch_execute("alter role postgres nosuperuser")
        .await
        .expect("a superuser may");
    running.stop();
}

/// PostgreSQL 15 let `postgres` take such memberships under an earlier version, and make superusers by them.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_start_takes_back_what_postgres_became_and_names_superusers_that_nobody_expects() {
    let project = Project::new();
    let running = project.start().await;
    let superuser = project.superuser().await;
    superuser
        .batch_execute("grant pg_write_all_data to postgres; create role unexpected superuser")
        .await
        .expect("a superuser may");
    running.stop();

    let running = project.start().await;
    let printed = running.output();

    assert_contains(
        &printed,
        &[
            "postgres was a member of pg_write_all_data, and is not any more",
            "but: unexpected",
        ],
    );
    let found = String::from_utf8(project.run(&["doctor"]).stdout).expect("text");
    assert!(
        found.contains("but: unexpected") && !found.contains("pg_write_all_data"),
        "{found}"
    );
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn serve_refuses_a_service_with_a_superusers_rights_and_warns_of_the_superusers_password() {
    let server = Project::new();
    let running = server.start().await;
    let superuser = server.superuser().await;
    superuser
        .batch_execute("alter role supabase_auth_admin superuser")
        .await
        .expect("a superuser may");
    let project = Project::new();
    let keys = generate_keys(&project);
    let url = format!(
        "postgresql://authenticator:postgres@127.0.0.1:{}/postgres",
        server.ports.database
    );
    let port = project.ports.api.to_string();
    let mut serve = project.command(&["serve", "--host", "127.0.0.1", "--port", &port]);
    for (name, value) in serve_variables(&keys, &url) {
        serve.env(name, value);
    }

    let message = expect_failure(serve.env("POSTGRES_PASSWORD", "secret"));

    assert_contains(
        &message,
        &[
            "rights of a superuser: supabase_auth_admin",
            "POSTGRES_PASSWORD is in the environment",
        ],
    );
    assert!(!message.contains("secret\""), "{message}");
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_backup_fails_where_a_policy_would_hide_objects_from_it() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_force.sql",
        "set role supabase_storage_admin; alter table storage.objects force row level security; reset role;",
    );
    let running = project.start().await;

    let archive = project.path("hidden.tar").display().to_string();
    let message = project.run_and_expect_failure(&["backup", &archive]);

    assert!(message.contains("row-level security"), "{message}");
    assert!(!project.path("hidden.tar").exists());
    running.stop();
}

/// Every source file of the workspace below `crates/*/src`, with its path.
fn read_sources() -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder");
    let files = walkdir::WalkDir::new(crates).into_iter().filter_map(Result::ok);
    files
        .filter(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|end| end == "rs" || end == "sql")
        })
        .map(|entry| entry.into_path())
        .filter(|path| path.components().any(|part| part.as_os_str() == "src"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("readable");
            let name = path.strip_prefix(crates).expect("below").display().to_string();
            (name, text)
        })
        .collect()
}

#[test]
fn only_one_place_opens_sessions_with_more_rights_and_none_lowers_them() {
    let sources = read_sources();
    assert!(sources.len() > 500, "the sources are found");
    // The phrase, and the files that may have it.
    let rules: [(&str, &[&str]); 6] = [
        ("session authorization", &["postgres/src/run_login.rs"]),
        (
            "PrivilegedLogin::new(",
            &[
                "postgres/src/cluster/",
                "postgres/src/hosts/examine.rs",
                "database/src/external/mod.rs",
                "doctor/src/",
            ],
        ),
        (
            "SUPERUSER,",
            &[
                "postgres/src/cluster/",
                "testing/src/",
                // Whose sessions are ended last.
                "server/src/services/memory_relief.rs",
            ],
        ),
        (
            "superuser-password",
            &[
                "postgres/src/cluster/",
                "database/src/embedded/mod.rs",
                "server/src/commands/status.rs",
                // Tests of what functions, and files that a project names, cannot reach.
                "functions/src/project/boundary.rs",
                "project-trust/src/readable.rs",
                // What a project keeps to itself, by its names.
                "project-files/src/private.rs",
            ],
        ),
        ("--role=", &[]),
        // Where statements reach code of a project, which could give this login a password that it knows.
        ("Login::Replication)", &["postgres/src/replication/stream.rs"]),
    ];
    for (phrase, places) in rules {
        for (name, text) in &sources {
            let code: Vec<&str> = text
                .lines()
                .filter(|line| line.contains(phrase) && !line.trim_start().starts_with("//"))
                .collect();
            let is_allowed = places.iter().any(|place| name.starts_with(place));
            assert!(code.is_empty() || is_allowed, "{name}: {code:?}");
        }
    }
}
