//! `selvedge backup` and `selvedge restore`: consistency while the project works, and what a kill -9 leaves behind.

use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use actix_web::rt::{spawn, time::sleep};
use serde_json::Value;

use crate::support::{Project, Running};

const TIMEOUT: Duration = Duration::from_secs(60);
const CONFIG: &str = "project_id = \"cli\"\n[storage.buckets.files]\npublic = true\n";
const MIGRATION: &str = "create table notes (id bigint primary key, body text not null);";

/// Starts a project with a table of notes, a bucket and an object of 8 MB.
async fn start_project() -> (Project, Running) {
    let project = Project::new();
    project.write("config.toml", CONFIG);
    project.write("migrations/20260101000000_notes.sql", MIGRATION);
    project.write("seed.sql", "insert into notes values (1, 'seeded');");
    let running = project.start().await;
    let client = StorageClient::new(&project, &running);
    client.upload("large", vec![7; 8_000_000]).await;
    (project, running)
}

/// Uploads and deletes objects as service_role.
#[derive(Clone)]
struct StorageClient {
    http: reqwest::Client,
    bucket: String,
    key: String,
}

impl StorageClient {
    fn new(project: &Project, running: &Running) -> Self {
        let status = project.run_and_expect_success(&["status", "-o", "json"]);
        let keys: Value = serde_json::from_str(&status).expect("JSON");
        Self {
            http: reqwest::Client::new(),
            bucket: running.url("/storage/v1/object/files"),
            key: keys["SERVICE_ROLE_KEY"].as_str().expect("a key").to_owned(),
        }
    }

    async fn upload(&self, name: &str, bytes: Vec<u8>) {
        let request = self.http.post(format!("{}/{name}", self.bucket)).body(bytes);
        self.send(request).await;
    }

    async fn delete(&self, name: &str) {
        self.send(self.http.delete(format!("{}/{name}", self.bucket)))
            .await;
    }

    async fn send(&self, request: reqwest::RequestBuilder) {
        let response = request.bearer_auth(&self.key).send().await.expect("a response");
        let status = response.status();
        assert!(status.is_success(), "{status}: {:?}", response.text().await);
    }
}

async fn count(project: &Project, table: &str) -> i64 {
    let query = format!("select count(*) from {table}");
    let row = project.database().await.query_one(&query, &[]).await;
    row.expect("a row").get(0)
}

/// Starts a command, and kills it as soon as the file `exists` exists.
fn kill_when_there(project: &Project, arguments: &[&str], exists: &Path) {
    let mut command = project.command(arguments);
    let mut child: Child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let deadline = Instant::now() + TIMEOUT;
    while !exists.metadata().is_ok_and(|meta| meta.len() > 0) {
        assert!(child.try_wait().expect("a child").is_none(), "it ended too early");
        assert!(Instant::now() < deadline, "{} is not made", exists.display());
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("killed");
    child.wait().expect("it has ended");
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_backup_of_a_project_at_work_holds_the_bytes_of_every_object_of_its_database() {
    let (project, running) = start_project().await;
    let client = StorageClient::new(&project, &running);
    let stop = Arc::new(AtomicBool::new(false));
    let load = spawn({
        let (client, stop) = (client.clone(), stop.clone());
        async move {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                number += 1;
                client
                    .upload(&format!("small-{number}"), number.to_string().into_bytes())
                    .await;
                // Every third object is deleted soon, so that some are while the backup copies.
                if number > 10 && number % 3 == 0 {
                    client.delete(&format!("small-{}", number - 9)).await;
                }
            }
        }
    });
    while count(&project, "storage.objects").await < 12 {
        sleep(Duration::from_millis(20)).await;
    }

    let mut backup = project.command(&["backup", "saved.tar"]);
    let (folder, before) = (project.path(""), count(&project, "storage.objects").await);
    let output = actix_web::web::block(move || backup.current_dir(folder).output())
        .await
        .expect("not cancelled")
        .expect("the binary runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    stop.store(true, Ordering::Relaxed);
    load.await.expect("no request failed during the backup");
    let saved = project.path("saved.tar").display().to_string();
    let refusal = project.run_and_expect_failure(&["backup", &saved]);
    assert!(refusal.contains("exists"), "{refusal}");
    assert!(!project.path("saved.tar.partial").exists());
    running.stop();

    let other = Project::new();
    other.write("config.toml", CONFIG);
    other.write("migrations/20260101000000_notes.sql", MIGRATION);
    other.write("seed.sql", "insert into notes values (2, 'of another machine');");
    let printed = other.run(&["restore", &saved]);
    let notes = String::from_utf8_lossy(&printed.stderr);
    assert!(printed.status.success(), "{notes}");
    assert!(notes.contains("vault.key"), "{notes}");
    let restored = other.start().await;
    assert_eq!(count(&other, "notes").await, 1, "seeds do not run again");
    assert!(count(&other, "storage.objects").await >= before / 2);
    let rows = other
        .database()
        .await
        .query("select name from storage.objects", &[])
        .await
        .expect("rows");
    for row in rows {
        let name: String = row.get(0);
        let url = restored.url(&format!("/storage/v1/object/public/files/{name}"));
        let response = reqwest::get(url).await.expect("a response");
        assert_eq!(response.status(), 200, "{name}");
        let bytes = response.bytes().await.expect("bytes");
        let expected = match name.strip_prefix("small-") {
            Some(number) => number.as_bytes().to_vec(),
            None => vec![7; 8_000_000],
        };
        assert_eq!(bytes, expected, "{name}");
    }
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_killed_backup_or_restore_leaves_all_as_it_was_and_can_be_repeated() {
    let (project, running) = start_project().await;
    running.stop();
    let saved = project.path("saved.tar");
    let name = saved.display().to_string();
    let partial = project.path("saved.tar.partial");

    kill_when_there(&project, &["backup", &name], &partial);
    assert!(partial.exists() && !saved.exists());
    let repeated = project.run(&["backup", &name]);
    let notes = String::from_utf8_lossy(&repeated.stderr);
    assert!(repeated.status.success(), "{notes}");
    assert!(notes.contains("was cut off"), "{notes}");
    assert!(saved.exists() && !partial.exists());

    let running = project.start().await;
    let client = StorageClient::new(&project, &running);
    client.delete("large").await;
    let database = project.database().await;
    let changed = database.execute("insert into notes values (3, 'after the backup')", &[]);
    changed.await.expect("inserted");
    let refused = project.run_and_expect_failure(&["restore", &name, "--yes"]);
    assert!(refused.contains("selvedge stop"), "{refused}");
    running.stop();
    let refused = project.run_and_expect_failure(&["restore", &name]);
    assert!(refused.contains("--yes"), "{refused}");
    refuse_damaged_files(&project, &saved);

    let version = project.path(".selvedge/restoring/pgdata/PG_VERSION");
    kill_when_there(&project, &["restore", &name, "--yes"], &version);
    let running = project.start().await;
    assert_eq!(count(&project, "notes").await, 2, "the old database is untouched");
    assert!(!project.path(".selvedge/restoring").exists());
    running.stop();

    kill_when_there(&project, &["restore", &name, "--yes"], &version);
    project.run_and_expect_success(&["restore", &name, "--yes"]);
    for leftover in [
        "restoring",
        "storage.restored",
        "replacement.json",
        "pgdata.replaced",
    ] {
        assert!(!project.path(".selvedge").join(leftover).exists(), "{leftover}");
    }
    let running = project.start().await;
    assert_eq!(count(&project, "notes").await, 1);
    let url = running.url("/storage/v1/object/public/files/large");
    let object = reqwest::get(url).await.expect("a response");
    assert_eq!(
        object.bytes().await.expect("bytes"),
        vec![7; 8_000_000],
        "the deleted object is there again"
    );
}

/// Checks that a changed byte and a missing end are found before anything is written.
fn refuse_damaged_files(project: &Project, saved: &Path) {
    let bytes = std::fs::read(saved).expect("readable");
    let damaged = project.path("damaged.tar");
    let middle = bytes.len() / 2;
    let mut changed = bytes.clone();
    changed[middle] ^= 0xff;
    for (content, reason) in [(changed, "damaged"), (bytes[..middle].to_vec(), "cut off")] {
        std::fs::write(&damaged, content).expect("written");
        let name = damaged.display().to_string();
        let message = project.run_and_expect_failure(&["restore", &name, "--yes"]);
        assert!(message.contains(reason), "{message}");
    }
    assert!(!project.path(".selvedge/replacement.json").exists());
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn a_backup_that_no_start_would_accept_replaces_nothing() {
    let project = Project::new();
    project.write("migrations/20260101000000_notes.sql", MIGRATION);
    let running = project.start().await;
    let superuser = project.superuser().await;
    let mut saved = Vec::new();
    for (number, (made, removed)) in [
        (
            "insert into _selvedge.platform_migrations (version, name, sha256) values (9999, '9999_later.sql', 'x')",
            "delete from _selvedge.platform_migrations where version = 9999",
        ),
        (
            "create table _selvedge.unfinished_import (source text not null);
             insert into _selvedge.unfinished_import values ('1/2')",
            "drop table _selvedge.unfinished_import",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let name = project.path(&format!("saved-{number}.tar")).display().to_string();
        superuser.batch_execute(made).await.expect("made");
        project.run_and_expect_success(&["backup", &name]);
        superuser.batch_execute(removed).await.expect("removed");
        saved.push(name);
    }
    let kept = "insert into public.notes values (1, 'of today')";
    superuser.batch_execute(kept).await.expect("inserted");
    drop(superuser);
    running.stop();

    for (name, reason) in saved.iter().zip(["newer version", "before an import"]) {
        let refused = project.run_and_expect_failure(&["restore", name, "--yes"]);
        assert!(
            refused.contains(reason) && refused.contains("Nothing was changed"),
            "{refused}"
        );
    }

    let _running = project.start().await;
    assert_eq!(count(&project, "notes").await, 1);
}

#[test]
fn a_backup_of_another_server_or_of_a_project_without_a_database_is_refused_with_advice() {
    let project = Project::new();

    let new = project.run_and_expect_failure(&["backup", "x.tar"]);
    let output = project
        .command(&["backup", "x.tar"])
        .env(
            "DATABASE_URL",
            "postgresql://postgres:postgres@127.0.0.1:1/postgres",
        )
        .output()
        .expect("the binary runs");
    let external = String::from_utf8_lossy(&output.stderr);

    assert!(new.contains("selvedge start"), "{new}");
    assert!(external.contains("pg_dump"), "{external}");
    assert!(!output.status.success());
}

#[test]
fn a_wal_on_another_disk_is_in_the_backup_and_other_links_are_refused() {
    let project = Project::new();
    project.write("migrations/20260101000000_notes.sql", MIGRATION);
    project.run_and_expect_success(&["reset", "--yes"]);
    let (wal, elsewhere) = (project.path(".selvedge/pgdata/pg_wal"), project.path("disk"));
    std::fs::rename(&wal, &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, &wal).expect("linked");
    let saved = project.path("saved.tar").display().to_string();
    project.run_and_expect_success(&["backup", &saved]);
    let other = Project::new();
    other.write("migrations/20260101000000_notes.sql", MIGRATION);
    other.run_and_expect_success(&["restore", &saved]);
    other.run_and_expect_success(&["db", "query", "select * from notes"]);

    let (base, far) = (project.path(".selvedge/pgdata/base/1"), project.path("far"));
    std::fs::rename(&base, &far).expect("moved");
    std::os::unix::fs::symlink(&far, &base).expect("linked");
    let again = project.path("again.tar");
    let refused = project.run_and_expect_failure(&["backup", &again.display().to_string()]);
    assert!(refused.contains("base/1 is a link"), "{refused}");
    assert!(!again.exists());
}

/// A reset that was killed while it committed has left the number of its transaction. Beside a server that goes on, a backup finds out what has
/// become of it.
#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn gw_025_a_backup_beside_a_server_finds_out_whether_a_reset_that_was_cut_off_was_committed() {
    let project = Project::new();
    let running = project.start().await;
    let superuser = project.superuser().await;
    let number = "select pg_current_xact_id()::text";
    let mark = project.path(".selvedge/initialized");
    superuser.batch_execute("begin").await.expect("begun");
    let aborted: String = superuser.query_one(number, &[]).await.expect("a number").get(0);
    superuser.batch_execute("rollback").await.expect("undone");
    let committed: String = superuser.query_one(number, &[]).await.expect("a number").get(0);
    let backup = |name: &str| project.run(&["backup", &project.path(name).display().to_string()]);

    std::fs::write(&mark, aborted).expect("written");
    let undone = backup("undone.tar");
    let is_complete = std::fs::read(&mark).is_ok_and(|text| text.is_empty());
    std::fs::write(&mark, committed).expect("written");
    let emptied = backup("emptied.tar");
    running.stop();

    let printed = String::from_utf8_lossy(&undone.stderr);
    assert!(undone.status.success() && is_complete, "{printed}");
    let printed = String::from_utf8_lossy(&emptied.stderr);
    assert!(
        !emptied.status.success() && printed.contains("no complete database yet"),
        "{printed}"
    );
    assert!(!project.path("emptied.tar").exists() && !mark.exists());
}
