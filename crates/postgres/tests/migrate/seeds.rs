//! Tests of seed files and of `roles.sql`.

use std::time::Instant;

use selvedge_postgres::migrate::{SeedOutcome, apply_roles, apply_seeds, find_seeds};

use super::Project;

#[tokio::test]
async fn gw_025_seeds_run_once_and_changed_ones_only_update_their_hash() {
    let project = Project::new(&[
        ("migrations/1_t.sql", "create table t (id int);"),
        ("seed.sql", "insert into t values (1);"),
    ])
    .await;
    project.migrate().await.expect("applies");
    let (seeds, _) = find_seeds(project.path(), &["./seed.sql".into()]).expect("patterns");

    let mut outcomes = Vec::new();
    for text in [
        "insert into t values (1);",
        "insert into t values (1);",
        "insert into t values (2);",
    ] {
        project.write("seed.sql", text);
        let ran = apply_seeds(&project.client, &seeds, |_| {})
            .await
            .expect("applies");
        outcomes.push(ran[0].1);
    }

    assert_eq!(
        outcomes,
        [SeedOutcome::Applied, SeedOutcome::Unchanged, SeedOutcome::Changed]
    );
    assert_eq!(
        project
            .query_value("select string_agg(id::text, ',') from t")
            .await,
        "1"
    );
    assert_eq!(
        project
            .query_value("select string_agg(path, ',') from supabase_migrations.seed_files")
            .await,
        "seed.sql"
    );
}

#[tokio::test]
async fn gw_025_a_failing_seed_leaves_nothing_and_names_its_line() {
    let project = Project::new(&[(
        "seed.sql",
        "create table t (id int primary key);\ninsert into t values (1);\n\ninsert into t values (1);",
    )])
    .await;
    let (seeds, _) = find_seeds(project.path(), &["./seed.sql".into()]).expect("patterns");

    let error = apply_seeds(&project.client, &seeds, |_| {})
        .await
        .expect_err("duplicate key")
        .to_string();

    assert!(error.contains("seed.sql:4: duplicate key value"), "{error}");
    assert!(error.contains("detail: Key (id)=(1) already exists."), "{error}");
    assert_eq!(project.query_value("select to_regclass('t')").await, "null");
}

#[tokio::test]
async fn gw_025_a_seed_of_a_hundred_thousand_statements_takes_seconds() {
    let mut seed =
        String::from("create table big (id int, note text);\nset session_replication_role = replica;\n");
    for id in 0..100_000 {
        seed.push_str(&format!("insert into big values ({id}, 'row; number {id}');\n"));
    }
    let project = Project::new(&[("seed.sql", &seed)]).await;
    let (seeds, _) = find_seeds(project.path(), &["./seed.sql".into()]).expect("patterns");

    let started = Instant::now();
    apply_seeds(&project.client, &seeds, |_| {})
        .await
        .expect("applies");

    // A machine with nothing else to do takes four; work that grows with the square of the statements would take hours.
    assert!(started.elapsed().as_secs() < 150, "{:?}", started.elapsed());
    assert_eq!(project.query_value("select count(*) from big").await, "100000");
}

#[tokio::test]
async fn gw_026_roles_sql_runs_once_in_a_database() {
    let project = Project::new(&[(
        "roles.sql",
        "do $$ begin if not exists (select from pg_roles where rolname = 'gw_026_reader') then \
           create role gw_026_reader; end if; end $$;\n\
         create schema gw_026_once;\n\
         grant anon to gw_026_reader;\nalter role anon set statement_timeout = '3s';",
    )])
    .await;

    for _ in 0..2 {
        assert!(
            apply_roles(&project.client, &project.path().join("roles.sql"), |_| {})
                .await
                .expect("applies")
        );
    }
    assert!(
        !apply_roles(&project.client, &project.path().join("none.sql"), |_| {})
            .await
            .expect("nothing to do")
    );

    assert_eq!(
        project
            .query_value("select pg_has_role('gw_026_reader', 'anon', 'member')")
            .await,
        "true"
    );
}
