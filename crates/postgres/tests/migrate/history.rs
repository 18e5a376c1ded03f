//! Migrations run once, in order, each in a transaction; failures are reported with file and line.

use selvedge_postgres::migrate::{
    MigrateError, MigrationState, apply_seeds, discover_migrations, find_seeds, list_migrations,
};

use super::Project;

#[tokio::test]
async fn gw_021_migrations_run_once_and_leave_their_history() {
    let project = Project::new(&[
        (
            "migrations/20240101000000_first.sql",
            "-- tables\ncreate table a (id int);\ninsert into a values (1);\n",
        ),
        (
            "migrations/20240102000000_second.sql",
            "alter table a add column b text default 'x;y';",
        ),
    ])
    .await;

    assert_eq!(project.migrate().await.expect("applies"), ["first", "second"]);
    assert!(project.migrate().await.expect("again").is_empty());
    project.write(
        "migrations/20240103000000_third.sql",
        "create view v as select * from a;",
    );
    assert_eq!(project.migrate().await.expect("applies"), ["third"]);

    assert_eq!(
        project.query_value("select string_agg(b, ',') from v").await,
        "x;y"
    );
    assert_eq!(
        project
            .query_value(
                "select string_agg(version || ' ' || name || ' ' || cardinality(statements), '|' order by version)
                 from supabase_migrations.schema_migrations"
            )
            .await,
        "20240101000000 first 2|20240102000000 second 1|20240103000000 third 1"
    );
}

#[tokio::test]
async fn gw_021_a_failing_migration_names_file_line_state_and_statement_and_leaves_nothing() {
    let project = Project::new(&[
        ("migrations/1_good.sql", "create table good (id int);"),
        (
            "migrations/2_bad.sql",
            "create table bad (id int);\n\n-- why\ninsert into bad\nvalues (1 / 0);\nselect 1;",
        ),
    ])
    .await;

    let error = project.migrate().await.expect_err("division by zero");

    let MigrateError::Statement(failure) = &error else {
        panic!("{error}")
    };
    assert_eq!((failure.line, failure.sqlstate.as_str()), (4, "22012"));
    assert_eq!(failure.statement, "-- why\ninsert into bad\nvalues (1 / 0)");
    let message = error.to_string();
    assert!(
        message.contains("2_bad.sql:4: division by zero (SQLSTATE 22012)"),
        "{message}"
    );
    assert!(message.contains("    insert into bad"), "{message}");
    assert_eq!(project.query_value("select to_regclass('bad')").await, "null");
    assert_eq!(
        project
            .query_value("select string_agg(name, ',') from supabase_migrations.schema_migrations")
            .await,
        "good"
    );

    project.write("migrations/2_bad.sql", "create table bad (id int);");
    assert_eq!(project.migrate().await.expect("mended"), ["bad"]);
}

#[tokio::test]
async fn gw_021_syntax_errors_and_unknown_names_point_to_their_own_line() {
    let project = Project::new(&[(
        "migrations/1_a.sql",
        "select 'äöü';\nselect 2;\nselekt 3;\nselect 4;",
    )])
    .await;

    let syntax = project.migrate().await.expect_err("no SQL").to_string();
    project.write(
        "migrations/1_a.sql",
        "select 'äöü';\nselect 2;\nselect\n nothing from nowhere;",
    );
    let unknown = project.migrate().await.expect_err("no table").to_string();

    assert!(
        syntax.contains("1_a.sql:3: syntax error at or near \"selekt\" (SQLSTATE 42601)"),
        "{syntax}"
    );
    assert!(
        unknown.contains("1_a.sql:4: relation \"nowhere\" does not exist (SQLSTATE 42P01)"),
        "{unknown}"
    );
}

#[tokio::test]
async fn gw_021_settings_and_roles_of_one_file_do_not_reach_the_next() {
    let project = Project::new(&[
        (
            "migrations/1_dump.sql",
            "set statement_timeout = '59s'; set row_security = off;\n\
             select pg_catalog.set_config('search_path', '', false);\n\
             create table public.one (id int);\nset role anon;",
        ),
        (
            "migrations/2_next.sql",
            "create table two (lock text default current_setting('lock_timeout'), \
                               statement text default current_setting('statement_timeout')); \
             insert into two default values;",
        ),
    ])
    .await;

    project.migrate().await.expect("applies");

    assert_eq!(project.query_value("select lock from public.two").await, "4s");
    assert_eq!(project.query_value("select statement from public.two").await, "0");
    assert_eq!(
        project
            .query_value("select tableowner from pg_tables where tablename = 'two'")
            .await,
        "postgres"
    );
    assert_eq!(
        project
            .query_value("select current_setting('lock_timeout')")
            .await,
        "0"
    );
}

#[tokio::test]
async fn gw_021_what_cannot_run_in_a_transaction_runs_alone_and_the_rest_in_order() {
    let project = Project::new(&[(
        "migrations/1_index.sql",
        "create table t (id int);\ninsert into t values (1);\ncreate index concurrently i on t (id);\nvacuum t;\n\
         insert into t select count(*) from pg_index where indexrelid = 'i'::regclass;\nreindex index concurrently i;\n\
         drop index concurrently i;",
    )])
    .await;
    project.write("seed.sql", "insert into t values (5);\nvacuum analyze t;");

    assert_eq!(project.migrate().await.expect("applies"), ["index"]);

    assert_eq!(
        project
            .query_value("select string_agg(id::text, ' ') from t")
            .await,
        "1 1"
    );
    assert_eq!(project.query_value("select to_regclass('i')").await, "null");
    assert!(project.migrate().await.expect("is recorded").is_empty());
    let (seeds, _) = find_seeds(project.path(), &["./seed.sql".into()]).expect("patterns");
    apply_seeds(&project.client, &seeds, |_| {})
        .await
        .expect("applies");
    assert_eq!(project.query_value("select max(id) from t").await, "5");
}

#[tokio::test]
async fn gw_021_a_failure_after_a_statement_that_ran_alone_says_what_was_applied() {
    let project = Project::new(&[(
        "migrations/1_index.sql",
        "create table t (id int);\ninsert into t values (1), (1);\ncreate unique index concurrently i on t (id);\nselect 1;",
    )])
    .await;

    let error = project.migrate().await.expect_err("not unique").to_string();

    assert!(
        error.contains("1_index.sql:3: could not create unique index"),
        "{error}"
    );
    assert!(
        error.contains("what is before line 3 has taken effect"),
        "{error}"
    );
    assert!(error.contains("may stay behind, invalid"), "{error}");
    assert_eq!(project.query_value("select count(*) from t").await, "2");

    // VACUUM runs alone, which commits what stands before it. The statements after it are one transaction: it is rolled back, and the
    // file does not count as applied.
    project.write(
        "migrations/1_index.sql",
        "create table if not exists t (id int);\nvacuum t;\ncreate table u ();\nselect 1/0;",
    );
    let error = project.migrate().await.expect_err("division by zero").to_string();
    assert!(
        error.contains("what is before line 3 has taken effect"),
        "{error}"
    );
    assert_eq!(project.query_value("select to_regclass('u')").await, "null");
    project.write(
        "migrations/1_index.sql",
        "-- pg-delta: transaction=false\ncreate type mood as enum ('a');\nalter type mood add value 'b';\n\
         create table moods as select 'b'::mood as mood;",
    );
    assert_eq!(project.migrate().await.expect("applies"), ["index"]);
    assert_eq!(project.query_value("select count(*) from moods").await, "1");
}

#[tokio::test]
async fn gw_021_files_that_open_their_own_transaction_are_still_applied_whole() {
    let project = Project::new(&[(
        "migrations/1_wrapped.sql",
        "begin;\ncreate table t (id int);\ninsert into t values (1);\ncommit;\n",
    )])
    .await;

    assert_eq!(project.migrate().await.expect("applies"), ["wrapped"]);
    assert_eq!(project.query_value("select count(*) from t").await, "1");

    project.write(
        "migrations/2_wrapped.sql",
        "begin; create table u (id int); select 1/0; commit;",
    );
    project.migrate().await.expect_err("division by zero");
    assert_eq!(project.query_value("select to_regclass('u')").await, "null");
}

#[tokio::test]
async fn gw_022_history_and_folder_that_disagree_are_refused() {
    let project = Project::new(&[("migrations/2_b.sql", "select 1")]).await;
    project.migrate().await.expect("applies");

    let early = project.write("migrations/1_a.sql", "select 1");
    let error = project.migrate().await.expect_err("too early").to_string();
    assert!(
        error.starts_with("Found local migration files to be inserted before the last migration"),
        "{error}"
    );

    std::fs::remove_file(early).expect("ours");
    std::fs::rename(
        project.path().join("migrations/2_b.sql"),
        project.path().join("migrations/3_c.sql"),
    )
    .expect("ours");
    let error = project.migrate().await.expect_err("2 is gone").to_string();
    assert!(
        error.starts_with("Remote migration versions not found in local migrations directory."),
        "{error}"
    );

    let local = discover_migrations(&project.path().join("migrations"))
        .expect("readable")
        .migrations;
    let statuses = list_migrations(&project.client, &local).await.expect("listed");
    let states: Vec<_> = statuses
        .iter()
        .map(|status| (status.version.as_str(), status.state))
        .collect();
    assert_eq!(
        states,
        [("2", MigrationState::Missing), ("3", MigrationState::Pending)]
    );
}

#[tokio::test]
async fn gw_023_what_migrations_contain_is_split_and_run() {
    let project = Project::new(&[(
        "migrations/1_everything.sql",
        "\u{feff}create table t (id int generated always as identity, note text);\r\n\
         /* a /* nested; */ comment; */\r\n\
         create function f() returns trigger language plpgsql as $body$ begin new.note := 'it''s;'; return new; end $body$;\r\n\
         create trigger tr before insert on t for each row execute function f();\r\n\
         create function g() returns int language sql begin atomic; select 1; select case when true then 2 else 3 end; end;\r\n\
         create rule r as on delete to t do instead (select 1; select 2);\r\n\
         insert into t default values; -- done;\r\n\
         do $$ begin perform g(); end $$",
    )])
    .await;

    project.migrate().await.expect("applies");

    assert_eq!(project.query_value("select note || g() from t").await, "it's;2");
    assert_eq!(
        project
            .query_value("select cardinality(statements) from supabase_migrations.schema_migrations")
            .await,
        "7"
    );
}
