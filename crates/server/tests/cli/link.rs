//! `selvedge link`: commands with `--linked` work on the recorded database.

use std::os::unix::fs::PermissionsExt;

use selvedge_testing::TestDatabase;

use crate::support::Project;

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_032_commands_work_on_the_linked_database_and_its_password_stays_private() {
    let project = Project::new();
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table public.notes (id int primary key);",
    );
    let database = TestDatabase::create().await;
    let url = database.url("postgres");
    let unlinked = project.run_and_expect_failure(&["migration", "list", "--linked"]);
    assert!(unlinked.contains("selvedge link --db-url URL"), "{unlinked}");

    let linked = project.run_and_expect_success(&["link", "--db-url", &url]);
    let pending = project.run_and_expect_success(&["db", "push", "--dry-run", "--linked"]);
    project.run_and_expect_success(&["db", "push", "--linked"]);
    let types = project.run_and_expect_success(&["gen", "types", "--linked"]);
    let rows = project.run_and_expect_success(&["db", "query", "--linked", "select count(*) from notes"]);

    assert!(linked.contains("PostgreSQL"), "{linked}");
    assert!(pending.contains("20260101000000_notes"), "{pending}");
    assert!(types.contains("notes: {"), "{types}");
    assert!(rows.contains('0'), "{rows}");
    let file = project.path(".temp/database-url");
    assert_eq!(
        file.metadata().expect("a file").permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        std::fs::read_to_string(project.path(".temp/.gitignore")).expect("a file"),
        "*\n"
    );
    let shown = project.run_and_expect_success(&["link"]);
    assert!(shown.contains("is linked to"), "{shown}");
    assert!(!shown.contains("postgresql://"), "{shown}");
    // The project's own database was never started.
    assert!(!project.path(".selvedge/pgdata").exists());

    project.run_and_expect_success(&["unlink"]);
    assert!(!file.exists());
}

#[test]
fn gw_032_a_link_needs_a_database_that_answers() {
    let project = Project::new();
    let nowhere = "postgresql://postgres:x@127.0.0.1:1/postgres";

    let hosted = project.run_and_expect_failure(&["link", "--project-ref", "abcdefghijklmnopqrst"]);
    let refused = project.run_and_expect_failure(&["link", "--db-url", nowhere]);

    assert!(hosted.contains("stock CLI"), "{hosted}");
    assert!(refused.contains("127.0.0.1:1"), "{refused}");
    assert!(!project.path(".temp").exists());
    project.run_and_expect_success(&["link", "--no-check", "--db-url", nowhere]);
    let both = project.run_and_expect_failure(&["db", "push", "--linked", "--local"]);
    assert!(both.contains("cannot be used with"), "{both}");
}
