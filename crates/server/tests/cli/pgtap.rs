//! `selvedge test db`: the project folders of `e2e/projects`, each in a database of its own, and what is printed about
//! failures.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use selvedge_postgres::migrate::{apply_pending, apply_roles, apply_seeds, discover_migrations, find_seeds};
use selvedge_postgres::testing::TestDatabase;

use crate::support::Project;

#[actix_web::test]
async fn gw_018_the_tests_of_every_example_project_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/projects");
    let entries = std::fs::read_dir(&folder).expect("the projects");
    let projects: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.is_dir())
        .collect();
    assert!(projects.len() >= 15, "{}", projects.len());

    let runs = projects.into_iter().map(|project| async move {
        let database = TestDatabase::create().await;
        bring_up(&project, &database).await;
        let url = database.url("postgres");
        let folder = project.clone();
        let output = actix_web::rt::task::spawn_blocking(move || run_tests(&folder, &url))
            .await
            .expect("no panic");
        (project, output)
    });
    let failures: Vec<String> = futures_util::future::join_all(runs)
        .await
        .into_iter()
        .filter_map(|(project, output)| {
            let printed = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            let has_passed =
                output.status.success() && printed.contains("Result: PASS") && !printed.contains("Tests=0");
            (!has_passed).then(|| format!("{}\n{printed}{errors}", project.display()))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Applies what a first start applies.
async fn bring_up(project: &Path, database: &TestDatabase) {
    let client = database.connect("postgres").await;
    if let Err(error) = apply_roles(&client, &project.join("roles.sql"), |_| {}).await {
        panic!("{}: {error}", project.display());
    }
    let migrations = discover_migrations(&project.join("migrations"))
        .expect("a folder")
        .migrations;
    if let Err(error) = apply_pending(&client, &migrations, |_| {}).await {
        panic!("{}: {error}", project.display());
    }
    let (seeds, _) = find_seeds(project, &["./seed.sql".to_owned()]).expect("a pattern");
    if let Err(error) = apply_seeds(&client, &seeds, |_| {}).await {
        panic!("{}: {error}", project.display());
    }
}

fn run_tests(project: &Path, url: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(["test", "db", "--db-url", url, "--project"])
        .arg(project)
        .env_remove("DATABASE_URL")
        .output()
        .expect("the binary runs")
}

#[actix_web::test]
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
