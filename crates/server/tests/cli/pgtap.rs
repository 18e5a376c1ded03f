//! `selvedge test db`: what is printed about failures. The tests that pass are those of `projects.rs`.

use std::path::Path;
use std::process::{Command, Output};

use selvedge_testing::TestDatabase;

use crate::support::Project;

fn run_tests(project: &Path, url: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(["test", "db", "--db-url", url, "--project"])
        .arg(project)
        .env("SELVEDGE_STATE_HOME", project.join("state-home"))
        .env_remove("DATABASE_URL")
        .output()
        .expect("the binary runs")
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_018_failing_tests_are_reported_with_their_assertions_and_end_with_1() {
    let database = TestDatabase::create().await;
    let project = Project::new();
    project.write("tests/a.sql", "begin; select plan(1); select ok(true); rollback;");
    project.write(
        "tests/deep/b.test.sql",
        "begin;\nselect plan(4);\nselect is(1, 2, 'numbers agree');\nselect ok(true);\nselect nothing_here();\nrollback;",
    );
    project.write("tests/c.pg", "select 'no plan';");
    project.write("tests/ignored.txt", "select 1;");

    let output = run_tests(project.path("").as_path(), &database.url("postgres"));

    let printed = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    for expected in [
        "# Failed test 1: \"numbers agree\"",
        "#         have: 1",
        "#         want: 2",
        "Test Summary Report",
        "  Failed test:  1",
        "  Stopped by an error",
        "  Parse errors: Bad plan.  You planned 4 tests but ran 2.",
        "  Parse errors: No plan found in TAP output",
        "Result: FAIL",
    ] {
        assert!(lines.contains(&expected), "{expected} is missing:\n{printed}");
    }
    assert!(lines.iter().any(|line| line.ends_with(". ok")), "{printed}");
    assert!(
        printed.contains("b.test.sql:5: ERROR:  function nothing_here() does not exist (SQLSTATE 42883)"),
        "{printed}"
    );
    assert!(printed.contains("b.test.sql .. Failed 3/4 subtests"), "{printed}");
    assert!(printed.contains("Files=3, Tests=3, "), "{printed}");
    let client = database.connect("postgres").await;
    let left: i64 = client
        .query_one("select count(*) from pg_extension where extname = 'pgtap'", &[])
        .await
        .expect("a number")
        .get(0);
    assert_eq!(left, 0, "pgTAP is removed again");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_018_tests_that_look_for_a_table_by_its_name_find_the_projects_alone() {
    let database = TestDatabase::create().await;
    let project = Project::new();
    project.write(
        "tests/names.sql",
        "begin;
         select plan(6);
         select is(
           (select count(*) from pg_class where relname = name and relkind = 'r' and not relrowsecurity), 0::bigint,
           'every table ' || name || ' has row-level security')
         from unnest(array['accounts', 'audit', 'sessions', 'snippets', 'project_settings', 'worker_sessions']) as name;
         select * from finish();
         rollback;",
    );

    let output = run_tests(project.path("").as_path(), &database.url("postgres"));

    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}");
}
