//! A copy of a project that runs, as a backup of its folder or a second container has it: what is in it describes the original.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::support::Project;

/// Waits until the second is over in which PostgreSQL has marked its data: times of inodes are compared in seconds.
async fn wait_for_next_second(project: &Project) {
    let mark = project.path(".selvedge/pgdata/postmaster.pid");
    let marked = mark.metadata().expect("it runs").ctime();
    let now = || {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .expect("after 1970")
    };
    while now().as_secs() <= u64::try_from(marked).expect("after 1970") {
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Two commands at once in the copy: the first has its lock, and has not described itself yet, which takes seconds in a container. What the file
/// says until then leads to the PostgreSQL of the original.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_031_commands_that_meet_in_a_copy_of_a_running_project_work_on_nothing_of_the_original() {
    let (original, copy) = (Project::new(), Project::new());
    original.write(
        "migrations/20260101000000_notes.sql",
        "create table notes (id int); insert into notes values (1);",
    );
    let _running = original.start().await;
    wait_for_next_second(&original).await;
    let copied = Command::new("cp")
        .arg("-a")
        .arg(original.path("."))
        .arg(copy.path("."))
        .stderr(Stdio::null())
        .status();
    // Files that PostgreSQL removes meanwhile are not copied.
    copied.expect("cp runs");
    copy.run_and_expect_success(&["trust"]);
    let path = copy.path(".selvedge/lock");
    let lock = File::options()
        .read(true)
        .write(true)
        .open(&path)
        .expect("copied");
    lock.lock().expect("free");
    let drop_table = ["db", "query", "drop table notes"];

    let busy = [&drop_table[..], &["db", "reset", "--yes"], &["migration", "up"]]
        .map(|command| copy.run_and_expect_failure(command));
    let stop = copy.run_and_expect_failure(&["stop"]);
    // As an older version has written it, in a container in which the copy has the original's path.
    let text = std::fs::read_to_string(&path).expect("readable");
    let mut holder: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    holder["lock_inode"] = serde_json::json!(0);
    holder["state_dir"] = serde_json::json!(copy.path(".selvedge"));
    std::fs::write(&path, holder.to_string()).expect("written");
    let of_older = copy.run_and_expect_failure(&drop_table);

    for refused in busy {
        assert!(refused.contains("another command has just begun"), "{refused}");
    }
    assert!(of_older.contains("it is another process"), "{of_older}");
    let notes = original
        .database()
        .await
        .query_one("select count(*) from notes", &[])
        .await;
    assert_eq!(notes.expect("the table is there").get::<_, i64>(0), 1, "{stop}");
}
