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

#[tokio::test]
async fn gw_026_a_changed_roles_sql_makes_no_role_again_that_exists() {
    let project = Project::new(&[("roles.sql", "create role gw_026_first nologin;")]).await;
    let path = project.path().join("roles.sql");
    // Roles are those of the whole server, and another run of this test may have left them.
    let drop = "drop role if exists gw_026_first, gw_026_second";
    project.client.batch_execute(drop).await.expect("dropped");
    let mut warnings = Vec::new();
    for text in [
        "create role gw_026_first nologin;",
        // As after a migration that has lacked a role.
        "create role gw_026_first nologin; create role gw_026_second;\ngrant anon to gw_026_first;",
        // What the file itself drops, it makes again.
        "drop role gw_026_second; create role gw_026_second login; CREATE ROLE \"gw_026_first\";",
    ] {
        project.write("roles.sql", text);
        let warn = |line| warnings.push(line);
        apply_roles(&project.client, &path, warn).await.expect("applies");
    }
    // Earlier versions have not noted that the file has run.
    let forget = "delete from supabase_migrations.seed_files";
    project.client.batch_execute(forget).await.expect("deleted");
    project.write("roles.sql", "create role gw_026_first nologin;");
    let warn = |line| warnings.push(line);
    apply_roles(&project.client, &path, warn).await.expect("applies");

    let names: Vec<bool> = warnings
        .iter()
        .map(|line| line.contains("the role gw_026_first exists"))
        .collect();
    assert_eq!(names, [true, true, true], "{warnings:?}");
    let roles = "select string_agg(concat_ws(' ', rolname, rolcanlogin, pg_has_role(oid, 'anon', 'member')), ', ' order by rolname)
        from pg_roles where rolname like 'gw_026_%t' or rolname like 'gw_026_%nd'";
    assert_eq!(
        project.query_value(roles).await,
        "gw_026_first f t, gw_026_second t f"
    );
    // A role of the platform is not the file's.
    project.write("roles.sql", "create role anon;");
    let refused = apply_roles(&project.client, &path, |_| {})
        .await
        .expect_err("it exists");
    assert!(refused.to_string().contains("already exists"), "{refused}");
}
