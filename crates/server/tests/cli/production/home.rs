//! A project that is served from a home of its own, for the tests of `serve` with its own database.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_postgres::{Client, Config, NoTls};

use crate::support::{Project, Running};

pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// A project that is served from a home of its own. Its PostgreSQL ends with this value.
pub(super) struct Home {
    pub(super) project: Project,
}

impl Home {
    pub(super) fn new() -> Self {
        Self::with_settings("")
    }

    /// `settings` follow the project's id in config.toml.
    pub(super) fn with_settings(settings: &str) -> Self {
        let project = Project::new();
        project.write("config.toml", &format!("project_id = \"shop\"\n{settings}"));
        Self { project }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.project.path("home").join(name)
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(&[]);
        command
            .arg("--data-dir")
            .arg(self.project.path("home"))
            .args(arguments);
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary runs")
    }

    pub(super) fn run_and_expect_success(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} failed: {errors}");
        String::from_utf8(output.stdout).expect("text")
    }

    pub(super) fn run_and_expect_failure(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments:?} should fail");
        String::from_utf8(output.stderr).expect("text")
    }

    /// Starts a server and waits until it is ready.
    pub(super) async fn serve(&self, more: &[&str]) -> Running {
        let port = self.project.ports.api.to_string();
        let mut arguments = vec!["serve", "--host", "127.0.0.1", "--port", &port];
        arguments.extend(more);
        let running = self.project.spawn_command(self.command(&arguments), &[]);
        running.wait_until_ready().await;
        running.wait_for_output("\"serving\"").await;
        running
    }

    /// Values that `status` prints, by name.
    pub(super) fn status(&self) -> Value {
        let printed = self.run_and_expect_success(&["status", "-o", "json"]);
        serde_json::from_str(&printed).expect("JSON")
    }

    pub(super) fn secret_key(&self) -> String {
        let keys = self.run_and_expect_success(&["keys", "-o", "json"]);
        let keys: Value = serde_json::from_str(&keys).expect("JSON");
        keys["SECRET_KEY"].as_str().expect("a key").to_owned()
    }

    /// One value, asked by `db query`.
    pub(super) fn value(&self, sql: &str) -> String {
        let printed = self.run_and_expect_success(&["db", "query", "-o", "json", sql]);
        let rows: Value = serde_json::from_str(&printed).expect("JSON");
        let row = rows[0].as_object().expect("a row");
        let value = row.values().next().expect("a column");
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// Line of `postmaster.pid`: 1 is the process.
    pub(super) fn postmaster(&self) -> Option<i32> {
        let text = std::fs::read_to_string(self.path("pgdata/postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok()
    }

    /// A session of the superuser, by PostgreSQL's socket.
    pub(super) async fn superuser(&self) -> Client {
        let text = std::fs::read_to_string(self.path("pgdata/postmaster.pid")).expect("it runs");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let password = std::fs::read_to_string(self.path("superuser-password")).expect("a file");
        let mut config = Config::new();
        config
            .host_path(lines[4])
            .port(lines[3].parse().expect("a port"))
            .user("supabase_admin")
            .password(password.trim())
            .dbname("postgres");
        let (client, connection) = config.connect(NoTls).await.expect("a session");
        actix_web::rt::spawn(connection);
        client
    }

    /// The process that keeps PostgreSQL running.
    pub(super) fn keeper(&self) -> Option<i32> {
        self.holder_of("lock")
    }

    /// The process that serves.
    pub(super) fn server(&self) -> Option<i32> {
        self.holder_of("server.lock")
    }

    fn holder_of(&self, lock: &str) -> Option<i32> {
        let text = std::fs::read_to_string(self.path(lock)).ok()?;
        let lock: Value = serde_json::from_str(text.trim_end_matches([' ', '\0'])).ok()?;
        i32::try_from(lock["pid"].as_i64()?).ok()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.run(&["stop", "--database"]);
    }
}

/// Inserts a row by REST, as soon as the server knows a table that was just made.
pub(super) async fn insert(running: &Running, key: &str, number: i32) {
    let deadline = Instant::now() + TIMEOUT;
    while try_insert(running, key, number).await.is_none() {
        assert!(
            Instant::now() < deadline,
            "not acknowledged: {}",
            running.output()
        );
        actix_web::rt::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Inserts a row by REST; `None` where the server did not acknowledge it.
pub(super) async fn try_insert(running: &Running, key: &str, number: i32) -> Option<()> {
    let response = reqwest::Client::new()
        .post(running.url("/rest/v1/notes"))
        .header("apikey", key)
        .json(&json!({ "id": number }))
        .timeout(Duration::from_secs(5))
        .send()
        .await
        .ok()?;
    (response.status() == 201).then_some(())
}

pub(super) const TABLE: &str = "create table notes (id int primary key);";
