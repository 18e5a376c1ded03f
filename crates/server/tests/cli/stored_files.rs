//! Whose the stored files of a project are: its folder may have those of the project's own database and of one on another server, and earlier
//! versions have not noted that.

use std::process::Output;

use crate::production::{generate_keys, serve_variables};
use crate::support::Project;

const OBJECT: &str = ".selvedge/storage/blobs/0b8/0b8a7d1e-0000-4000-8000-000000000001";

fn text_of(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{err}")
}

/// A folder of `serve`, which had the address of its database from its unit, as an earlier version has left it.
fn served_folder() -> Project {
    let project = Project::new();
    project.write(OBJECT, "of production");
    project.run_and_expect_success(&["trust"]);
    project
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn files_of_a_folder_that_never_had_a_database_of_its_own_are_neither_deleted_nor_replaced_nor_swept() {
    let other = Project::new();
    other.run_and_expect_success(&["reset", "--yes"]);
    let backup = other.path("kept.tar").display().to_string();
    other.run_and_expect_success(&["backup", &backup]);
    let project = served_folder();

    let stopped = text_of(&project.run(&["stop", "--no-backup"]));
    let restored = project.run_and_expect_failure(&["restore", &backup]);
    let running = project.start().await;
    let started = running.output();
    let swept = project.run_and_expect_failure(&["sweep", "--older-than", "0s"]);
    running.stop();
    let reset = text_of(&project.run(&["reset", "--yes"]));

    for printed in [stopped, restored, started, swept, reset] {
        assert!(printed.contains("another database"), "{printed}");
    }
    let kept = std::fs::read_to_string(project.path(OBJECT));
    assert_eq!(kept.expect("it is there"), "of production");
    // Whoever knows better says so.
    project.run_and_expect_success(&["sweep", "--older-than", "0s", "--yes=cli"]);
    assert!(!project.path(OBJECT).exists());
}

/// A flag names the database that the command works on. That of the file has its files here all the same.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn an_address_of_a_flag_does_not_hide_the_one_of_the_file_whose_objects_are_there() {
    let staging = Project::new();
    let _running = staging.start().await;
    let project = served_folder();
    project.write(
        ".env",
        "DATABASE_URL=postgresql://postgres:secret@db.example.invalid:5432/app\n",
    );
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        staging.ports.database
    );

    let refused = project.run_and_expect_failure(&["sweep", "--older-than", "0s", "--database-url", &url]);

    assert!(refused.contains("db.example.invalid:5432/app"), "{refused}");
    assert!(project.path(OBJECT).exists());
}

/// After an update, or on another machine, a data folder is not bound to its user, and `reset` is a way out that is offered.
#[test]
fn a_reset_of_a_folder_that_is_not_bound_deletes_no_objects_of_another_database() {
    let project = Project::new();
    project.run_and_expect_success(&["reset", "--yes"]);
    project.write(OBJECT, "of production");
    project.write(
        ".selvedge/storage-owners",
        "own \n7123/5 db.example.com:5432/app\n",
    );
    let elsewhere = tempfile::tempdir().expect("a folder");
    let reset = || {
        let mut command = project.command(&["reset", "--yes"]);
        command.env("SELVEDGE_STATE_HOME", elsewhere.path());
        command.output().expect("the binary runs")
    };

    let refused = reset();

    let printed = text_of(&refused);
    assert!(
        !refused.status.success()
            && printed.contains("db.example.com:5432/app")
            && printed.contains("selvedge trust"),
        "{printed}"
    );
    assert!(project.path(OBJECT).exists() && project.path(".selvedge/pgdata").exists());
    // Those of the project's own database are what a reset deletes.
    project.write(".selvedge/storage-owners", "own \n");
    let done = reset();
    assert!(done.status.success(), "{}", text_of(&done));
    assert!(!project.path(OBJECT).exists());
}

/// What a reset would run is read before anything is deleted.
#[test]
fn a_reset_of_a_folder_that_is_not_bound_deletes_nothing_when_a_migration_cannot_be_read() {
    let project = Project::new();
    project.run_and_expect_success(&["reset", "--yes"]);
    project.write(OBJECT, "mine");
    project.write(".selvedge/storage-owners", "own \n");
    project.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (text text default 'open);",
    );
    let elsewhere = tempfile::tempdir().expect("a folder");
    let mut command = project.command(&["reset", "--yes"]);
    command.env("SELVEDGE_STATE_HOME", elsewhere.path());
    let output = command.output().expect("the binary runs");

    assert!(!output.status.success());
    let unreadable = text_of(&output);

    assert!(unreadable.contains("20260101000000_notes.sql"), "{unreadable}");
    assert!(project.path(OBJECT).exists() && project.path(".selvedge/pgdata").exists());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn serve_on_the_database_of_the_running_project_is_no_second_owner_of_its_files() {
    let mut project = Project::new();
    let running = project.start().await;
    let keys = generate_keys(&project);
    let url = format!(
        "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
        project.ports.database
    );
    project.ports.api = Project::further_port();
    let arguments = [
        "serve",
        "--host",
        "127.0.0.1",
        "--port",
        &project.ports.api.to_string(),
    ]
    .map(str::to_owned);

    let serving = project.spawn(&arguments, &serve_variables(&keys, &url));
    serving.wait_until_ready().await;

    let note = std::fs::read_to_string(project.path(".selvedge/storage-owners"));
    assert_eq!(note.expect("a note"), "own\n", "{}", serving.output());
    serving.stop();
    running.stop();
}

/// The files of objects are in one folder for both databases that a project may have.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn objects_of_another_database_are_neither_swept_nor_reset_away() {
    let project = Project::new();
    let running = project.start().await;
    let note = project.path(".selvedge/storage-owners");
    assert_eq!(std::fs::read_to_string(&note).expect("a note"), "own\n");
    project.run_and_expect_success(&["sweep", "--older-than", "0s"]);
    let object = ".selvedge/storage/tenant/photos/cat.png/0b8a7d1e-0000-4000-8000-000000000001";
    project.write(object, "of staging");
    std::fs::write(&note, "own\n7123/5 staging.example.com:5432/app\n").expect("written");

    let refused = project.run_and_expect_failure(&["sweep", "--older-than", "0s"]);
    let noted = std::fs::read_to_string(&note).expect("a note");
    assert_eq!(
        noted, "own\n7123/5 staging.example.com:5432/app\n",
        "a refusal changes nothing"
    );
    running.stop();
    assert!(
        refused.contains("staging.example.com:5432/app") && refused.contains("--yes=cli"),
        "{refused}"
    );
    project.run_and_expect_success(&["reset", "--yes"]);
    project.run_and_expect_success(&["stop", "--no-backup"]);

    assert_eq!(
        std::fs::read_to_string(project.path(object)).expect("kept"),
        "of staging"
    );
    let noted = std::fs::read_to_string(note).expect("a note");
    assert_eq!(noted, "7123/5 staging.example.com:5432/app\n");
}

/// An earlier version has left no note of whose the files are.
#[test]
fn objects_that_may_be_of_the_database_that_a_file_names_are_not_deleted() {
    let project = Project::new();
    project.write(
        ".env",
        "DATABASE_URL=postgresql://postgres:secret@db.example.invalid:5432/app\n",
    );
    project.run_and_expect_success(&["migration", "up", "--local"]);
    let object = OBJECT;
    project.write(object, "of production");

    let deleted = project.run(&["stop", "--no-backup"]);

    let printed = String::from_utf8_lossy(&deleted.stderr);
    assert!(deleted.status.success(), "{printed}");
    assert!(printed.contains("db.example.invalid:5432/app"), "{printed}");
    let said = String::from_utf8_lossy(&deleted.stdout);
    assert!(said.contains("the database of cli; the objects in"), "{said}");
    assert!(project.path(object).exists());
    // What is not there is not said to be deleted.
    let nothing = Project::new().run_and_expect_success(&["stop", "--no-backup"]);
    assert!(nothing.contains("neither a database nor objects"), "{nothing}");
}

/// A folder had the objects of two databases, and one of them is gone for good. `--yes=PROJECT` says so: then `sweep` and `restore` work
/// again, also in a project that does not run.
#[test]
fn files_of_a_folder_that_two_databases_had_are_given_to_the_projects_own_one_by_its_name() {
    let project = Project::new();
    project.write(
        "config.toml",
        "project_id = \"cli\"\n[storage.buckets.files]\nobjects_path = \"./files\"\n",
    );
    project.write("files/one.txt", "one");
    project.run_and_expect_success(&["reset", "--yes"]);
    let backup = project.path("kept.tar").display().to_string();
    project.run_and_expect_success(&["backup", &backup]);
    let (note, both) = (
        ".selvedge/storage-owners",
        "own\n7123/5 staging.example.com:5432/app\n",
    );
    let object = OBJECT;
    let read_note = || std::fs::read_to_string(project.path(note)).expect("a note");
    project.write(object, "of staging");
    project.write(note, both);

    let sweep = ["sweep", "--older-than", "0s"];
    let refused = project.run_and_expect_failure(&sweep);
    assert!(
        refused.contains("staging.example.com:5432/app") && refused.contains("--yes=cli"),
        "{refused}"
    );
    for yes in ["--yes", "--yes=staging.example.com"] {
        let refused = project.run_and_expect_failure(&["restore", &backup, yes]);
        assert!(refused.contains("Nothing was changed"), "{refused}");
    }
    assert_eq!(read_note(), both);
    let swept = project.run_and_expect_success(&["sweep", "--older-than", "0s", "--yes=cli"]);

    assert!(swept.contains("moved 1 to the trash"), "{swept}");
    assert_eq!(read_note(), "own\n");
    project.write(object, "of staging");
    project.write(note, both);
    project.run_and_expect_success(&["restore", &backup, "--yes=cli"]);
    assert_eq!(read_note(), "own\n");
    assert!(!project.path(object).exists());
    let listed = project.run_and_expect_success(&["sweep", "--dry-run", "--older-than", "0s"]);
    assert!(listed.contains("found 0 without an object"), "{listed}");
    let nothing = Project::new().run_and_expect_failure(&sweep);
    assert!(nothing.contains("has no database"), "{nothing}");
}
