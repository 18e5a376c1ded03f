//! A real PostgreSQL for tests, behind the cargo feature `testing`.
//!
//! [`TestDatabase::create`] gives a test a database of its own with the platform schema, in some tens of milliseconds.
//! One cluster per test process serves them; it is a copy of a prepared data directory that lies in cargo's target
//! folder, so that `initdb` and the platform schema run once per change of either and not once per test binary. The
//! cluster lives in a temporary folder and ends with the process, however that ends: a small shell waits for the end of
//! a pipe that only this process holds, then stops PostgreSQL and deletes the folder.
//!
//! Durability is off here and nowhere else.

use std::{
    collections::BTreeMap,
    fs::File,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use nix::fcntl::{Flock, FlockArg};
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::{Client, Config, NoTls};

use crate::{
    cluster::{Cluster, ClusterConfig, Owner, ProjectLock, SUPERUSER},
    migrate::{RolePasswords, apply_platform, platform_digest, set_role_passwords},
};

/// The password of every role, the superuser's included.
pub const PASSWORD: &str = "postgres";

/// The database that tests are cloned from.
const TEMPLATE: &str = "platform";

/// Only a part of the socket's name: nothing listens on TCP.
const PORT: u16 = 5432;

/// Raised when the prepared data directory must be made anew although neither binaries nor platform schema changed.
const EDITION: u32 = 1;

/// A database of the test's own, dropped with this value.
#[derive(Debug)]
pub struct TestDatabase {
    name: String,
}

impl TestDatabase {
    /// Creates a database with the platform schema.
    ///
    /// # Panics
    /// When no PostgreSQL can be had: a test without it proves nothing.
    pub async fn create() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);

        let name = format!("test_{}", COUNTER.fetch_add(1, Ordering::Relaxed));
        let cluster = tokio::task::spawn_blocking(TestCluster::shared)
            .await
            .expect("the cluster starts");
        cluster
            .run(format!(
                "create database {name} template {TEMPLATE} owner postgres"
            ))
            .await;
        Self { name }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How to connect to it as `role`: `postgres`, `authenticator`, `supabase_auth_admin`, `supabase_storage_admin`,
    /// or `supabase_admin` for the superuser.
    #[must_use]
    pub fn config(&self, role: &str) -> Config {
        TestCluster::shared().config(role, &self.name)
    }

    /// The same as a connection string.
    #[must_use]
    pub fn url(&self, role: &str) -> String {
        let folder = TestCluster::shared()
            .socket_dir
            .display()
            .to_string()
            .replace('/', "%2F");
        format!("postgresql://{role}:{PASSWORD}@{folder}:{PORT}/{}", self.name)
    }

    /// Connects as `role`. The connection is driven by a task of the current runtime.
    ///
    /// # Panics
    /// When the role cannot connect.
    pub async fn connect(&self, role: &str) -> Client {
        connect(&self.config(role)).await
    }

    /// Connects as the superuser.
    pub async fn superuser(&self) -> Client {
        self.connect(SUPERUSER).await
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        TestCluster::shared().forget(format!("drop database if exists {} with (force)", self.name));
    }
}

async fn connect(config: &Config) -> Client {
    let (client, connection) = config
        .connect(NoTls)
        .await
        .expect("the test cluster accepts connections");
    tokio::spawn(async move {
        // It ends with an error when its database is dropped under it, which is how tests end.
        connection.await.ok();
    });
    client
}

/// The cluster of this process.
struct TestCluster {
    socket_dir: PathBuf,
    jobs: mpsc::UnboundedSender<Job>,
    /// Closed by the kernel when this process ends: the signal for the shell to clean up.
    _life: ChildStdin,
    /// Ends after this process.
    _shell: Child,
}

/// A statement for the thread that administrates, and whom to tell.
struct Job {
    sql: String,
    done: Option<oneshot::Sender<()>>,
}

impl TestCluster {
    fn shared() -> &'static Self {
        static SHARED: OnceLock<TestCluster> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    fn start() -> Self {
        let config = cluster_config(Path::new("/nowhere"));
        let binaries =
            crate::cluster::Binaries::discover(config.pg_bin.as_deref(), &npm_roots()).expect("PostgreSQL");
        let owner = Owner::for_this_process().expect("a user for PostgreSQL");
        let prepared = Prepared::ensure(&binaries);

        let home = tempfile::Builder::new()
            .prefix("selvedge-test-")
            .tempdir()
            .expect("a temporary folder")
            .keep();
        let data_dir = home.join("pgdata");
        copy_data(&prepared.data_dir, &data_dir, &owner);
        owner.give(&home).expect("ours to give");
        let binaries = binaries
            .made_usable(&owner, &prepared.folder)
            .expect("usable binaries");

        let log = File::create(data_dir.join("test.log")).expect("a log");
        // Everything as the cluster's user: it owns the folder and may delete it.
        let mut shell = owner.command(Path::new("/bin/sh"));
        shell
            .arg("-c")
            .arg(r#""$@" & server=$!; cat >/dev/null; kill -QUIT $server; wait $server; rm -rf "$0""#)
            .arg(&home)
            .arg(binaries.folder().join("postgres"))
            .arg("-D")
            .arg(&data_dir)
            .args(["-p", &PORT.to_string(), "-k"])
            .arg(&home)
            .args(["-c", "listen_addresses=", "-c", "logging_collector=off"])
            .stdin(Stdio::piped())
            .stdout(log.try_clone().expect("a log"))
            .stderr(log)
            .process_group(0);
        let mut child = shell.spawn().expect("a shell");
        let life = child.stdin.take().expect("it is piped");
        wait_until_ready(&data_dir);

        let (jobs, queue) = mpsc::unbounded_channel();
        let cluster = Self {
            socket_dir: home,
            jobs,
            _life: life,
            _shell: child,
        };
        let config = cluster.config(SUPERUSER, "postgres");
        std::thread::spawn(move || administrate(&config, queue));
        cluster
    }

    fn config(&self, role: &str, database: &str) -> Config {
        let mut config = Config::new();
        config
            .host_path(&self.socket_dir)
            .port(PORT)
            .user(role)
            .password(PASSWORD)
            .dbname(database);
        config
    }

    async fn run(&self, sql: String) {
        let (done, finished) = oneshot::channel();
        self.jobs
            .send(Job {
                sql,
                done: Some(done),
            })
            .expect("the administrator lives as long as the process");
        finished.await.expect("the statement works");
    }

    fn forget(&self, sql: String) {
        // A test that ends while the process ends has nobody left to drop its database, nor a need to.
        self.jobs.send(Job { sql, done: None }).ok();
    }
}

/// Creates and drops databases on one connection of its own, because each test has a runtime of its own.
fn administrate(config: &Config, mut queue: mpsc::UnboundedReceiver<Job>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async move {
        let client = connect(config).await;
        while let Some(job) = queue.recv().await {
            client
                .batch_execute(&job.sql)
                .await
                .expect("the administrator's statements work");
            if let Some(done) = job.done {
                done.send(()).ok();
            }
        }
    });
}

fn wait_until_ready(data_dir: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let pid_file = data_dir.join("postmaster.pid");
    while !std::fs::read_to_string(&pid_file)
        .is_ok_and(|text| text.lines().nth(7).is_some_and(|l| l.trim() == "ready"))
    {
        let log = std::fs::read_to_string(data_dir.join("test.log")).unwrap_or_default();
        assert!(
            Instant::now() < deadline && !log.contains("FATAL"),
            "PostgreSQL did not start:\n{log}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A data directory with the template database, made once.
struct Prepared {
    folder: PathBuf,
    data_dir: PathBuf,
}

impl Prepared {
    fn ensure(binaries: &crate::cluster::Binaries) -> Self {
        let mut key = Sha256::new();
        key.update(format!(
            "{EDITION} {} {}",
            binaries.folder().display(),
            binaries.major_version()
        ));
        key.update(platform_digest());
        let folder = cache_folder();
        std::fs::create_dir_all(&folder).expect("the target folder is ours");
        let data_dir = folder.join(&hex::encode(key.finalize())[..16]);

        // Test binaries may run side by side; one of them prepares.
        let lock = File::create(folder.join("lock")).expect("the target folder is ours");
        let _lock = Flock::lock(lock, FlockArg::LockExclusive).expect("a lock");
        if !data_dir.is_dir() {
            prepare(&data_dir);
        }
        Self { folder, data_dir }
    }
}

/// `target/debug/selvedge-test`, from `target/debug/deps/<test binary>`.
fn cache_folder() -> PathBuf {
    let exe = std::env::current_exe().expect("a program knows its file");
    let folder = exe
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "deps"));
    let base = folder
        .and_then(Path::parent)
        .map_or_else(std::env::temp_dir, Path::to_owned);
    base.join("selvedge-test")
}

/// `SELVEDGE_TEST_PG_BIN` chooses another PostgreSQL, as CI does for each version.
fn cluster_config(state_dir: &Path) -> ClusterConfig {
    let mut config = ClusterConfig::for_project(state_dir);
    config.state_dir = state_dir.to_owned();
    config.pg_bin = std::env::var_os("SELVEDGE_TEST_PG_BIN").map(PathBuf::from);
    config.listen_tcp = false;
    config.port = PORT;
    config.settings = [
        ("fsync", "off"),
        ("synchronous_commit", "off"),
        ("full_page_writes", "off"),
        ("max_connections", "200"),
        ("max_replication_slots", "20"),
        ("shared_buffers", "64MB"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into_iter()
    .collect::<BTreeMap<_, _>>();
    config
}

fn npm_roots() -> Vec<PathBuf> {
    let exe = std::env::current_exe()
        .ok()
        .and_then(|exe| exe.parent().map(Path::to_owned));
    std::env::current_dir().into_iter().chain(exe).collect()
}

fn prepare(data_dir: &Path) {
    let folder = tempfile::Builder::new()
        .prefix("selvedge-prepare-")
        .tempdir()
        .expect("a temporary folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("ours");
    let mut config = cluster_config(folder.path());
    config.project_dir = std::env::current_dir().expect("a current folder");
    let lock = ProjectLock::acquire(folder.path(), 0, &[]).expect("nobody else knows the folder");
    let cluster = Cluster::start_blocking(&config, lock).expect("PostgreSQL starts");

    // The test's own runtime is busy waiting for this function.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(fill(&cluster));
        });
    });
    let source = cluster.data_dir().to_owned();
    drop(cluster);
    let unfinished = data_dir.with_extension("unfinished");
    std::fs::remove_dir_all(&unfinished).ok();
    copy_folder(&source, &unfinished, None);
    std::fs::rename(&unfinished, data_dir).expect("the target folder is ours");
}

async fn fill(cluster: &Cluster) {
    let client = connect(&cluster.superuser_config()).await;
    let sql = format!("alter role {SUPERUSER} password '{PASSWORD}'; create database {TEMPLATE}");
    for statement in sql.split("; ") {
        client.batch_execute(statement).await.expect("a superuser may");
    }
    let mut template = cluster.superuser_config();
    template.dbname(TEMPLATE).password(PASSWORD);
    let client = connect(&template).await;
    apply_platform(&client)
        .await
        .expect("the platform schema applies");
    set_role_passwords(&client, &RolePasswords::all(&PASSWORD.into()))
        .await
        .expect("passwords");
}

fn copy_data(from: &Path, to: &Path, owner: &Owner) {
    copy_folder(from, to, Some(owner));
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700)).expect("ours");
}

fn copy_folder(from: &Path, to: &Path, owner: Option<&Owner>) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.expect("readable");
        let target = to.join(entry.path().strip_prefix(from).expect("below its root"));
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(&target).expect("writable");
        } else {
            std::fs::copy(entry.path(), &target).expect("writable");
        }
        if let Some(owner) = owner {
            owner.give(&target).expect("ours to give");
        }
    }
}
