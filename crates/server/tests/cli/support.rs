//! A temporary project, free ports for it, and commands of the binary in it.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{Read as _, Seek as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

const TIMEOUT: Duration = Duration::from_secs(60);

/// A temporary project folder, removed with its data when dropped. Its processes end when their [`Running`] is dropped.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    /// Records of what the user of the test has made, so that none of them stays in the home folder.
    state_home: tempfile::TempDir,
    /// PostgreSQL's programs, where they are not those that all projects use.
    pg_bin: Option<OsString>,
    /// Whether the project itself says which programs these are, whatever the variables of the test are.
    names_programs: bool,
    pub(crate) ports: Ports,
}

/// Ports that were free when the project was made.
#[derive(Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) api: u16,
    pub(crate) database: u16,
    pub(crate) inbox: u16,
}

/// A `selvedge start` (or `serve`) in the background.
pub(crate) struct Running {
    child: Child,
    /// The process that gets signals.
    pid: u32,
    log: PathBuf,
    pub(crate) ports: Ports,
}

impl Ports {
    pub(crate) fn free() -> Self {
        let [api, database, inbox] = [(); 3].map(|()| find_free_port());
        Self { api, database, inbox }
    }
}

/// A port on which nothing listens. Each is handed out once, so that tests that run at the same time do not get the
/// same; all are below 32768, where no client's connection takes a port before the server does. Programs that run at the same time
/// begin at different ones.
fn find_free_port() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    // From 20000 to 25999; tests of Realtime have those above, and those of e2e the next.
    const FIRST: u16 = 20_000;
    const COUNT: u16 = 6_000;
    loop {
        let taken = TAKEN.fetch_add(1, Ordering::Relaxed);
        assert!(taken < COUNT, "no port is free");
        let begin = u16::try_from(std::process::id() % 600).expect("it is below 600") * 10;
        let port = FIRST + (begin + taken) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

impl Project {
    /// A port for a further listener of a test.
    pub(crate) fn further_port() -> u16 {
        find_free_port()
    }

    /// A project whose `config.toml` has only an id.
    pub(crate) fn new() -> Self {
        Self::with_prefix("selvedge-cli-")
    }

    /// A project from which another one imports. `tools/on-versions --source` gives it a PostgreSQL of another version.
    pub(crate) fn of_source() -> Self {
        Self {
            pg_bin: std::env::var_os("SELVEDGE_TEST_SOURCE_PG_BIN"),
            ..Self::new()
        }
    }

    /// A project that says itself which PostgreSQL runs.
    pub(crate) fn naming_programs() -> Self {
        Self {
            names_programs: true,
            ..Self::new()
        }
    }

    /// The same in a folder whose path is too long for a socket in it.
    pub(crate) fn with_long_path() -> Self {
        Self::with_prefix(&format!("selvedge-cli-{}", "x".repeat(90)))
    }

    fn with_prefix(prefix: &str) -> Self {
        let folder = tempfile::Builder::new()
            .prefix(prefix)
            // Run as root, the cluster belongs to another user. Where that one may not enter, the data would be put below
            // /var/lib/selvedge, where nothing removes it after the test.
            .permissions(Permissions::from_mode(0o755))
            .tempdir_in(selvedge_testing::temporary_folder())
            .expect("a temporary folder");
        let project = Self {
            folder,
            state_home: tempfile::tempdir().expect("a temporary folder"),
            pg_bin: None,
            names_programs: false,
            ports: Ports::free(),
        };
        project.write("config.toml", "project_id = \"cli\"\n");
        project
    }

    /// Where commands in this project keep their records.
    pub(crate) fn state_home(&self) -> &Path {
        self.state_home.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("inside the project")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    /// Copies a project's folder into this one.
    pub(crate) fn copy_from(&self, folder: &Path) {
        for entry in walkdir::WalkDir::new(folder) {
            let entry = entry.expect("readable");
            let name = entry.path().strip_prefix(folder).expect("inside the folder");
            let target = self.folder.path().join(name);
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(target).expect("a folder");
            } else {
                std::fs::copy(entry.path(), target).expect("a copy");
            }
        }
    }

    /// Runs a command and waits for its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary runs")
    }

    /// Runs a command that must succeed. Returns its standard output.
    pub(crate) fn run_and_expect_success(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} failed: {errors}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs a command that must fail. Returns its standard error.
    pub(crate) fn run_and_expect_failure(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments:?} should fail");
        String::from_utf8(output.stderr).expect("text")
    }

    /// A command of the binary in this project. `DATABASE_URL` of the machine's environment is removed.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
        command
            .arg("--project")
            .arg(self.folder.path())
            .args(arguments)
            .env_remove("DATABASE_URL")
            .env("SELVEDGE_STATE_HOME", self.state_home.path())
            .envs(self.pg_bin.iter().map(|folder| ("SELVEDGE_PG_BIN", folder)));
        if self.names_programs {
            command.env_remove("SELVEDGE_PG_BIN");
        }
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
            // Every test would try to bind its default port.
            "--no-studio",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    /// Runs `start` in the background and waits until it is ready.
    pub(crate) async fn start(&self) -> Running {
        let running = self.spawn(&self.start_arguments(), &[]);
        running.wait_until_ready().await;
        // The API answers somewhat earlier, and tests read what the start has printed.
        running.wait_for_output("is ready after").await;
        running
    }

    /// Runs a command in the background with its output in a file.
    pub(crate) fn spawn(&self, arguments: &[String], variables: &[(&str, &str)]) -> Running {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.spawn_command(self.command(&arguments), variables)
    }

    /// The same with a command that was made before.
    pub(crate) fn spawn_command(&self, mut command: Command, variables: &[(&str, &str)]) -> Running {
        let log = self.path("output.log");
        let file = File::create(&log).expect("a log file");
        let child = command
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(file.try_clone().expect("a second handle"))
            .stderr(file)
            .spawn()
            .expect("the binary starts");
        Running {
            pid: child.id(),
            child,
            log,
            ports: self.ports,
        }
    }

    /// A connection to the running project's database as `postgres`.
    pub(crate) async fn database(&self) -> tokio_postgres::Client {
        self.try_database().await.expect("a login")
    }

    /// Waits until a starting database accepts the login, and connects.
    pub(crate) async fn wait_for_database(&self) -> tokio_postgres::Client {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match self.try_database().await {
                Ok(client) => return client,
                Err(error) => assert!(Instant::now() < deadline, "no database: {error}"),
            }
            actix_web::rt::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn try_database(&self) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
        let url = format!(
            "postgresql://postgres:postgres@127.0.0.1:{}/postgres",
            self.ports.database
        );
        connect(&url).await
    }

    /// A connection to the running project's database as its superuser.
    pub(crate) async fn superuser(&self) -> tokio_postgres::Client {
        connect(&self.superuser_url()).await.expect("a login")
    }

    /// The superuser's URL of the running project.
    pub(crate) fn superuser_url(&self) -> String {
        let password =
            std::fs::read_to_string(self.path(".selvedge/superuser-password")).expect("a password");
        format!(
            "postgresql://supabase_admin:{}@127.0.0.1:{}/postgres",
            password.trim(),
            self.ports.database
        )
    }

    /// A session over the cluster's own socket, which is the only way to that of a command, as it opens no TCP port. `None` while
    /// nothing listens there.
    pub(crate) async fn try_socket(&self) -> Option<tokio_postgres::Client> {
        let written = std::fs::read_to_string(self.path(".selvedge/pgdata/postmaster.pid")).ok()?;
        // Line 4 is the port, which also names the socket, and line 5 its folder (PostgreSQL, storage/pidfile.h).
        let mut lines = written.lines().skip(3);
        let (port, folder) = (lines.next()?.trim().parse().ok()?, lines.next()?);
        let mut config = tokio_postgres::Config::new();
        config
            .host_path(folder)
            .port(port)
            .user("postgres")
            .password("postgres")
            .dbname("postgres");
        let (client, connection) = config.connect(tokio_postgres::NoTls).await.ok()?;
        actix_web::rt::spawn(connection);
        Some(client)
    }

    /// The process id of the running project's PostgreSQL server, which is the parent of every backend.
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

/// Gives folders to `nobody`, whom every machine knows; as another user than root they stay this user's. Returns whose they are.
pub(crate) fn give_away(folders: &[&Path]) -> u32 {
    let user = nix::unistd::geteuid();
    let owner = if user.is_root() { 65_534 } else { user.as_raw() };
    let entries = folders
        .iter()
        .flat_map(|folder| walkdir::WalkDir::new(folder).into_iter().flatten());
    for entry in entries {
        let group = user.is_root().then_some(owner);
        std::os::unix::fs::lchown(entry.path(), Some(owner), group).expect("given away");
    }
    owner
}

/// Opens a connection, polled in the background.
pub(crate) async fn connect(url: &str) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
    actix_web::rt::spawn(connection);
    Ok(client)
}

pub(crate) async fn wait_for_statement(database: &tokio_postgres::Client, part: &str) {
    let deadline = Instant::now() + TIMEOUT;
    let running =
        "select count(*) from pg_stat_activity where query like '%' || $1 || '%' and pid <> pg_backend_pid()";
    while database
        .query_one(running, &[&part])
        .await
        .expect("a count")
        .get::<_, i64>(0)
        == 0
    {
        assert!(Instant::now() < deadline, "{part} never ran");
        actix_web::rt::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Starts a command, and kills it with SIGKILL as soon as `condition` is true.
pub(crate) async fn kill_when(command: Command, condition: impl AsyncFn() -> bool) {
    let killed = try_to_kill_when(command, condition).await;
    killed.unwrap_or_else(|printed| panic!("it ended too early: {printed}"));
}

/// Like [`kill_when`], but returns an error if the command ends before `condition` was seen to be true: what the command printed.
pub(crate) async fn try_to_kill_when(
    mut command: Command,
    condition: impl AsyncFn() -> bool,
) -> Result<(), String> {
    let mut printed = tempfile::tempfile().expect("a file");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(printed.try_clone().expect("a second handle"))
        .stderr(printed.try_clone().expect("a second handle"))
        .spawn()
        .expect("the binary starts");
    let deadline = Instant::now() + TIMEOUT;
    while !condition().await {
        if child.try_wait().expect("a child").is_some() {
            let mut text = String::new();
            printed.rewind().expect("a file");
            printed.read_to_string(&mut text).expect("text");
            return Err(text);
        }
        assert!(Instant::now() < deadline, "the moment does not come");
        actix_web::rt::time::sleep(Duration::from_millis(1)).await;
    }
    child.kill().expect("killed");
    child.wait().expect("it has ended");
    Ok(())
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The same where the command was called by another program, such as `unshare`, which waits for it.
    pub(crate) fn of_child(mut self) -> Self {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        let children = std::fs::read_to_string(children).expect("Linux tells them");
        let first = children.split_whitespace().next().expect("it runs");
        self.pid = first.parse().expect("a number");
        self
    }

    /// Everything printed so far.
    pub(crate) fn output(&self) -> String {
        std::fs::read_to_string(&self.log).expect("a log file")
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.ports.api)
    }

    /// Waits for `/health/ready`.
    pub(crate) async fn wait_until_ready(&self) {
        let deadline = Instant::now() + TIMEOUT;
        while !reqwest::get(self.url("/health/ready"))
            .await
            .is_ok_and(|response| response.status() == 200)
        {
            assert!(Instant::now() < deadline, "not ready: {}", self.output());
            actix_web::rt::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the process has printed the text.
    pub(crate) async fn wait_for_output(&self, text: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while !self.output().contains(text) {
            assert!(Instant::now() < deadline, "no {text:?}: {}", self.output());
            actix_web::rt::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Status and JSON body of a GET.
    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let response = reqwest::get(self.url(path)).await.expect("a response");
        let status = response.status().as_u16();
        (status, response.json().await.unwrap_or(Value::Null))
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill")
            .args([signal, &self.pid().to_string()])
            .status()
            .expect("kill runs");
        assert!(status.success());
    }

    /// Waits until the process has ended.
    pub(crate) fn wait_for_exit(&mut self) -> ExitStatus {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(Instant::now() < deadline, "does not end: {}", self.output());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends the process with SIGTERM, which must succeed. Returns its output.
    pub(crate) fn stop(mut self) -> String {
        self.signal("-TERM");
        assert!(self.wait_for_exit().success(), "{}", self.output());
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
