//! Servers of a test's own: a primary, and copies of its data that follow it or were promoted.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use selvedge_postgres::cluster::SUPERUSER;
use tokio_postgres::{Client, Config};

use crate::{PASSWORD, PORT, PreparedServer, TEMPLATE, connect, start_postgres, wait_until_ready};

/// A PostgreSQL whose database has the platform schema. It is stopped when this value is dropped. All servers begin with a copy of the same
/// data, so PostgreSQL takes them for one cluster and lets each of them follow another one.
pub struct TestServer {
    home: PathBuf,
    /// The shell that started PostgreSQL stops it and deletes the files when this is closed.
    alive: Option<ChildStdin>,
    shell: Child,
}

impl TestServer {
    /// Starts a primary.
    ///
    /// # Panics
    /// When PostgreSQL cannot be found or started.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(|_| ())
    }

    /// Starts a standby that follows `primary`, or `None` as long as nobody is to be followed.
    ///
    /// # Panics
    /// When PostgreSQL cannot be started.
    #[must_use]
    pub fn start_standby(primary: Option<&Self>) -> Self {
        let settings = primary.map(|primary| {
            format!(
                "primary_conninfo = 'host={} port={PORT} user={SUPERUSER} password={PASSWORD}'\n\
                 wal_retrieve_retry_interval = '100ms'\n",
                primary.home.display()
            )
        });
        Self::start_with(|data_dir| {
            std::fs::write(data_dir.join("standby.signal"), "").expect("ours");
            append(&data_dir.join("postgresql.conf"), &settings.unwrap_or_default());
        })
    }

    fn start_with(prepare: impl FnOnce(&Path)) -> Self {
        let PreparedServer {
            binaries,
            owner,
            home,
            data_dir,
        } = PreparedServer::create("selvedge-server-");
        append(
            &data_dir.join("pg_hba.conf"),
            "\nlocal replication all scram-sha-256\n",
        );
        prepare(&data_dir);
        owner.give_ownership_of(&data_dir.join("standby.signal")).ok();
        owner.give_ownership_of(&home).expect("ours to give");
        let mut shell = start_postgres(&owner, &binaries, &home, &data_dir);
        let alive = shell.stdin.take();
        if data_dir.join("standby.signal").exists() {
            wait_until_standby(&data_dir);
        } else {
            wait_until_ready(&data_dir);
        }
        Self { home, alive, shell }
    }

    /// How to connect as `role` to the database with the platform schema.
    #[must_use]
    pub fn config(&self, role: &str) -> Config {
        let mut config = Config::new();
        config
            .host_path(&self.home)
            .port(PORT)
            .user(role)
            .password(PASSWORD)
            .dbname(TEMPLATE);
        config
    }

    /// The folder of its socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.home.join(format!(".s.PGSQL.{PORT}"))
    }

    /// Opens a connection as the superuser.
    pub async fn superuser(&self) -> Client {
        connect(&self.config(SUPERUSER)).await
    }

    /// Makes a standby a primary.
    ///
    /// # Panics
    /// When it cannot be promoted.
    pub async fn promote(&self) {
        let promote = "select pg_catalog.pg_promote(true, 60)";
        let row = self
            .superuser()
            .await
            .query_one(promote, &[])
            .await
            .expect("promoted");
        assert!(row.get::<_, bool>(0), "it is a primary in time");
    }

    /// Makes a running standby follow another server.
    ///
    /// # Panics
    /// When the setting is refused.
    pub async fn follow(&self, primary: &Self) {
        let set = format!(
            "alter system set primary_conninfo = 'host={} port={PORT} user={SUPERUSER} password={PASSWORD}'",
            primary.home.display()
        );
        let client = self.superuser().await;
        client.batch_execute(&set).await.expect("a superuser may");
        let reload = "select pg_catalog.pg_reload_conf()";
        client.batch_execute(reload).await.expect("a superuser may");
    }

    /// Ends it, as a crash of its machine does: nothing is written any more.
    ///
    /// # Panics
    /// When it cannot be signalled, or does not end.
    pub fn stop(&self) {
        let file = self.home.join("pgdata/postmaster.pid");
        let text = std::fs::read_to_string(file).expect("it runs");
        let pid = text.lines().next().and_then(|line| line.trim().parse().ok());
        kill(Pid::from_raw(pid.expect("a number")), Signal::SIGQUIT).expect("ours");
        let deadline = Instant::now() + Duration::from_secs(60);
        while UnixStream::connect(self.socket()).is_ok() {
            assert!(Instant::now() < deadline, "PostgreSQL did not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.alive = None;
        self.shell.wait().ok();
    }
}

fn append(file: &Path, text: &str) {
    let written = std::fs::read_to_string(file).expect("readable") + text;
    std::fs::write(file, written).expect("ours");
}

/// Waits until a standby accepts connections. Its `postmaster.pid` then says `standby`, where that of a primary says `ready`.
fn wait_until_standby(data_dir: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let says_so = |text: String| {
        text.lines()
            .nth(7)
            .is_some_and(|line| matches!(line.trim(), "standby" | "ready"))
    };
    while !std::fs::read_to_string(data_dir.join("postmaster.pid")).is_ok_and(says_so) {
        let log = std::fs::read_to_string(data_dir.join("test.log")).unwrap_or_default();
        assert!(Instant::now() < deadline, "PostgreSQL did not start:\n{log}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
