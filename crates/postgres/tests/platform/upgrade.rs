//! A database that an earlier version made, in which `postgres` has used what that version allowed, after an upgrade.

use std::time::Duration;

use selvedge_postgres::migrate::{PrivilegeFault, apply_platform, find_privilege_faults};
use selvedge_testing::{TestDatabase, apply_earlier_platform};
use tokio_postgres::{Client, NoTls};

use super::query_value;

/// Makes a superuser of every session that runs it with a superuser's rights, or that can take them.
const EVIL: &str = "
    create function public.evil() returns void language plpgsql as $$
    begin
      if session_user <> 'postgres' then perform set_config('role', 'none', true); end if;
      if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
        create role gw_012_evil superuser;
      end if;
    exception when others then null;
    end $$;";

/// What `postgres` could do before.
const TRAPS: &[&str] = &[
    EVIL,
    // A wrapper that checks nothing.
    "select _selvedge.create_extension('file_fdw', false, 'extensions', null, false)",
    "select _selvedge.create_foreign_data_wrapper('unchecked', 'extensions.file_fdw_handler', null)",
    // A foreign key that casts in the name of the superuser.
    "create type public.cast_from as enum ('a')",
    "create function public.cast_it(public.cast_from) returns uuid language plpgsql as $$
     begin perform public.evil(); return null; end $$",
    "create cast (public.cast_from as uuid) with function public.cast_it(public.cast_from) as implicit",
    "create table public.casting (x public.cast_from references vault.secrets (id))",
    "create table public.plain (x uuid references vault.secrets (id))",
    // A function and an operator in pg_catalog.
    "create extension pg_trgm with schema extensions",
    "create function extensions.format(text, text, text) returns text language plpgsql as $$
     begin perform public.evil(); return ''; end $$",
    "create function extensions.joined(text, integer) returns text language plpgsql as $$
     begin perform public.evil(); return ''; end $$",
    "create operator extensions.|| (leftarg = text, rightarg = integer, function = extensions.joined)",
    "alter extension pg_trgm add function extensions.format(text, text, text)",
    "alter extension pg_trgm add operator extensions.|| (text, integer)",
    "select _selvedge.set_extension_schema('pg_trgm', 'pg_catalog')",
    "create extension dblink with schema public",
    "grant references (id) on vault.secrets to anon",
    // A table that a superuser has made for the project keeps what the project has attached to it.
    "create table public.refers (id integer references public.of_project (id))",
    // A trigger that runs a function of PostgreSQL, on a condition of the project.
    "create function public.is_evil(uuid) returns boolean language plpgsql as $$ begin perform public.evil(); return true; end $$",
    "create trigger on_condition before update on vault.secrets for each row when (public.is_evil(new.id))
     execute function pg_catalog.suppress_redundant_updates_trigger()",
    // The schema extensions belongs to postgres.
    "drop function extensions.pgrst_drop_watch() cascade",
    // A function with a setting that an event trigger of a superuser's statement would follow.
    "create function public.with_role() returns event_trigger language plpgsql set role = 'postgres' as $$
     begin perform public.evil(); end $$",
    "select _selvedge.create_event_trigger('with_role', 'ddl_command_end', null, 'public.with_role()')",
];

/// `postgres` may replace functions of realtime, because it is a member of their owner. The default value of the second one is an array of a
/// domain: a statement that contains it computes the array, and so runs the check of the domain.
const TRAPS_OF_REALTIME: [&str; 2] = [
    "drop function realtime.maintain_messages_partitions(integer)",
    "create function public.is_checked(integer) returns boolean language plpgsql as $$ begin perform public.evil(); return true; end $$;
     create domain public.checked as integer check (public.is_checked(value));
     create or replace function realtime.maintain_messages_partitions(
       days_ahead integer default pg_catalog.cardinality('{1}'::public.checked[])
     ) returns void language plpgsql as 'begin end'",
];

async fn open(database: &TestDatabase, role: &str, name: &str) -> Client {
    let mut config = database.config(role);
    let (client, connection) = config.dbname(name).connect(NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn gw_012_what_an_earlier_version_allowed_is_taken_back_by_an_upgrade() {
    for trap in TRAPS_OF_REALTIME {
        expect_taken_back(trap).await;
    }
}

/// A database with the platform schema of an earlier version: its name, and a superuser's sessions in it and beside it.
async fn open_earlier(database: &TestDatabase, what: &str) -> (String, Client, Client) {
    let name = format!("{}_{what}", database.name());
    let create = format!("create database {name} template template0");
    let maintenance = database.superuser().await;
    maintenance.batch_execute(&create).await.expect("created");
    let superuser = open(database, "supabase_admin", &name).await;
    apply_earlier_platform(&superuser).await;
    (name, superuser, maintenance)
}

async fn expect_taken_back(trap_of_realtime: &str) {
    let database = TestDatabase::create().await;
    let (name, superuser, maintenance) = open_earlier(&database, "upgrade").await;
    superuser
        .batch_execute("grant references, trigger on vault.secrets to postgres with grant option")
        .await
        .expect("as the earlier script did");
    superuser
        .batch_execute(
            "update pg_catalog.pg_proc set prosrc = replace(prosrc, 'key_id := 0::bigint', 'key_id := 0')
             where pronamespace = 'vault'::regnamespace;
             create table public.of_project (id bigint primary key);
             grant references, trigger on public.of_project to postgres;",
        )
        .await
        .expect("as the earlier script did");
    let postgres = open(&database, "postgres", &name).await;
    for trap in TRAPS.iter().chain([&trap_of_realtime]) {
        postgres.batch_execute(trap).await.expect(trap);
    }
    let before = find_privilege_faults(&postgres).await.expect("a list");

    apply_platform(&superuser).await.expect("the upgrade");
    superuser
        .batch_execute("create table public.by_superuser (id int)")
        .await
        .expect("no trigger runs");
    let faults = find_privilege_faults(&postgres).await.expect("a list");
    let evil = query_value(
        &superuser,
        "select count(*) from pg_roles where rolname = 'gw_012_evil'",
    )
    .await;
    let kept = query_value(
        &superuser,
        "select concat_ws(' ',
           (select evtname from pg_event_trigger where evtname = 'with_role'),
           (select string_agg(conrelid::regclass::text, ',') from pg_constraint where confrelid = 'vault.secrets'::regclass),
           (select fdwhandler::oid from pg_foreign_data_wrapper where fdwname = 'unchecked'),
           (select count(*) from pg_constraint where conrelid = to_regclass('public.refers') and contype = 'f'),
           (select string_agg(evtname, ',' order by evtname) from pg_event_trigger where evtname like 'pgrst%'),
           (select string_agg(proname, ',' order by proname) from pg_proc
            where pronamespace = 'vault'::regnamespace and prosrc like '%key_id := 0::bigint,%'))",
    )
    .await;
    drop((superuser, postgres));
    maintenance
        .batch_execute("drop role if exists gw_012_evil")
        .await
        .expect("dropped");
    maintenance
        .batch_execute(&format!("drop database {name} with (force)"))
        .await
        .expect("dropped");

    assert!(before.len() > 5, "the traps are ones: {before:?}");
    assert_eq!(evil, "0", "{trap_of_realtime}");
    let (of_project, others): (Vec<_>, Vec<_>) = faults.into_iter().partition(|fault: &PrivilegeFault| {
        fault.object.contains("of_project") || fault.object.contains("refers")
    });
    assert_eq!(others, Vec::<PrivilegeFault>::new());
    assert!(!of_project.is_empty(), "what a superuser's table allows is shown");
    assert_eq!(
        kept,
        "with_role public.plain 0 1 pgrst_ddl_watch,pgrst_drop_watch create_secret,update_secret"
    );
}

/// What an earlier file leaves open, a later one closes: nobody may see the state between, and a run that is killed leaves none behind.
#[tokio::test]
async fn gw_012_an_upgrade_is_seen_whole_or_not_at_all() {
    let database = TestDatabase::create().await;
    let (name, superuser, maintenance) = open_earlier(&database, "whole").await;
    let holder = open(&database, "supabase_admin", &name).await;
    holder
        .batch_execute("begin; lock table storage.objects")
        .await
        .expect("locked");
    let watcher = open(&database, "postgres", &name).await;
    let upgrade = open(&database, "supabase_admin", &name).await;
    let process = query_value(&upgrade, "pg_backend_pid()").await;
    let before = query_value(&watcher, "(select count(*) from _selvedge.platform_migrations)").await;

    let kill = async {
        let waits =
            "exists (select from pg_locks where relation = 'storage.objects'::regclass and not granted)";
        while query_value(&watcher, waits).await != "true" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let seen = query_value(&watcher, "(select count(*) from _selvedge.platform_migrations)").await;
        let kill = format!("select pg_terminate_backend({process})");
        holder.batch_execute(&kill).await.expect("ended");
        holder.batch_execute("commit").await.expect("committed");
        seen
    };
    let (killed, seen) = tokio::join!(apply_platform(&upgrade), kill);
    let after = query_value(&watcher, "(select count(*) from _selvedge.platform_migrations)").await;
    let again = apply_platform(&superuser).await;
    drop((superuser, holder, watcher, upgrade));
    maintenance
        .batch_execute(&format!("drop database {name} with (force)"))
        .await
        .expect("dropped");

    assert!(killed.is_err(), "{killed:?}");
    assert_eq!((seen, after), (before.clone(), before));
    assert!(again.expect("the next run applies all").applied.len() > 50);
}

/// `postgres` can do so on PostgreSQL 15, where it can become the owner of these functions.
#[tokio::test]
async fn gw_012_functions_that_were_made_members_of_an_extension_do_not_stop_an_upgrade() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "create function selvedge_console.find_project_member(user_id uuid) returns text language sql as 'select null::text';
             create function selvedge_console.list_project_members() returns text language sql as 'select null::text';
             create view public.members as select selvedge_console.list_project_members();
             alter function selvedge_console.find_project_member owner to selvedge_console_members;
             alter extension plpgsql add function selvedge_console.find_project_member(uuid);",
        )
        .await
        .expect("as an earlier version");
    let file = include_str!("../../../../sql/platform/0232_console_members.sql");

    superuser.batch_execute(file).await.expect("the upgrade");

    let left = "select string_agg(p.proname, ', ') from pg_proc as p
        where p.pronamespace = 'selvedge_console'::regnamespace and p.proname ~ 'project_member'";
    assert_eq!(query_value(&superuser, left).await, "null");
    let extension = "select extname from pg_extension where extname = 'plpgsql'";
    assert_eq!(query_value(&superuser, extension).await, "plpgsql");
}
