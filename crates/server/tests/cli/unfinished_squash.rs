//! A squash that was cut off on a project that does not run: only what applies or lists migrations waits for its end, and it ends on the
//! database that it was begun on alone.

use std::cell::RefCell;

use crate::support::{Project, kill_when};

const OLDER: &str = "migrations/20260101000000_notes.sql";
const JOURNAL: &str = "migrations/.unfinished-squash/journal";

/// A stopped project whose squash was killed after it had deleted the older file, before the history followed.
async fn cut_off() -> Project {
    let project = Project::new();
    project.write(OLDER, "create table public.notes (id int primary key);");
    project.write(
        "migrations/20260102000000_tags.sql",
        "create table public.tags (id int primary key);",
    );
    project.run_and_expect_success(&["migration", "up"]);
    let locked = RefCell::new(None);
    kill_when(project.command(&["migration", "squash"]), async || {
        // The history is read before the migrations are tried in a shadow database, and written at the end.
        if locked.borrow().is_none() && project.path(".selvedge/shadow").exists() {
            let database = project.try_socket().await.expect("the command's cluster");
            let lock = "begin; lock table supabase_migrations.schema_migrations in access exclusive mode";
            database.batch_execute(lock).await.expect("locked");
            *locked.borrow_mut() = Some(database);
        }
        locked.borrow().is_some() && !project.path(OLDER).exists()
    })
    .await;
    drop(locked);
    assert!(project.path(JOURNAL).exists());
    project
}

fn assert_finished(project: &Project) {
    assert!(!project.path(JOURNAL).exists() && !project.path(OLDER).exists());
    let listed = project.run_and_expect_success(&["migration", "list"]);
    assert!(
        listed.contains("20260102000000")
            && !listed.contains("20260101000000")
            && !listed.contains("pending"),
        "{listed}"
    );
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_032_a_squash_that_was_cut_off_on_a_stopped_project_is_finished_there_and_nowhere_else() {
    let project = cut_off().await;
    let journal = std::fs::read_to_string(project.path(JOURNAL)).expect("a journal");

    project.run_and_expect_success(&["db", "query", "select 1"]);
    for command in [&["migration", "list"][..], &["reset", "--yes"]] {
        let refused = project.run_and_expect_failure(command);
        assert!(
            refused.contains("finish it with:  selvedge migration squash"),
            "{refused}"
        );
    }

    // Begun on another database, as when a teammate's journal came with the folder.
    let of_others: Vec<&str> = journal
        .lines()
        .map(|line| match line.starts_with("database ") {
            true => "database 7123/5 staging.example.com:5432/app",
            false => line,
        })
        .collect();
    project.write(JOURNAL, &of_others.join("\n"));
    for command in [&["migration", "squash"], &["migration", "up"]] {
        let refused = project.run_and_expect_failure(command);
        assert!(refused.contains("staging.example.com:5432/app"), "{refused}");
    }

    // A history that is not that of the squash any more, as after a restore.
    project.write(JOURNAL, &journal);
    let rename = |from: &str, to: &str| {
        let table = "supabase_migrations.schema_migrations";
        let update = format!("update {table} set version = '{to}' where version = '{from}'");
        project.run_and_expect_success(&["db", "query", &update]);
    };
    rename("20260102000000", "1");
    let refused = project.run_and_expect_failure(&["migration", "squash"]);
    assert!(refused.contains("lacks 20260102000000"), "{refused}");
    rename("1", "20260102000000");

    // Somebody has written to the file that would be deleted.
    project.write(OLDER, "create table public.mine (id int);");
    let refused = project.run_and_expect_failure(&["migration", "squash"]);
    assert!(refused.contains("has changed since"), "{refused}");
    assert!(project.path(OLDER).exists());
    std::fs::remove_file(project.path(OLDER)).expect("removed");

    let refused = project.run_and_expect_failure(&["migration", "squash", "--version", "20260103000000"]);
    assert!(
        refused.contains("no migration of version 20260103000000") && project.path(JOURNAL).exists(),
        "{refused}"
    );
    // Nothing but what the squash has left to do follows from the same version, and from none.
    let finished = project.run_and_expect_success(&["migration", "squash", "--version", "20260102000000"]);
    assert!(
        finished.contains("finished") && !finished.contains("only migration"),
        "{finished}"
    );
    assert_finished(&project);
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_032_a_squash_that_was_cut_off_is_finished_by_the_next_start() {
    let project = cut_off().await;

    let running = project.start().await;

    assert_finished(&project);
    running.stop();
}
