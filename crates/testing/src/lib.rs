//! A real PostgreSQL for the tests of all crates, which have this one as a dev-dependency.
//!
//! [`TestDatabase::create`] gives a test a database of its own with the platform schema, in some tens of milliseconds.
//! All databases of a test process are in one cluster, a copy of a prepared data directory in cargo's target folder, so
//! that `initdb` and the platform schema run once per change of either and not once per test binary. The cluster is in
//! a temporary folder and ends with the process, even when that is killed: a shell reads from a pipe that only this
//! process holds open, and at its end stops PostgreSQL and deletes the folder.
//!
//! The folder is in memory if the machine has enough. A database is 700 files, and to make and remove them on a disk takes the
//! kernel ten times as long: with a database per test, more time than all statements of all tests.
//!
//! `fsync` and related settings are off only here, for speed; nothing but tests uses such a cluster.
//!
//! With `SELVEDGE_TEST_CITUS=1` every database looks as if it had Citus, so that any test can be run once more with the
//! transactions and statements for it.

mod definers;
mod earlier;
mod servers;
mod system;

use std::{
    collections::BTreeMap,
    fs::File,
    os::unix::{fs::PermissionsExt, net::UnixListener, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

pub use definers::{
    create_every_extension, list_definers, list_judged_definers, list_judged_definers_of_other_databases,
};
pub use earlier::apply_earlier_platform;
use nix::fcntl::{Flock, FlockArg};
use selvedge_postgres::cluster::{
    Binaries, Cluster, ClusterConfig, Owner, SUPERUSER, bind_http_socket, ensure_vault_key,
};
use selvedge_postgres::migrate::{RolePasswords, apply_platform, platform_digest, set_role_passwords};
pub use servers::TestServer;
use sha2::{Digest, Sha256};
pub use system::System;
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls};

/// The password of every role, the superuser's included.
pub const PASSWORD: &str = "postgres";

/// The template database from which each test's database is cloned.
const TEMPLATE: &str = "platform";

/// Set to `1`, it makes every database of a test one with Citus, see [`TestDatabase::pretend_citus`].
const CITUS_VARIABLE: &str = "SELVEDGE_TEST_CITUS";

/// Part of the socket's file name only: nothing listens on TCP.
const PORT: u16 = 5432;

/// Raise it when the prepared data directory must be rebuilt although neither binaries nor platform schema changed.
const PREPARED_VERSION: u32 = 2;

/// A database of the test's own, dropped with this value.
#[derive(Debug)]
pub struct TestDatabase {
    name: String,
}

impl TestDatabase {
    /// Creates a database with the platform schema.
    ///
    /// # Panics
    /// When PostgreSQL cannot be found or started: a test that skipped its checks would pass without testing anything.
    pub async fn create() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);

        let name = format!("test_{}", COUNTER.fetch_add(1, Ordering::Relaxed));
        let cluster = tokio::task::spawn_blocking(TestCluster::shared_cluster)
            .await
            .expect("the cluster starts");
        cluster
            .create_database(name.clone())
            .await
            .expect("the database is created");
        let database = Self { name };
        if std::env::var(CITUS_VARIABLE).is_ok_and(|value| value == "1") {
            database.pretend_citus().await;
        }
        database
    }

    /// Name of the test database.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How to connect to it as `role`: `postgres`, `authenticator`, `supabase_auth_admin`, `supabase_storage_admin`,
    /// or `supabase_admin` for the superuser.
    #[must_use]
    pub fn config(&self, role: &str) -> Config {
        TestCluster::shared_cluster().config(role, &self.name)
    }

    /// The connection settings as a URL, with the socket's folder percent-encoded as host.
    #[must_use]
    pub fn url(&self, role: &str) -> String {
        let folder = TestCluster::shared_cluster()
            .socket_dir
            .display()
            .to_string()
            .replace('/', "%2F");
        format!("postgresql://{role}:{PASSWORD}@{folder}:{PORT}/{}", self.name)
    }

    /// Returns the socket by which the extension http of this process's cluster sends its requests.
    ///
    /// # Panics
    /// When the socket cannot be created.
    #[must_use]
    pub fn bind_http_socket(&self) -> UnixListener {
        let owner = Owner::for_this_process().expect("a user for PostgreSQL");
        bind_http_socket(&TestCluster::shared_cluster().socket_dir, &owner).expect("a socket")
    }

    /// Connects as `role`. The connection is driven by a task of the current runtime.
    ///
    /// # Panics
    /// When the role cannot connect.
    pub async fn connect(&self, role: &str) -> Client {
        connect(&self.config(role)).await
    }

    /// Adds Citus to the system catalog's list of extensions, so that transactions and statements for Citus can be tested on plain
    /// PostgreSQL, which accepts `citus.propagate_set_commands` as a custom setting. Citus's tables of distributed tables are
    /// created empty; [`Self::distribute`] fills them. A second call changes nothing.
    ///
    /// # Panics
    /// When the catalog cannot be changed.
    pub async fn pretend_citus(&self) {
        let sql = "
            set allow_system_table_mods = on;
            insert into pg_catalog.pg_extension
                (oid, extname, extowner, extnamespace, extrelocatable, extversion)
                select 4000000000, 'citus', 10, 'pg_catalog'::regnamespace, false, '13.2'
                where not exists (select from pg_catalog.pg_extension where extname = 'citus');
            create table if not exists pg_catalog.pg_dist_partition
                (logicalrelid regclass, partmethod \"char\", colocationid integer, repmodel \"char\");
            create table if not exists pg_catalog.pg_dist_node (nodename text, nodeport integer);
            create table if not exists pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint);
            create table if not exists pg_catalog.pg_dist_placement (shardid bigint, groupid integer);
            create table if not exists pg_catalog.pg_dist_local_group (groupid integer primary key);
            insert into pg_catalog.pg_dist_local_group values (0) on conflict do nothing;
            grant select on pg_catalog.pg_dist_partition, pg_catalog.pg_dist_node, pg_catalog.pg_dist_shard,
                pg_catalog.pg_dist_placement, pg_catalog.pg_dist_local_group to public;";
        let superuser = self.superuser().await;
        superuser.batch_execute(sql).await.expect("a changed catalog");
    }

    /// Lists the ordinary tables of a schema as distributed tables, after [`Self::pretend_citus`].
    ///
    /// # Panics
    /// When the catalog cannot be changed.
    pub async fn distribute(&self, schema: &str) {
        let sql = "insert into pg_catalog.pg_dist_partition
            select c.oid, 'h', 1, 's' from pg_catalog.pg_class c
            where c.relkind = 'r' and not c.relispartition and c.relnamespace = $1::text::regnamespace";
        let superuser = self.superuser().await;
        superuser
            .execute(sql, &[&schema])
            .await
            .expect("a changed catalog");
    }

    /// Opens a connection as the superuser.
    pub async fn superuser(&self) -> Client {
        self.connect(SUPERUSER).await
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        TestCluster::shared_cluster().drop_database(self.name.clone());
    }
}

async fn connect(config: &Config) -> Client {
    let (client, connection) = config
        .connect(NoTls)
        .await
        .expect("the test cluster accepts connections");
    tokio::spawn(async move {
        // At the end of a test its database is dropped, which ends open connections with an error; that is expected.
        connection.await.ok();
    });
    client
}

/// The cluster of this process.
struct TestCluster {
    socket_dir: PathBuf,
    creations: mpsc::UnboundedSender<Creation>,
    drops: mpsc::UnboundedSender<String>,
    /// Closed by the kernel when this process ends: the signal for the shell to clean up.
    _alive_pipe: ChildStdin,
    /// The shell that stops PostgreSQL after this process has ended.
    _shell: Child,
}

/// The name of a database to create, and a channel that reports the outcome.
struct Creation {
    name: String,
    done: oneshot::Sender<Result<(), tokio_postgres::Error>>,
}

/// A new folder with the data of a server that has not been started.
struct PreparedServer {
    binaries: Binaries,
    owner: Owner,
    home: PathBuf,
    data_dir: PathBuf,
}

impl PreparedServer {
    fn create(prefix: &str) -> Self {
        let config = cluster_config(Path::new("/nowhere"));
        let binaries = Binaries::discover(config.pg_bin.as_deref(), &npm_roots()).expect("PostgreSQL");
        let owner = Owner::for_this_process().expect("a user for PostgreSQL");
        let cache = cache_folder();
        std::fs::create_dir_all(&cache).expect("the target folder is ours");
        let binaries = binaries.make_usable_by(&owner, &cache).expect("usable binaries");
        let prepared = ensure_prepared_data(&binaries, &cache);
        let home = tempfile::Builder::new()
            .prefix(prefix)
            .tempdir_in(temporary_folder())
            .expect("a temporary folder")
            .keep();
        let data_dir = home.join("pgdata");
        copy_data(&prepared, &data_dir, &owner);
        Self {
            binaries,
            owner,
            home,
            data_dir,
        }
    }
}

impl TestCluster {
    fn shared_cluster() -> &'static Self {
        static SHARED: OnceLock<TestCluster> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    fn start() -> Self {
        let PreparedServer {
            binaries,
            owner,
            home,
            data_dir,
        } = PreparedServer::create("selvedge-test-");
        owner.give_ownership_of(&home).expect("ours to give");

        let mut child = start_postgres(&owner, &binaries, &home, &data_dir);
        let life = child.stdin.take().expect("it is piped");
        wait_until_ready(&data_dir);

        let (creations, creation_queue) = mpsc::unbounded_channel();
        let (drops, drop_queue) = mpsc::unbounded_channel();
        let cluster = Self {
            socket_dir: home,
            creations,
            drops,
            _alive_pipe: life,
            _shell: child,
        };
        let config = cluster.config(SUPERUSER, "postgres");
        // Two threads, so that no test waits for its database until that of another has been dropped.
        start_admin_thread(config.clone(), async move |client| {
            create_databases(client, creation_queue).await;
        });
        start_admin_thread(config, async move |client| {
            drop_databases(client, drop_queue).await;
        });
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

    async fn create_database(&self, name: String) -> Result<(), tokio_postgres::Error> {
        let (done, finished) = oneshot::channel();
        self.creations
            .send(Creation { name, done })
            .expect("the thread lives as long as the process");
        finished.await.expect("the thread answers")
    }

    fn drop_database(&self, name: String) {
        // Fails only while the process is ending; the whole cluster is deleted then.
        self.drops.send(name).ok();
    }
}

/// Starts PostgreSQL, and the shell that stops it when its standard input is closed.
fn start_postgres(owner: &Owner, binaries: &Binaries, home: &Path, data_dir: &Path) -> Child {
    let log = File::create(data_dir.join("test.log")).expect("a log");
    // The shell runs as the cluster's user, which owns the folder and so may signal PostgreSQL and delete the files.
    let mut shell = owner.command(Path::new("/bin/sh"));
    shell
        .arg("-c")
        // `cat` blocks until the pipe of standard input is closed, which the kernel does when this process ends.
        .arg(r#""$@" & server=$!; cat >/dev/null; kill -QUIT $server; wait $server; rm -rf "$0""#)
        .arg(home)
        .arg(binaries.folder().join("postgres"))
        .arg("-D")
        .arg(data_dir)
        .args(["-p", &PORT.to_string(), "-k"])
        .arg(home)
        .args(["-c", "listen_addresses=", "-c", "logging_collector=off"])
        .stdin(Stdio::piped())
        .stdout(log.try_clone().expect("a log"))
        .stderr(log)
        .process_group(0);
    shell.spawn().expect("a shell")
}

/// Starts a thread with a superuser's connection. Each test has its own runtime, and a connection driven by that runtime
/// would end with the test.
fn start_admin_thread(config: Config, work: impl AsyncFnOnce(Client) + Send + 'static) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async move { work(connect(&config).await).await });
    });
}

async fn create_databases(client: Client, mut queue: mpsc::UnboundedReceiver<Creation>) {
    while let Some(Creation { name, done }) = queue.recv().await {
        // The other strategy writes all pages to the WAL, too.
        let create = format!("create database {name} template {TEMPLATE} owner postgres strategy file_copy");
        // The receiver is dropped when its test was cancelled.
        done.send(client.batch_execute(&create).await).ok();
    }
}

async fn drop_databases(client: Client, mut queue: mpsc::UnboundedReceiver<String>) {
    while let Some(name) = queue.recv().await {
        if let Err(error) = drop_database(&client, &name).await {
            // It costs a little disk until the process ends and its cluster is deleted, so no test needs to fail.
            eprintln!("the database {name} of a test could not be dropped: {error:?}");
        }
    }
}

/// Drops a database even if connections of its test's server are still open.
async fn drop_database(client: &Client, name: &str) -> Result<(), tokio_postgres::Error> {
    // First, so that a server which lost its connection cannot open another.
    client
        .batch_execute(&format!("alter database {name} allow_connections false"))
        .await?;
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        // `with (force)` does not end a walsender, which holds the database by its replication slot.
        client
            .execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1",
                &[&name],
            )
            .await?;
        let dropped = client
            .batch_execute(&format!("drop database {name} with (force)"))
            .await;
        match dropped {
            Err(error) if error.code() == Some(&SqlState::OBJECT_IN_USE) && Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            outcome => return outcome,
        }
    }
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

/// A data directory with the template database, in the folder `cache`. It is made once.
fn ensure_prepared_data(binaries: &Binaries, cache: &Path) -> PathBuf {
    let mut key = Sha256::new();
    key.update(format!(
        "{PREPARED_VERSION} {} {}",
        // The name of this folder changes with the extensions that are found in it.
        binaries.folder().display(),
        binaries.major_version()
    ));
    key.update(platform_digest());
    let data_dir = cache.join(&hex::encode(key.finalize())[..16]);

    // Test binaries may run at the same time; the lock lets only one of them prepare the directory.
    let lock = File::create(cache.join("lock")).expect("the target folder is ours");
    let _lock = Flock::lock(lock, FlockArg::LockExclusive).expect("a lock");
    if !data_dir.is_dir() {
        prepare(&data_dir);
    }
    data_dir
}

/// Where data of tests' PostgreSQL belongs: the file system in memory, if it has room for clusters of a few programs at once;
/// otherwise the usual folder for temporary files.
#[must_use]
pub fn temporary_folder() -> PathBuf {
    find_memory().unwrap_or_else(std::env::temp_dir)
}

#[cfg(target_os = "linux")]
fn find_memory() -> Option<PathBuf> {
    use nix::sys::statvfs::{FsFlags, statvfs};

    let memory = Path::new("/dev/shm");
    let found = statvfs(memory).ok()?;
    // In a container it often has 64 MB, and no program may be run from it, as PostgreSQL with its extensions is.
    let fits = found.blocks_available() * found.fragment_size() >= 2 << 30;
    (fits && !found.flags().contains(FsFlags::ST_NOEXEC)).then(|| memory.to_owned())
}

#[cfg(not(target_os = "linux"))]
fn find_memory() -> Option<PathBuf> {
    None
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

/// Settings of the test cluster. `SELVEDGE_TEST_PG_BIN` selects the PostgreSQL; CI sets it for each supported version.
fn cluster_config(state_dir: &Path) -> ClusterConfig {
    let mut config = ClusterConfig::for_project(state_dir);
    config.state_dir = state_dir.to_owned();
    config.pg_bin = std::env::var_os("SELVEDGE_TEST_PG_BIN").map(PathBuf::from);
    config.listen_tcp = false;
    config.port = PORT;
    config.superuser_password = Some(PASSWORD.into());
    config.settings = [
        ("fsync", "off"),
        ("synchronous_commit", "off"),
        ("full_page_writes", "off"),
        // Not kept, because the folder may be in memory.
        ("max_wal_size", "128MB"),
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
        .tempdir_in(temporary_folder())
        .expect("a temporary folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("ours");
    let mut config = cluster_config(folder.path());
    config.project_dir = std::env::current_dir().expect("a current folder");
    // The calling thread may already drive a test's runtime, on which a second one cannot block, so it gets a thread.
    let prepared = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let cluster = Cluster::start(config).await.expect("PostgreSQL starts");
            fill(&cluster).await;
            cluster
        })
    });
    let cluster = prepared.join().expect("it is filled");
    let source = cluster.data_dir().to_owned();
    // Stops PostgreSQL, so that the files copied below are complete and consistent.
    drop(cluster);
    let unfinished = data_dir.with_extension("unfinished");
    std::fs::remove_dir_all(&unfinished).ok();
    copy_folder(&source, &unfinished, None);
    std::fs::rename(&unfinished, data_dir).expect("the target folder is ours");
}

async fn fill(cluster: &Cluster) {
    let superuser = cluster.superuser_login();
    let client = superuser.connect().await.expect("a connection");
    let create = format!("create database {TEMPLATE}");
    client.batch_execute(&create).await.expect("a superuser may");
    let client = superuser.to_database(TEMPLATE).connect().await;
    let client = client.expect("a connection");
    apply_platform(&client)
        .await
        .expect("the platform schema applies");
    set_role_passwords(&client, &RolePasswords::same_for_all(&PASSWORD.into()))
        .await
        .expect("passwords");
}

fn copy_data(from: &Path, to: &Path, owner: &Owner) {
    copy_folder(from, to, Some(owner));
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700)).expect("ours");
    ensure_vault_key(to.parent().expect("a folder"), owner).expect("a key");
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
            owner.give_ownership_of(&target).expect("ours to give");
        }
    }
}
