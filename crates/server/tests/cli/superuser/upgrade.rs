//! A project whose database an earlier version made, full of traps that it allowed, is brought up to date.

use super::{TRAPS, VERSION, expect_success, find_trapped, migrate_up, query, text_of};
use crate::support::{Project, connect};
use selvedge_testing::apply_earlier_platform;

/// What the earlier version let `postgres` do besides what [`TRAPS`] has.
const EARLIER_TRAPS: &[&str] = &[
    // Functions and operators in pg_catalog, where they come before everything that a pinned search path protects.
    "create extension pg_trgm with schema extensions",
    "create function extensions.format(text, text, text) returns text language plpgsql as
     $$ begin perform public.trap(); return pg_catalog.format($1, variadic array[$2, $3]); end $$",
    "alter extension pg_trgm add function extensions.format(text, text, text)",
    "alter extension pg_trgm add operator extensions.|| (text, integer)",
    "select _selvedge.set_extension_schema('pg_trgm', 'pg_catalog')",
    // A foreign key that casts in the name of the superuser.
    "create type public.cast_from as enum ('a')",
    "create function public.cast_it(public.cast_from) returns uuid language plpgsql as
     $$ begin perform public.trap(); return null; end $$",
    "create cast (public.cast_from as uuid) with function public.cast_it(public.cast_from) as implicit",
    "create table public.casting (x public.cast_from references vault.secrets (id))",
    // The code of an event trigger that a setting lets run in a superuser's session.
    "create function public.with_role() returns event_trigger language plpgsql set role = 'postgres' as
     $$ begin perform public.trap(); end $$",
    TRAP_BEHIND_STATEMENTS,
    "alter database postgres set role = 'postgres'",
    "alter database postgres set search_path = public, extensions, pg_catalog",
    "alter database postgres set session_replication_role = 'replica'",
];

/// What PostgreSQL 15 let it do, too.
const TRAPS_OF_15: &[&str] = &[
    "grant pg_write_all_data, pg_execute_server_program to postgres",
    "create role helper in role pg_read_server_files; grant helper to postgres",
    "update _selvedge.shipped_extensions set script = 'select public.trap()'",
];

/// An event trigger that would end the making of the next one.
const TRAP_BEHIND_STATEMENTS: &str =
    "select _selvedge.create_event_trigger('with_role', 'ddl_command_end', null, 'public.with_role()')";

/// What it let it do from PostgreSQL 17 on, where event triggers fire at logins: this one also with the database's session_replication_role.
const TRAP_AT_LOGIN: &str = "
    select _selvedge.create_event_trigger('at_login', 'login', null, 'public.with_role()');
    alter event trigger at_login enable always";

/// Replaces the running project's database by one of the earlier version that is full of traps. Returns how many lines of the log
/// are about traps already.
async fn make_earlier_database(project: &Project) -> usize {
    let url = project.superuser_url().replace("/postgres", "/template1");
    let superuser = connect(&url).await.expect("a login");
    superuser
        .batch_execute("drop database postgres with (force)")
        .await
        .expect("dropped");
    superuser
        .batch_execute(
            "drop role selvedge_replication; drop role selvedge_console_members; drop role selvedge_user_counts; drop role selvedge_http;
             alter role postgres replication; alter role supabase_storage_admin createrole;
             alter role supabase_functions_admin createrole; update pg_authid set rolsuper = false where rolname ~ '^pg_'",
        )
        .await
        .expect("as the roles were");
    superuser
        .batch_execute("create database postgres template template0 owner postgres")
        .await
        .expect("created");
    let superuser = project.superuser().await;
    apply_earlier_platform(&superuser).await;
    superuser
        .batch_execute("grant references on vault.secrets to postgres with grant option")
        .await
        .expect("as the earlier script did");
    let postgres = project.database().await;
    // The runner of migrations makes the history, and event triggers by this call.
    let traps = TRAPS
        .replace("create event trigger trap_start on ddl_command_start execute function public.trap_event();",
            "select _selvedge.create_event_trigger('trap_start', 'ddl_command_start', null, 'public.trap_event()');")
        .replace("create event trigger trap_end on ddl_command_end execute function public.trap_event();",
            "select _selvedge.create_event_trigger('trap_end', 'ddl_command_end', null, 'public.trap_event()');")
        .replace("create event trigger trap_drop on sql_drop execute function public.trap_event();",
            "select _selvedge.create_event_trigger('trap_drop', 'sql_drop', null, 'public.trap_event()');");
    postgres
        .batch_execute(
            "create schema supabase_migrations;
             create table supabase_migrations.schema_migrations (version text primary key, statements text[], name text)",
        )
        .await
        .expect("a history");
    postgres.batch_execute(&traps).await.expect("the traps");
    let version = query::<i32>(&superuser, VERSION).await;
    for trap in EARLIER_TRAPS {
        if *trap == TRAP_BEHIND_STATEMENTS && version >= 17 {
            postgres.batch_execute(TRAP_AT_LOGIN).await.expect("a trap");
        }
        postgres.batch_execute(trap).await.expect(trap);
    }
    if version == 15 {
        for trap in TRAPS_OF_15 {
            postgres.batch_execute(trap).await.expect(trap);
        }
    }
    // The earlier version runs some of them itself.
    superuser
        .batch_execute("select setval('public.trapped', 1, false), setval('auth.trapped', 1, false)")
        .await
        .expect("counted anew");
    find_trapped(&project.path(".selvedge/postgres.log")).len()
}

/// Checks that no trap has seen a superuser since, and that what the earlier version allowed has gone.
async fn expect_mended(project: &Project, trapped_before: usize) {
    let trapped = find_trapped(&project.path(".selvedge/postgres.log"));
    assert_eq!(trapped[trapped_before..], Vec::<String>::new());
    let superuser = project.superuser().await;
    // The database still lets every other session begin as postgres.
    superuser
        .batch_execute("set role none")
        .await
        .expect("a superuser may");
    let facts = "select concat_ws(' ',
        (select is_called from public.trapped), (select is_called from auth.trapped),
        (select count(*) from pg_proc as p join pg_roles as o on o.oid = p.proowner and not o.rolsuper where p.pronamespace = 11),
        (select count(*) from pg_constraint where confrelid = 'vault.secrets'::regclass),
        (select string_agg(rolname, ',') from pg_roles where rolsuper and rolname !~ '^pg_'),
        (select rolreplication from pg_roles where rolname = 'postgres'),
        pg_has_role('postgres', 'pg_read_server_files', 'member'), pg_has_role('postgres', 'pg_write_all_data', 'member'),
        (select count(*) from _selvedge.shipped_extensions where script like '%trap%'))";
    let found: String = query(&superuser, facts).await;
    assert_eq!(found, "f f 0 0 supabase_admin f f f 0");
    let doctor = text_of(&project.run(&["doctor"]));
    let faults: Vec<&str> = doctor.lines().filter(|line| line.contains("but: ")).collect();
    assert_eq!(faults, Vec::<&str>::new());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_start_upgrades_a_database_full_of_the_traps_of_an_earlier_version_and_none_sees_a_superuser() {
    let project = Project::new();
    project.write("migrations/.keep", "");
    let running = project.start().await;
    let trapped = make_earlier_database(&project).await;
    running.stop();

    let running = project.start().await;
    expect_mended(&project, trapped).await;
    running.stop();
    let running = project.start().await;
    expect_mended(&project, trapped).await;
    running.stop();
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn migrate_up_upgrades_an_external_database_full_of_the_traps_of_an_earlier_version() {
    let project = Project::new();
    let running = project.start().await;
    let trapped = make_earlier_database(&project).await;
    let migrate = || {
        let mut command = migrate_up(&project);
        command.env("SELVEDGE_RESERVE_FILE_ROLES", "true");
        command
    };

    // On PostgreSQL 15 a role of somebody is in the way, which the operator ends.
    let output = migrate().output().expect("the binary runs");
    if !output.status.success() {
        let message = text_of(&output);
        assert!(
            message.contains("revoke \"pg_read_server_files\" from \"helper\""),
            "{message}"
        );
        let superuser = project.superuser().await;
        superuser
            .batch_execute("set role none; revoke pg_read_server_files from helper")
            .await
            .expect("revoked");
        expect_success(&mut migrate());
    }

    expect_mended(&project, trapped).await;
    running.stop();
}
