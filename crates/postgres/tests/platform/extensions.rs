//! Extensions that `postgres` creates by itself, on any connection.

use selvedge_postgres::SHIPPED;
use selvedge_testing::TestDatabase;

use super::{api, query_sqlstate, query_value};

#[tokio::test]
async fn gw_018_postgres_creates_alters_and_drops_extensions_on_its_own_connection() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    postgres
        .batch_execute(
            "create extension if not exists dblink with schema extensions;
             create extension moddatetime; select _selvedge.set_extension_schema('moddatetime', 'extensions');
             alter extension moddatetime update;
             comment on extension dblink is 'ours';
             create extension earthdistance with schema extensions cascade;
             do $$ begin create extension if not exists postgres_fdw with schema extensions; end $$;
             create function make() returns void language plpgsql as $$ begin create extension citext; end $$;
             select make(); drop function make();
             comment on extension pgcrypto is 'the platform''s';
             create extension if not exists pgcrypto; create extension if not exists plpgsql with schema pg_catalog;
             drop extension if exists pg_nothing, no_such_extension cascade;",
        )
        .await
        .expect("postgres may");

    assert_eq!(
        query_value(
            &postgres,
            "select string_agg(extname || ' ' || extowner::regrole, ', ' order by extname) from pg_extension
             where extname <> 'plpgsql'"
        )
        .await,
        "citext postgres, cube postgres, dblink postgres, earthdistance postgres, moddatetime postgres, \
         pg_net postgres, pg_stat_statements postgres, pgcrypto postgres, pgjwt postgres, postgres_fdw postgres, \
         supabase_vault postgres, uuid-ossp postgres"
    );
    assert_eq!(
        query_value(
            &postgres,
            "select string_agg(distinct proowner::regrole::text, ',') from pg_proc
             where pronamespace = 'extensions'::regnamespace and proname ~ '^(dblink|moddatetime|earth)'"
        )
        .await,
        "supabase_admin",
        "objects belong to the superuser, so default privileges of postgres do not touch them"
    );
    postgres
        .batch_execute(
            "create server other foreign data wrapper postgres_fdw options (host 'x');
             drop server other; drop extension dblink, citext, earthdistance, cube, postgres_fdw; drop extension pgcrypto cascade",
        )
        .await
        .expect("postgres owns them");
}

#[tokio::test]
async fn gw_018_extensions_that_supabase_reserves_for_superusers_stay_reserved() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    for name in [
        "pg_freespacemap",
        "pageinspect",
        "adminpack",
        "old_snapshot",
        "pg_surgery",
    ] {
        let installed = format!("exists (select from pg_available_extensions where name = '{name}')");
        // PostgreSQL 17 has no adminpack and old_snapshot.
        if query_value(&postgres, &installed).await == "true" {
            assert_eq!(
                query_sqlstate(&postgres, &format!("create extension {name}")).await,
                "42501",
                "{name}"
            );
        }
    }
    for role in ["anon", "authenticated", "service_role"] {
        let client = api(&database, role, "{}").await;
        assert_eq!(
            query_sqlstate(&client, "create extension dblink").await,
            "42501",
            "{role}"
        );
        assert_eq!(
            query_sqlstate(&client, "drop extension pgcrypto").await,
            "42501",
            "{role}"
        );
    }
}

#[tokio::test]
async fn gw_018_shipped_extensions_are_real_ones() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;

    for extension in SHIPPED {
        assert_eq!(
            query_value(
                &postgres,
                &format!(
                    "select version from pg_available_extension_versions
                     where name = '{}' and version = '{}' and {} (superuser and trusted)",
                    extension.name,
                    extension.version,
                    if extension.runs_as_creator() { "not" } else { "" }
                )
            )
            .await,
            extension.version
        );
    }
}

#[tokio::test]
async fn gw_018_assertions_of_pgtap_are_callable_by_api_roles_after_privileges_were_revoked() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres
        .batch_execute(
            "alter default privileges revoke execute on functions from public;
             alter default privileges in schema public revoke execute on functions from anon, authenticated;
             create extension if not exists pgtap with schema extensions;",
        )
        .await
        .expect("created");

    let plan = postgres
        .simple_query("begin; select plan(2); set local role anon; select ok(true, 'as anon'); select is(current_user::text, 'anon'); select * from finish(); rollback")
        .await
        .expect("runs");

    let lines: Vec<&str> = plan
        .iter()
        .filter_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        })
        .collect();
    assert_eq!(lines, ["1..2", "ok 1 - as anon", "ok 2"]);
}

/// A script of an extension runs as a superuser, with functions of the project in its search path behind PostgreSQL's own.
#[tokio::test]
async fn gw_018_a_function_that_takes_fewer_arguments_than_it_declares_is_none_of_postgresql_s_own() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres
        .batch_execute(
            "create function public.lower(text) returns text language sql as 'select $1';
             create function public.json_object(variadic text[]) returns json language sql as 'select null::json';
             create function public.has_table_privilege(name, text, text default '') returns boolean language sql as 'select true'",
        )
        .await
        .expect("postgres may");
    let superuser = database.superuser().await;

    let script = "select lower('X'::text), json_object('a', 'b', 'c'), has_table_privilege(relname, 'select') from pg_class";
    let found = superuser
        .query_one(
            "select string_agg(n, ' ') from _selvedge.find_callable_names($1) as n",
            &[&script],
        )
        .await
        .expect("found");

    assert_eq!(
        found.get::<_, String>(0),
        "public.has_table_privilege(name,text,text) public.json_object(text[])"
    );
}
