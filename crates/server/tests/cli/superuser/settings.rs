//! Settings by which a project would stop its own start.

use std::time::{Duration, Instant};

use tokio_postgres::Client;

use super::{VERSION, assert_contains, expect_success, find_trapped, migrate_up, query, text_of};
use crate::support::{Project, connect};

/// Settings of the database hold for every login to it, and `postgres` may make them.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_project_cannot_stop_its_start_by_settings_of_its_database() {
    let project = Project::new();
    let running = project.start().await;
    let database = project.database().await;
    let version = query::<i32>(&database, VERSION).await;
    for setting in [
        "role = 'postgres'",
        "session_authorization = 'postgres'",
        "default_transaction_read_only = on",
        "search_path = public, pg_catalog",
        "lock_timeout = 1",
    ] {
        let set = format!("begin read write; alter database postgres set {setting}; commit");
        database.batch_execute(&set).await.expect("the owner may");
    }
    running.stop();

    let running = project.start().await;
    let printed = running.output();
    assert!(
        printed.contains("role = postgres") && printed.contains("reset role"),
        "{printed}"
    );
    let archive = project.path("settings.tar").display().to_string();
    project.run_and_expect_success(&["backup", &archive]);
    let found = String::from_utf8(project.run(&["doctor"]).stdout).expect("text");
    assert!(found.contains("reset default_transaction_read_only"), "{found}");
    running.stop();

    // With these the services themselves do not work. What is printed says how to take them back, and that works.
    for (name, value) in [
        ("statement_timeout", "1"),
        ("local_preload_libraries", "'missing'"),
        ("idle_session_timeout", "1"),
        ("exit_on_error", "on"),
    ] {
        let set = format!("alter database \"postgres\" set {name} = {value}");
        project.run_and_expect_success(&["db", "query", &set]);
        let reset = format!("alter database \"postgres\" reset {name}");
        project.run_and_expect_success(&["db", "query", &reset]);
    }
    if version >= 17 {
        // Parallel workers begin with the limit of the database, whatever that of the session is.
        let set = "alter database postgres set debug_parallel_query = on; alter database postgres set transaction_timeout = 1";
        project.run_and_expect_success(&["db", "query", set]);
        let reset = "alter database \"postgres\" reset transaction_timeout";
        project.run_and_expect_success(&["db", "query", reset]);
        let refuse = "create function public.refuse() returns event_trigger language plpgsql as 'begin raise exception $$nobody$$; end'; \
             select _selvedge.create_event_trigger('nobody', 'login', null, 'public.refuse()')";
        project.run_and_expect_success(&["db", "query", refuse]);
        project.start().await.stop();
        project.run_and_expect_success(&["db", "query", "drop event trigger nobody"]);
    }
    project.start().await.stop();
}

/// Settings of PostgreSQL with any text as their value by which nobody reaches a program, a library, a file, an address or another role. Each new
/// version adds some, so those that are not here have to be refused: read what they do, and put them here or into `operator_keys.rs`.
const HARMLESS: [&str; 40] = [
    "DateStyle",
    "TimeZone",
    "application_name",
    "backtrace_functions",
    "bonjour_name",
    "client_encoding",
    "cluster_name",
    "createrole_self_grant",
    "debug_io_direct",
    "default_table_access_method",
    "default_tablespace",
    "default_text_search_config",
    "event_source",
    "lc_messages",
    "lc_monetary",
    "lc_numeric",
    "lc_time",
    "log_connections",
    "log_destination",
    "log_line_prefix",
    "log_timezone",
    "primary_slot_name",
    "recovery_target",
    "recovery_target_lsn",
    "recovery_target_name",
    "recovery_target_time",
    "recovery_target_timeline",
    "recovery_target_xid",
    "restrict_nonsystem_relation_kind",
    "search_path",
    "ssl_ciphers",
    "ssl_ecdh_curve",
    "ssl_groups",
    "ssl_tls13_ciphers",
    "synchronized_standby_slots",
    "synchronous_standby_names",
    "syslog_ident",
    "temp_tablespaces",
    "timezone_abbreviations",
    "wal_consistency_checking",
];

/// Of the names and values that PostgreSQL has, whichever version runs, a file of the project chooses none that may lead to a program.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_012_files_of_the_project_set_no_text_of_postgresql_that_nobody_has_read_about() {
    let project = Project::new();
    let running = project.start().await;
    let names = "select string_agg(name, ' ' order by name) from pg_settings where vartype = 'string' and context <> 'internal'
        and strpos(name, '.') = 0";
    let names: String = query(&project.database().await, names).await;
    running.stop();
    let doubtful: Vec<&str> = names.split(' ').filter(|name| !HARMLESS.contains(name)).collect();
    assert!(doubtful.len() > 20, "{doubtful:?}");
    let settings: String = doubtful.iter().map(|name| format!("{name} = \"x\"\n")).collect();
    project.write(
        "config.toml",
        &format!("project_id = \"cli\"\n[db.settings]\n{settings}"),
    );

    let said = text_of(&project.run(&["status"]));

    for name in doubtful {
        let refused = format!("db.settings.{name} has no effect in a file of the project");
        assert!(said.contains(&refused), "{name}: {said}");
    }
}

/// Its owner may close the database, from another one.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_project_cannot_stop_its_start_by_closing_its_database() {
    let project = Project::new();
    let running = project.start().await;
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/template1",
        project.ports.database
    );
    let other = connect(&url).await.expect("a login");
    other
        .batch_execute("alter database postgres with allow_connections false connection limit 0")
        .await
        .expect("the owner may");
    running.stop();

    let running = project.start().await;

    assert_contains(
        &running.output(),
        &[
            "the database let nobody log in",
            "the database let 0 connections in",
        ],
    );
    project.database().await;
    running.stop();
}

/// A register of platform files whose reader computes what its index depends on.
const TRAPPED_REGISTER: &str = "
    create schema _selvedge;
    create table _selvedge.platform_migrations (version integer, name text, sha256 text, applied_at timestamptz);
    create function public.trap() returns boolean language plpgsql immutable as $$ begin
      if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then raise log 'trapped: %', current_user; end if;
      return true; end $$;
    create index on _selvedge.platform_migrations (version) where public.trap()";

/// Ends whoever is in the project's database, which could not be renamed or dropped otherwise. Services connect again.
async fn change_name(other: &Client, statement: &str) {
    let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = 'postgres' and usename <> 'supabase_admin'";
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        query::<i64>(other, end).await;
        match other.batch_execute(statement).await {
            Ok(()) => return,
            Err(error) => assert!(Instant::now() < deadline, "{statement}: {error:?}"),
        }
    }
}

/// Its owner may also rename it, or put another one in its place.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_project_cannot_stop_its_start_by_another_name_of_its_database() {
    let project = Project::new();
    let running = project.start().await;
    project
        .database()
        .await
        .batch_execute("create table public.kept ()")
        .await
        .expect("postgres may");
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/template1",
        project.ports.database
    );
    let other = connect(&url).await.expect("a login");
    other
        .batch_execute("alter database postgres with allow_connections false")
        .await
        .expect("the owner may");
    change_name(&other, "alter database postgres rename to \"it's gone\"").await;
    running.stop();

    let running = project.start().await;
    assert_contains(
        &running.output(),
        &[
            "the database let nobody log in",
            "the project's database had another name (it\\'s gone)",
        ],
    );
    let kept = "select count(*) from pg_class where relname = 'kept'";
    assert_eq!(query::<i64>(&project.database().await, kept).await, 1);

    let other = connect(&url).await.expect("a login");
    other
        .batch_execute("alter database postgres with allow_connections false")
        .await
        .expect("the owner may");
    change_name(&other, "alter database postgres rename to gone").await;
    other
        .batch_execute("create database postgres template template0")
        .await
        .expect("postgres may");
    let in_its_place = project.database().await;
    in_its_place
        .batch_execute(TRAPPED_REGISTER)
        .await
        .expect("the owner may");
    for arguments in [&["migrate", "up"][..], &["db", "reset", "--yes"]] {
        let refused = project.run_and_expect_failure(arguments);
        assert_contains(
            &refused,
            &["another database has its place", "selvedge stop, selvedge start"],
        );
    }
    drop(in_its_place);
    running.stop();

    let running = project.start().await;
    assert_contains(
        &running.output(),
        &["and the database that was in its place replaced_"],
    );
    assert_eq!(
        find_trapped(&project.path(".selvedge/postgres.log")),
        Vec::<String>::new()
    );
    assert_eq!(query::<i64>(&project.database().await, kept).await, 1);

    let other = connect(&url).await.expect("a login");
    other
        .batch_execute("alter database postgres with allow_connections false")
        .await
        .expect("the owner may");
    change_name(&other, "drop database postgres").await;
    running.stop();
    let arguments = project.start_arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let refused = project.run_and_expect_failure(&arguments);
    assert_contains(
        &refused,
        &["the project's database was dropped", "selvedge restore FILE"],
    );
}

/// A login of a service fails where a library that it loads is missing, and begins with the limits that somebody has given it.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn settings_of_the_services_logins_are_taken_back_or_named() {
    let project = Project::new();
    let running = project.start().await;
    let superuser = project.superuser().await;
    // On PostgreSQL 15 `postgres` may make all of these, later on those of authenticator.
    superuser
        .batch_execute(
            "alter role authenticator set local_preload_libraries = 'missing';
             alter role supabase_auth_admin in database postgres set local_preload_libraries = 'missing';
             alter role supabase_replication_admin set local_preload_libraries = 'missing';
             alter role supabase_storage_admin in database postgres set lock_timeout = 1;
             alter database postgres set local_preload_libraries = 'missing'",
        )
        .await
        .expect("a superuser may");
    running.stop();

    let running = project.start().await;
    let printed = running.output();

    assert_contains(
        &printed,
        &[
            "the login authenticator has the setting local_preload_libraries = missing",
            "the login supabase_auth_admin has the setting local_preload_libraries = missing",
            "alter role \"supabase_storage_admin\" in database \"postgres\" reset lock_timeout",
            "alter database \"postgres\" reset local_preload_libraries",
        ],
    );
    let left = "select count(*) from pg_db_role_setting where setrole <> 0 and setconfig::text like '%local_preload%'";
    let superuser_options = format!("{}?options=-clocal_preload_libraries%3D", project.superuser_url());
    let superuser = connect(&superuser_options).await.expect("a login");
    assert_eq!(query::<i64>(&superuser, left).await, 0);
    let found = text_of(&project.run(&["doctor"]));
    assert!(
        found.contains("the login supabase_storage_admin has the setting lock_timeout = 1"),
        "{found}"
    );

    // Of an external database `migrate up` does the same.
    superuser
        .batch_execute(
            "alter role authenticator set local_preload_libraries = 'missing';
             alter role selvedge_console_reader set statement_timeout = 1",
        )
        .await
        .expect("a superuser may");
    assert_contains(
        &expect_success(&mut migrate_up(&project)),
        &[
            "the login authenticator has the setting local_preload_libraries = missing: a login fails where one of the libraries is missing; it was reset",
            "reset statement_timeout",
        ],
    );
    running.stop();
}

/// `session_preload_libraries` is a superuser's, and the code of event triggers runs for statements of projects only.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn libraries_and_event_triggers_of_a_project_do_not_stop_its_start() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_refuse.sql",
        "create function public.refuse() returns event_trigger language plpgsql as $$ begin raise 'refused'; end $$;
         create event trigger refuse_start on ddl_command_start execute function public.refuse();
         create event trigger refuse_drop on sql_drop execute function public.refuse();",
    );
    let running = project.start().await;
    let database = project.database().await;
    for setting in ["session_preload_libraries = 'missing'", "event_triggers = off"] {
        let set = format!("alter database postgres set {setting}");
        let error = database.batch_execute(&set).await.expect_err(setting);
        let code = error.code().expect("of PostgreSQL").code().to_owned();
        // Versions before 17 do not know the second one.
        assert!(["42501", "42704"].contains(&&*code), "{setting}: {error:?}");
    }
    let error = database
        .batch_execute("create table public.one ()")
        .await
        .expect_err("refused");
    assert_eq!(error.code().expect("of PostgreSQL").code(), "P0001");
    running.stop();

    project.start().await.stop();
    // A migration is refused by the project's own trigger, says so, and its trigger can be dropped.
    project.write(
        "migrations/20260102000000_more.sql",
        "create table public.two ();",
    );
    let message = project.run_and_expect_failure(&["migrate", "up"]);
    assert!(
        message.contains("refused") && message.contains("20260102000000_more.sql"),
        "{message}"
    );
    project.write(
        "migrations/20260102000000_more.sql",
        "alter event trigger refuse_start disable; alter event trigger refuse_drop disable; create table public.two ();",
    );
    project.start().await.stop();
}
