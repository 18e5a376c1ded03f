//! A temporary project, the binary run in it, and free ports.

use std::fs::File;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(60);

/// A project folder that goes away with its data. Its processes end with [`Running`].
pub(crate) struct Project {
    folder: tempfile::TempDir,
    pub(crate) ports: Ports,
}

/// Ports that were free a moment ago.
#[derive(Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) api: u16,
    pub(crate) database: u16,
    pub(crate) inbox: u16,
}

/// A `selvedge start` (or `serve`) in the background.
pub(crate) struct Running {
    child: Child,
    log: PathBuf,
    pub(crate) ports: Ports,
}

impl Ports {
    pub(crate) fn free() -> Self {
        let listeners = [0; 3].map(|_| TcpListener::bind(("127.0.0.1", 0)).expect("a free port"));
        let [api, database, inbox] = listeners
            .each_ref()
            .map(|listener| listener.local_addr().expect("an address").port());
        Self { api, database, inbox }
    }
}

impl Project {
    /// An empty `config.toml`.
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("selvedge-cli-")
            .tempdir()
            .expect("a temporary folder");
        let project = Self {
            folder,
            ports: Ports::free(),
        };
        project.write("config.toml", "project_id = \"cli\"\n");
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("inside the project")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary runs")
    }

    /// Runs a command that has to succeed; its standard output.
    pub(crate) fn must(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} failed: {errors}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs a command that has to fail; what it says.
    pub(crate) fn must_fail(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments:?} should fail");
        String::from_utf8(output.stderr).expect("text")
    }

    /// The binary in this project, without anything that the machine's own environment would add.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
        command
            .arg("--project")
            .arg(self.folder.path())
            .args(arguments)
            .env_remove("DATABASE_URL");
        command
    }

    /// The arguments of `start` on this project's ports.
    pub(crate) fn start_arguments(&self) -> Vec<String> {
        let Ports { api, database, inbox } = self.ports;
        [
            "start",
            "--port",
            &api.to_string(),
            "--db-port",
            &database.to_string(),
            "--inbox-port",
            &inbox.to_string(),
        ]
        .map(str::to_owned)
        .to_vec()
    }

    /// Runs `start` in the background until it answers.
    pub(crate) async fn start(&self) -> Running {
        let running = self.spawn(&self.start_arguments(), &[]);
        running.answers().await;
        running
    }

    /// Runs something in the background, its output in a file.
    pub(crate) fn spawn(&self, arguments: &[String], variables: &[(&str, &str)]) -> Running {
        let log = self.path("output.log");
        let file = File::create(&log).expect("a log file");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let child = self
            .command(&arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(file.try_clone().expect("a second handle"))
            .stderr(file)
            .spawn()
            .expect("the binary starts");
        Running {
            child,
            log,
            ports: self.ports,
        }
    }

    /// A connection to the running project's database as `postgres`.
    pub(crate) async fn database(&self) -> tokio_postgres::Client {
        let url = format!(
            "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
            self.ports.database
        );
        let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
            .await
            .expect("a login");
        actix_web::rt::spawn(connection);
        client
    }

    /// The process id of the running project's PostgreSQL: the parent of every backend.
    #[cfg(target_os = "linux")]
    pub(crate) async fn postmaster_pid(&self) -> String {
        let row = self
            .database()
            .await
            .query_one("select pg_backend_pid()", &[])
            .await
            .expect("a row");
        let status = std::fs::read_to_string(format!("/proc/{}/status", row.get::<_, i32>(0)));
        let status = status.expect("the backend lives");
        let parent = status
            .lines()
            .find_map(|line| line.strip_prefix("PPid:"))
            .expect("every process has one");
        parent.trim().to_owned()
    }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything printed so far.
    pub(crate) fn output(&self) -> String {
        std::fs::read_to_string(&self.log).expect("a log file")
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.ports.api)
    }

    /// Waits for `/health/ready`.
    pub(crate) async fn answers(&self) {
        let deadline = Instant::now() + PATIENCE;
        while !reqwest::get(self.url("/health/ready"))
            .await
            .is_ok_and(|answer| answer.status() == 200)
        {
            assert!(Instant::now() < deadline, "no answer: {}", self.output());
            actix_web::rt::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Status and JSON body of a GET.
    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let answer = reqwest::get(self.url(path)).await.expect("an answer");
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or(Value::Null))
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill")
            .args([signal, &self.pid().to_string()])
            .status()
            .expect("kill runs");
        assert!(status.success());
    }

    /// Waits for the end of the process.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(Instant::now() < deadline, "does not end: {}", self.output());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// SIGTERM, and out.
    pub(crate) fn stop(mut self) -> String {
        self.signal("-TERM");
        assert!(self.ended().success(), "{}", self.output());
        self.output()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.signal("-TERM");
            let _ = self.child.wait();
        }
    }
}
