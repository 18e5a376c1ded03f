//! Changes of the schema by the console of `start`, while the server is killed at each step of them (CONSOLE-071).

use std::path::PathBuf;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::console_project::{ConsoleProject, kill};
use crate::support::wait_for_statement;

const TIMEOUT: Duration = Duration::from_secs(60);

impl ConsoleProject {
    /// Sends a change in a separate task, because most tests kill the server before it responds.
    fn send(&self, name: &str, sql: &str) -> actix_web::rt::task::JoinHandle<Option<(u16, Value)>> {
        let body = json!({ "name": name, "sql": sql });
        let request = self.request(Method::POST, "/api/migrations").json(&body);
        actix_web::rt::spawn(async move {
            let response = request.send().await.ok()?;
            let status = response.status().as_u16();
            Some((status, response.json().await.ok()?))
        })
    }

    /// Files of the migrations folder, hidden ones too.
    fn list_files(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder()) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().display().to_string())
            .collect();
        names.sort_unstable();
        names
    }

    fn folder(&self) -> PathBuf {
        self.project.path("migrations")
    }

    /// Waits until a file with this ending is in the folder.
    async fn wait_for_file(&self, ending: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while !self.list_files().iter().any(|name| name.ends_with(ending)) {
            assert!(
                Instant::now() < deadline,
                "{ending} never came: {:?}",
                self.list_files()
            );
            actix_web::rt::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The files of the migrations that the database has recorded.
async fn read_history(database: &Client) -> Vec<String> {
    let names =
        "select version || '_' || name || '.sql' from supabase_migrations.schema_migrations order by 1";
    let rows = database.query(names, &[]).await.expect("a history");
    rows.iter().map(|row| row.get(0)).collect()
}

async fn has_table(database: &Client, name: &str) -> bool {
    let row = database
        .query_one("select to_regclass($1) is not null", &[&name])
        .await;
    row.expect("a row").get(0)
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn console_071_file_history_and_schema_agree_after_a_kill_at_each_step() {
    let console = ConsoleProject::new();
    let mut running = console.start().await;

    // Killed after the answer: the change stays.
    let answer = console
        .send("first", "create table first ()")
        .await
        .expect("a task");
    let (status, body) = answer.expect("an answer");
    assert_eq!(status, 200, "{body}");
    kill(running);
    running = console.start().await;
    let mut database = console.project.database().await;
    let files = console.list_files();
    assert_eq!(body["file"], format!("migrations/{}", files[0]));
    assert_eq!(read_history(&database).await, files);
    assert!(has_table(&database, "first").await);

    // Killed while the statements run: neither the file nor the change exists, and the hidden draft is removed by the next
    // change.
    console.send("second", "create table second (); select pg_sleep(60)");
    wait_for_statement(&database, "pg_sleep(60)").await;
    console.wait_for_file(".sql.draft").await;
    kill(running);
    running = console.start().await;
    database = console.project.database().await;
    assert_eq!(read_history(&database).await, files);
    assert!(!has_table(&database, "second").await);

    // Killed between the file and the commit, which waits for a lock: the next start applies the file.
    let lock = "select pg_advisory_lock(71)";
    database.execute(lock, &[]).await.expect("a lock");
    console.send("third", HELD_COMMIT);
    console.wait_for_file("_third.sql").await;
    assert_eq!(read_history(&database).await, files, "it is not committed yet");
    kill(running);
    running = console.start().await;
    database = console.project.database().await;
    let files = console.list_files();
    assert_eq!(files.len(), 2, "{files:?}");
    assert_eq!(read_history(&database).await, files);
    assert!(has_table(&database, "held").await);

    // A reset makes the same schema from the files.
    running.stop();
    console.project.run_and_expect_success(&["db", "reset", "--yes"]);
    let running = console.start().await;
    let database = console.project.database().await;
    assert_eq!(read_history(&database).await, files);
    assert!(has_table(&database, "first").await && has_table(&database, "held").await);
    running.stop();
}

/// A migration whose commit waits for an advisory lock. The first firing of the trigger happens when the server checks deferred
/// constraints before it writes the file; there the trigger defers a second firing to the commit.
const HELD_COMMIT: &str = "
create table held (at timestamptz);
create function hold_commit() returns trigger language plpgsql as $$
begin
  if (select count(*) from held) = 1 then
    set constraints all deferred;
    insert into held values (clock_timestamp());
  else
    perform pg_advisory_xact_lock(71);
  end if;
  return null;
end
$$;
create constraint trigger held_commit after insert on held deferrable initially deferred
  for each row execute function hold_commit();
insert into held values (clock_timestamp());
";
