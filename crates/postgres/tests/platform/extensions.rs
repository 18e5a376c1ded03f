//! Extensions that `postgres` creates by itself, on any connection.

use selvedge_postgres::SHIPPED;
use selvedge_postgres::migrate::ExtensionGuard;
use selvedge_testing::TestDatabase;
use tokio_postgres::NoTls;

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
    // Users of PGroonga name libraries that PostgreSQL loads.
    let allowed = "select string_agg(name, ' ') from unnest(array['pgroonga', 'pgroonga_database', 'vector']) as n (name)
        where _selvedge.is_allowed_extension(n.name)";
    assert_eq!(query_value(&postgres, allowed).await, "vector");
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
            // From version 16 on `json_object` is a keyword, and is quoted.
            "select string_agg(replace(n, '\"', ''), ' ' order by replace(n, '\"', '')) from _selvedge.find_callable_names($1, '', null) as n",
            &[&script],
        )
        .await
        .expect("found");

    assert_eq!(
        found.get::<_, String>(0),
        "public.has_table_privilege(name,text,text) public.json_object(text[])"
    );
}

/// A view, a table with a trigger and a domain call functions as well, and a script finds them by its search path or by their schemas.
#[tokio::test]
async fn gw_018_tables_and_types_count_where_the_script_of_an_extension_finds_them() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres
        .batch_execute(
            "create schema gis; create schema other;
             create view gis.spatial as select 1 as x; create table other.layers (id int); create sequence gis.numbers;
             create domain gis.geometry as text; create type other.geometry as enum ('a'); create type gis.pair as (a int);
             create table gis.pg_class (id int); create domain gis.int4 as text; create table gis.unnamed (id int);
             create function other.format(text, text) returns text language sql as 'select $1';
             create operator other.=== (leftarg = text, rightarg = text, function = texteq);
             create temporary table layers (id int)",
        )
        .await
        .expect("postgres may");
    let find = async |calling: Option<&str>, naming: &str, schemas: Option<&[&str]>| -> String {
        let found = "select coalesce(string_agg(n, ' '), '') from pg_temp.find($1, $2, $3) as n";
        let row = postgres.query_one(found, &[&calling, &naming, &schemas]).await;
        row.expect("found").get(0)
    };
    // Its own temporary objects are in the path of a script.
    let superuser = database.superuser().await;
    superuser
        .batch_execute(
            "grant usage on schema _selvedge to postgres;
             grant execute on function _selvedge.find_callable_names(text, text, text[]) to postgres",
        )
        .await
        .expect("a superuser may");
    postgres
        .batch_execute(
            "create function pg_temp.find(a text, b text, c text[]) returns setof text language sql
               as 'select regexp_replace(n, ''^pg_temp_\\d+'', ''pg_temp'') from _selvedge.find_callable_names($1, $2, $3) as n'",
        )
        .await
        .expect("postgres may");

    let script = "insert into spatial values (nextval('numbers')); create table t (x geometry, y _pair, z pg_class, i int4);
        select a === format('a', 'b') from layers";
    assert_eq!(
        find(Some(script), "", Some(&["gis"])).await,
        "gis.geometry gis.numbers gis.pair gis.spatial layers"
    );
    assert_eq!(find(Some(script), "", Some(&["extensions"])).await, "layers");
    // Whoever names a schema, or changes the path, finds what is in it.
    let naming = "select other.format('a', 'b')";
    assert_eq!(
        find(Some(naming), "", Some(&["gis"])).await,
        "other.format(text,text)"
    );
    let changing = "set local search_path = \"oth\" \"er\"; select x from layers";
    assert_eq!(
        find(Some(changing), "", Some(&["gis"])).await,
        "layers other.layers"
    );
    let unknown = find(Some(script), "", None).await;
    assert!(
        unknown.contains("other.format(text,text)")
            && unknown.contains("other.===(text,text)")
            && unknown.contains("gis.spatial"),
        "{unknown}"
    );
    // An operator of the extension may be bound to a function of the project, but a word of such a statement is no table.
    let operator = "create operator === (leftarg = spatial, procedure = format)";
    assert_eq!(
        find(Some("select 1"), operator, Some(&["gis", "other"])).await,
        "other.===(text,text) other.format(text,text)"
    );
    // Where nobody can read the script everything in its path counts.
    assert_eq!(
        find(None, "", Some(&["other"])).await,
        "layers other.===(text,text) other.format(text,text) other.geometry other.layers pg_temp.find(text,text,text[])"
    );
}

/// The schema of the statement is known only where the text can be read in one way.
#[tokio::test]
async fn gw_018_the_schema_of_an_extension_is_read_from_the_statement_that_creates_it() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let read = async |statement: &str, has_end: bool| -> Option<Vec<Option<String>>> {
        let read = "select _selvedge.read_extension_statement($1, $2)";
        superuser
            .query_one(read, &[&statement, &has_end])
            .await
            .expect("read")
            .get(0)
    };
    let named = |parts: [Option<&str>; 3]| Some(parts.map(|part| part.map(str::to_owned)).to_vec());

    for (statement, schema, version) in [
        ("create extension a", None, None),
        (
            "CREATE EXTENSION A CASCADE SCHEMA Gis VERSION '1.A'",
            Some("gis"),
            Some("1.A"),
        ),
        (
            "create extension \"a\" with schema \"Gis\" version X cascade;",
            Some("Gis"),
            Some("x"),
        ),
        (
            "create extension a version \"X\" cascade schema gis",
            Some("gis"),
            Some("X"),
        ),
        ("alter extension a update to '2'", None, Some("2")),
        ("alter extension a update", None, None),
    ] {
        let expected = named([Some("a"), schema, version]);
        assert_eq!(read(statement, false).await, expected, "{statement}");
        let within = format!("{statement}\"\nPL/pgSQL function f() line 1 at EXECUTE");
        assert_eq!(read(&within, true).await, expected, "{within}");
    }
    // The quote behind the name may be the second one of a doubled quote, with which the name goes on.
    let within = "create extension a schema \"gis\"\"\nb\"\"\nPL/pgSQL function f() line 1 at EXECUTE";
    assert_eq!(read(within, true).await, named([Some("a"), None, Some("")]));
    let long = format!("create extension a schema {}", "x".repeat(64));
    assert_eq!(read(&long, false).await, named([Some("a"), None, None]));
    assert_eq!(
        read("create extension a schema x schema y schema z schema q", false).await,
        None
    );
    assert_eq!(
        read("alter extension a set schema gis", false).await,
        Some(vec![Some(String::new())])
    );
    let schemas = "select array_to_string(_selvedge.find_extension_schemas($1, $2), ' ', '-')";
    for (name, given, expected) in [
        ("citext", Some("gis"), Some("gis")),
        ("citext", None, None),
        ("earthdistance", Some("gis"), Some("gis")),
        ("nowhere", Some("gis"), None),
    ] {
        let found: Option<String> = superuser
            .query_one(schemas, &[&name, &given])
            .await
            .expect("found")
            .get(0);
        assert_eq!(found.as_deref(), expected, "{name}");
    }
}

/// Of an extension that the server brings along somebody else's scripts may be there as well, and a statement may name any version.
#[tokio::test]
async fn gw_018_an_extension_is_known_while_all_of_its_scripts_are_those_of_the_server() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;

    for extension in SHIPPED {
        let has_text = "select _selvedge.is_only_script($1, $2), _selvedge.is_only_script($1, $2 || ' '), _selvedge.is_known_script($1)";
        let row = superuser
            .query_one(has_text, &[&extension.name, &extension.script])
            .await;
        let row = row.expect("read");
        let found: [bool; 3] = [row.get(0), row.get(1), row.get(2)];
        assert_eq!(found, [true, false, true], "{}", extension.name);
    }
    let of_nobody = "select _selvedge.is_only_script('nowhere', ''), _selvedge.is_known_script('nowhere')";
    let row = superuser.query_one(of_nobody, &[]).await.expect("read");
    assert_eq!((row.get(0), row.get(1)), (false, false));
}

/// Until PostgreSQL 15 the script of earthdistance finds the type `cube` in its own schema first, and makes values of it while it is read.
#[tokio::test]
async fn gw_012_types_of_a_project_are_not_taken_for_those_of_an_extension() {
    let database = TestDatabase::create().await;
    let postgres = database.connect("postgres").await;
    postgres
        .batch_execute(
            "create schema a; create schema b; create extension cube schema b;
             create function a.evil(integer) returns boolean language plpgsql as $$
             begin
               if (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
                 create role gw_012_evil superuser;
               end if;
               return true;
             end $$;
             create domain a.checked as integer check (a.evil(value));
             create type a.cube as (x a.checked);
             create function a.cube_is_point(a.cube) returns boolean language sql as 'select true';
             create function a.cube_dim(a.cube) returns integer language sql as 'select 1';
             create function a.cube_distance(a.cube, a.cube) returns float8 language sql as 'select 1::float8';
             create function a.cube(float8) returns a.cube language sql as 'select null::a.cube';
             create function a.cube(a.cube, float8) returns a.cube language sql as 'select null::a.cube';
             create function a.cube_ll_coord(a.cube, integer) returns float8 language sql as 'select 1::float8';
             create function a.cube_enlarge(a.cube, float8, integer) returns a.cube language sql as 'select null::a.cube';",
        )
        .await
        .expect("postgres may");

    let create = "create extension earthdistance schema a";
    assert_eq!(query_sqlstate(&postgres, create).await, "42501");
    let transforms = "select count(*) from unnest(array['earthdistance', 'hstore_plperl', 'hstore_plperlu', 'hstore_plpython3u',
        'ltree_plpython3u']) as name where _selvedge.is_known_script(name)";
    let superuser = database.superuser().await;
    assert_eq!(query_value(&superuser, transforms).await, "0");
    postgres
        .batch_execute("create function extensions.of_project() returns int language sql as 'select 1'")
        .await
        .expect("postgres may");
    postgres
        .batch_execute("create extension earthdistance schema extensions")
        .await
        .expect("the objects of the project are in another schema");
    assert_eq!(
        query_value(
            &postgres,
            "select count(*) from pg_roles where rolname = 'gw_012_evil'"
        )
        .await,
        "0"
    );
}

/// `postgres` may make a database of any collation, and in a Turkish one the small letter of I is not i.
#[tokio::test]
async fn gw_018_a_database_with_turkish_letters_hides_no_name_in_capital_letters() {
    let database = TestDatabase::create().await;
    let superuser = database.superuser().await;
    let guard = ExtensionGuard::read(&superuser).await.expect("read");
    let name = format!("{}_turkish", database.name());
    let create = format!(
        "create database {name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'tr'"
    );
    superuser.batch_execute(&create).await.expect("a superuser may");
    let mut config = database.config("supabase_admin");
    let (client, connection) = config.dbname(&name).connect(NoTls).await.expect("a login");
    let connection = tokio::spawn(connection);
    guard.install(&client).await.expect("installed");
    client
        .batch_execute(
            "create schema ext authorization postgres;
             create function ext.init(int, text) returns int language sql as 'select 1';
             create table ext.items (id int);
             alter function ext.init(int, text) owner to postgres; alter table ext.items owner to postgres",
        )
        .await
        .expect("a superuser may");

    assert_eq!(query_value(&client, "lower('I') = 'i'").await, "false");
    for (script, expected) in [
        ("SELECT INIT(1);", "ext.init(integer,text)"),
        ("INSERT INTO ITEMS VALUES (1);", "ext.items"),
        (
            "SELECT EXT.INIT(1); INSERT INTO ITEMS VALUES (1);",
            "ext.init(integer,text) ext.items",
        ),
        (
            "CREATE FUNCTION INIT2() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN INIT(1); END $$; SELECT init2();",
            "ext.init(integer,text)",
        ),
        ("SELECT INITIAL(1);", ""),
    ] {
        let found = "select coalesce(string_agg(n, ' '), '')
            from pg_catalog.selvedge_split_extension_script($1) as s,
              pg_catalog.selvedge_find_callable_names(s[1], s[2], array['ext']) as n";
        let row = client.query_one(found, &[&script]).await.expect("found");
        assert_eq!(row.get::<_, String>(0), expected, "{script}");
    }
    drop(client);
    connection.await.expect("ended").expect("without an error");
    let remove = format!("drop database {name} with (force)");
    superuser.batch_execute(&remove).await.expect("a superuser may");
}
