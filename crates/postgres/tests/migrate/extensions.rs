//! Creates and drops extensions as `postgres`, which may do so at Supabase although it is not a superuser.

use selvedge_postgres::migrate::MigrateError;

use super::Project;

#[tokio::test]
async fn gw_018_postgres_creates_contrib_extensions_trusted_or_not_and_drops_them() {
    let project = Project::new(&[
        (
            "migrations/1_create.sql",
            "create extension if not exists \"uuid-ossp\" with schema extensions;\n\
             create extension if not exists citext;\n\
             create schema gis;\n\
             create extension earthdistance with schema gis cascade;\n\
             create extension if not exists moddatetime schema extensions;\n\
             create extension postgres_fdw with schema extensions;\n\
             create table t (id uuid default extensions.uuid_generate_v4(), other uuid default uuid_generate_v4(),\n\
               name citext, changed timestamptz);\n\
             create trigger changed before update on t for each row\n\
               execute procedure extensions.moddatetime(changed);",
        ),
        ("migrations/2_drop.sql", "drop extension if exists postgres_fdw, pg_net cascade; drop extension citext cascade;"),
    ])
    .await;

    project.migrate().await.expect("applies");

    assert_eq!(
        project
            .query_value(
                "select string_agg(extname || ' ' || nspname, ', ' order by extname)
                 from pg_extension join pg_namespace n on n.oid = extnamespace"
            )
            .await,
        "cube gis, earthdistance gis, moddatetime extensions, pg_stat_statements extensions, pgcrypto extensions, \
         pgjwt extensions, plpgsql pg_catalog, supabase_vault vault, uuid-ossp extensions"
    );
}

/// Dumps of Supabase's databases have such statements, and these types.
#[tokio::test]
async fn gw_018_grants_on_functions_of_dblink_are_those_of_a_dump() {
    let project = Project::new(&[(
        "migrations/1_grants.sql",
        "CREATE EXTENSION IF NOT EXISTS \"dblink\" WITH SCHEMA \"public\";
         GRANT ALL ON FUNCTION \"public\".\"dblink\"(\"text\", \"text\") TO \"anon\";
         GRANT ALL ON FUNCTION \"public\".\"dblink\"(\"text\", boolean) TO \"anon\";
         GRANT ALL ON FUNCTION \"public\".\"dblink_connect\"(\"text\", \"text\") TO \"service_role\";
         GRANT ALL ON FUNCTION \"public\".\"dblink_fetch\"(\"text\", integer) TO \"anon\";",
    )])
    .await;

    project.migrate().await.expect("applies");

    let may = "select bool_and(has_function_privilege('anon', oid, 'execute')) from pg_proc where proname in ('dblink', 'dblink_fetch')";
    assert_eq!(project.query_value(may).await, "true");
}

#[tokio::test]
async fn gw_018_no_other_extension_becomes_possible_through_the_platform() {
    let project = Project::new(&[("migrations/1_c.sql", "create extension pg_freespacemap;")]).await;

    let error = project.migrate().await.expect_err("not for postgres").to_string();

    assert!(
        error.contains("permission denied to create extension \"pg_freespacemap\" (SQLSTATE 42501)"),
        "{error}"
    );
    let anon = project.database.connect("authenticator").await;
    anon.batch_execute(
        "set role anon; select _selvedge.create_extension('dblink', true, 'public', null, false)",
    )
    .await
    .expect_err("only postgres may");
}

#[tokio::test]
async fn gw_019_unavailable_extensions_are_found_before_anything_runs() {
    let project = Project::new(&[
        ("migrations/1_a.sql", "create table a (id int);"),
        (
            "migrations/2_b.sql",
            "-- wanted\ncreate extension if not exists \"no_such_thing\" with schema extensions;",
        ),
    ])
    .await;

    let error = project.migrate().await.expect_err("it does not exist");

    assert!(matches!(&error, MigrateError::MissingExtensions(missing)
            if missing[0].line == 2 && missing[0].name == "no_such_thing"));
    assert!(
        error
            .to_string()
            .contains("2_b.sql:2: extension \"no_such_thing\" is not available"),
        "{error}"
    );
    assert_eq!(project.query_value("select to_regclass('a')").await, "null");
}

#[tokio::test]
async fn gw_019_optional_extensions_of_hosted_dumps_are_skipped_with_a_warning() {
    let project = Project::new(&[(
        "migrations/1_remote_schema.sql",
        "create extension if not exists \"hypopg\" with schema \"extensions\";\n\
         create extension if not exists \"pgsodium\" with schema \"pgsodium\";\n\
         create extension if not exists \"pg_graphql\" with schema \"graphql\";\n\
         create extension if not exists \"hypopg\";\n\
         create table t (id int);",
    )])
    .await;

    let (ran, warnings) = project.migrate_with_warnings().await.expect("applies");

    assert_eq!(ran, ["remote_schema"]);
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(
        warnings[0].contains("1_remote_schema.sql:1: extension \"hypopg\" is not available"),
        "{warnings:?}"
    );
}
