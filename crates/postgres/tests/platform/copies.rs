//! Copies of a project's database beside it, which keep what the version that made them had.

use selvedge_postgres::migrate::ExtensionGuard;
use selvedge_testing::TestDatabase;
use tokio_postgres::Client;

use super::{query_sqlstate, query_value};

/// Functions that run as a superuser, and whether `postgres` may let a table refer to one of a superuser, whose checks run as that one.
const RIGHTS: &str = "select concat_ws(' ',
    (select count(*) > 20 from pg_proc as p join pg_roles as o on o.oid = p.proowner and o.rolsuper
     where p.prosecdef and p.pronamespace <> 'pg_catalog'::regnamespace),
    (select count(*) from pg_proc as p join pg_roles as o on o.oid = p.proowner and o.rolsuper
     where p.prosecdef and p.pronamespace <> 'pg_catalog'::regnamespace) > 0,
    has_table_privilege('postgres', 'vault.secrets', 'references'))";

/// What an earlier version let `postgres` make with rights on tables of a superuser. Each function tells whose rights it has.
const GRANTED: &str = "
    create table public.owned (id int primary key, other int unique);
    insert into public.owned values (0, 0);
    grant references, trigger on public.owned to postgres with grant option;
    alter default privileges in schema public grant references, trigger on tables to postgres;
    update pg_extension set extowner = 'postgres'::regrole where extname = 'plpgsql';
    create extension postgres_fdw; create extension dblink;
    grant execute on function public.dblink_connect_u(public.dblink_connection) to postgres;
    alter default privileges grant execute on functions to postgres;
    create foreign data wrapper mixed handler postgres_fdw_handler validator postgresql_fdw_validator;
    create foreign data wrapper paired handler postgres_fdw_handler validator postgres_fdw_validator;
    update pg_foreign_data_wrapper set fdwowner = 'postgres'::regrole where fdwname in ('mixed', 'paired');
    create function public.fire() returns event_trigger language plpgsql as 'begin end';
    create event trigger fired on ddl_command_end execute function public.fire();
    update pg_event_trigger set evtowner = 'postgres'::regrole where evtname = 'fired';
    create function pg_catalog.concat(oid, text, \"char\") returns text language plpgsql as
      $$ begin raise exception 'runs as %', current_user; end $$;
    alter function pg_catalog.concat(oid, text, \"char\") owner to postgres;
    delete from _selvedge.platform_migrations where version = 198";
const MADE: &str = "
    create schema made; grant usage, create on schema made to anon;
    create type made.pair as (id int);
    create function made.tell(value made.pair) returns int language plpgsql as
      $$ begin raise exception 'runs as %', current_user; end $$;
    create cast (made.pair as int) with function made.tell(made.pair) as implicit;
    create table made.child (id made.pair references public.owned);
    create table made.plain (id int references public.owned);
    create function made.tell_row() returns trigger language plpgsql as
      $$ begin raise exception 'runs as %', current_user; end $$;
    create function made.tell_condition(id int) returns boolean language plpgsql as
      $$ begin raise exception 'runs as %', current_user; end $$;
    create trigger told before insert on public.owned for each row execute function made.tell_row();
    create trigger asked before update on public.owned for each row when (made.tell_condition(new.id))
      execute function suppress_redundant_updates_trigger();
    grant references (other) on public.owned to anon";

/// A session of the superuser with the search path of privileged ones.
async fn pinned_session(database: &TestDatabase) -> Client {
    let session = database.superuser().await;
    session
        .batch_execute("set search_path = pg_catalog, pg_temp")
        .await
        .expect("everybody may");
    session
}

#[tokio::test]
async fn gw_012_a_copy_of_an_earlier_version_has_no_functions_that_run_as_a_superuser() {
    let project = TestDatabase::create().await;
    let guard = ExtensionGuard::read(&pinned_session(&project).await)
        .await
        .expect("read");

    for (change, expected) in [
        ("select", "t t f"),
        (
            "update pg_proc set prosrc = prosrc || ' ' where oid = '_selvedge.drop_extension'::regproc;
             grant references on vault.secrets to postgres",
            "f f f",
        ),
        (
            "delete from _selvedge.platform_migrations where version = (select max(version) from _selvedge.platform_migrations)",
            "f f f",
        ),
        ("drop table _selvedge.platform_migrations", "f f f"),
    ] {
        let copy = TestDatabase::create().await;
        let superuser = copy.superuser().await;
        superuser.batch_execute(change).await.expect(change);

        guard
            .install(&pinned_session(&copy).await)
            .await
            .expect("installed");

        assert_eq!(query_value(&superuser, RIGHTS).await, expected, "{change}");
    }

    // What is switched off is refused, and statements that need no more rights than postgres has go on.
    let copy = TestDatabase::create().await;
    let superuser = pinned_session(&copy).await;
    superuser
        .batch_execute("drop table _selvedge.platform_migrations")
        .await
        .expect("a superuser may");
    guard.install(&superuser).await.expect("installed");
    let postgres = copy.connect("postgres").await;
    let create = "select _selvedge.create_extension_as_superuser('hstore', false, 'extensions', null, false)";
    assert_eq!(query_sqlstate(&postgres, create).await, "42501");
    postgres
        .batch_execute("create table public.kept (id int); create function public.kept() returns int language sql as 'select 1'")
        .await
        .expect("postgres may");
}

/// Keys, triggers, wrappers and rights that were made in a copy before the upgrade.
#[tokio::test]
async fn gw_012_a_copy_of_an_earlier_version_keeps_nothing_that_runs_as_a_superuser() {
    let project = TestDatabase::create().await;
    let guard = ExtensionGuard::read(&pinned_session(&project).await)
        .await
        .expect("read");
    let copy = TestDatabase::create().await;
    let superuser = copy.superuser().await;
    superuser.batch_execute(GRANTED).await.expect("a superuser may");
    let postgres = copy.connect("postgres").await;
    postgres.batch_execute(MADE).await.expect("postgres could");
    let add = "insert into made.child values (row(1)::made.pair)";
    let seen = postgres
        .batch_execute(add)
        .await
        .expect_err("the function refuses");
    let owner = query_value(
        &superuser,
        "select relowner::regrole from pg_class where oid = 'public.owned'::regclass",
    )
    .await;
    assert_eq!(
        seen.as_db_error().expect("by PostgreSQL").message(),
        format!("runs as {owner}")
    );

    guard
        .install(&pinned_session(&copy).await)
        .await
        .expect("installed");

    postgres
        .batch_execute(add)
        .await
        .expect("no key calls the function");
    superuser
        .batch_execute("insert into public.owned values (1, 1); update public.owned set other = other + 10")
        .await
        .expect("no trigger calls a function of the project");
    for refused in [
        "alter table made.plain alter column id type made.pair using row(id)::made.pair",
        "set role anon; create table made.other (id int references public.owned (other))",
        "reset role; drop extension plpgsql cascade",
        "select public.dblink_connect_u('dbname=postgres')",
    ] {
        assert_eq!(query_sqlstate(&postgres, refused).await, "42501", "{refused}");
        postgres.batch_execute("reset role").await.expect("everybody may");
    }
    for (question, expected) in [
        (
            "select string_agg(conname, ' ') from pg_constraint where contype = 'f' and confrelid = 'public.owned'::regclass",
            "plain_id_fkey",
        ),
        (
            "select string_agg(fdwname, ' ') from pg_foreign_data_wrapper where fdwhandler <> 0 and fdwowner = 'postgres'::regrole",
            "paired",
        ),
        (
            "select count(*) from pg_default_acl as d, aclexplode(d.defaclacl) as a join pg_roles as o on true
             where o.oid = d.defaclrole and o.rolsuper and d.defaclobjtype = 'r' and a.privilege_type in ('REFERENCES', 'TRIGGER')
               and a.grantee <> d.defaclrole",
            "0",
        ),
    ] {
        assert_eq!(query_value(&superuser, question).await, expected, "{question}");
    }
}
