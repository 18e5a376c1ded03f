//! The database of `serve` in the home of a production database: PostgreSQL runs in a process of its own, which `serve` starts where no
//! service manager does, and never ends.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::home::is_home;
use selvedge_database::http_requests::serve_socket;
use selvedge_database::initialized::{is_initialized, mark_initialized};
use selvedge_database::people::settle_logins;
use selvedge_database::{embedded, service_logins};
use selvedge_keys::make_home_keys;
use selvedge_postgres::cluster::{
    InheritedLock, ProjectLock, RunningCluster, SocketFolder, mark_production_home,
};
use selvedge_postgres::migrate::{MigrationState, MigrationStatus};
use selvedge_postgres::{Login, Logins};
use selvedge_project_trust::refuse_data_of_others;
use tokio::signal::unix::Signal;
use tokio_postgres::Client;

use crate::commands::keeper;

/// How long PostgreSQL may take to read its settings again.
const RELOAD_TIME: Duration = Duration::from_secs(5);

const LOADED_AT: &str = "select pg_catalog.pg_conf_load_time()::pg_catalog.text";
const PENDING_RESTART: &str =
    "select s.name from pg_catalog.pg_settings as s where s.pending_restart order by 1";

/// Refuses to serve where nobody has said which database: a lost variable must not start an empty one.
///
/// # Errors
/// When no data folder is named, or the one that is has a database for development.
pub(super) fn check_named(config: &Config) -> Result<()> {
    if config.is_data_dir_named() {
        return Ok(());
    }
    bail!(
        "`selvedge serve` needs a database\n  one of its own, in a folder that you name:  selvedge serve --data-dir /var/lib/selvedge (or \
         SELVEDGE_DATA_DIR)\n  one on another server:  DATABASE_URL=postgresql://…\n  for development:  selvedge start"
    );
}

/// Makes the home at the first start, for the server or for the process that keeps PostgreSQL running.
///
/// # Errors
/// When the folder has a database for development, or cannot be written.
pub(in crate::commands) fn prepare_home(config: &Config) -> Result<()> {
    check_named(config)?;
    refuse_data_of_others(config)?;
    if !is_home(config) {
        // Nothing is marked where no database can be made, such as in an image without PostgreSQL that has lost its DATABASE_URL.
        embedded::cluster_config(config)?.find_binaries()?;
    }
    if mark_production_home(&config.selvedge.data_dir)? {
        tracing::info!(
            home = %config.selvedge.data_dir.display(),
            "a new home of a production database"
        );
    }
    Ok(())
}

/// The database of a running home.
pub(super) struct OwnDatabase {
    running: RunningCluster,
    _folder: SocketFolder,
    /// What `cluster restart` asks for, from before the lock names this process.
    restarts: Option<Signal>,
    /// Nobody else serves this home meanwhile.
    lock: ServerLock,
    /// The ports that are written into the lock.
    ports: [u16; 3],
    /// Settings of PostgreSQL that take effect only with its next start.
    waiting_settings: Vec<String>,
}

/// The lock of the server in a home.
enum ServerLock {
    Held(Box<ProjectLock>),
    /// The old server holds the lock, from which this one takes over once it serves.
    Inherited(InheritedLock),
}

impl OwnDatabase {
    /// Takes the home, and returns when its PostgreSQL accepts connections and has the platform schema. With `migrate` the project's pending
    /// migrations are applied as well. `inherited` is the lock of the server from which this one takes over.
    ///
    /// # Errors
    /// When another server has the home, PostgreSQL does not start, or a newer version of this program has changed the database.
    pub(super) async fn open(config: &Config, migrate: bool, inherited: Option<OwnedFd>) -> Result<Self> {
        debug_assert!(is_home(config), "the home is prepared before");
        let home = &config.selvedge.data_dir;
        let console = match config.console.enabled {
            true => config.console.bind.port(),
            false => 0,
        };
        let ports = [config.api.port, 0, console];
        let restarts = keeper::listen_for_restarts()?;
        let lock = match inherited.and_then(|handle| InheritedLock::of_server(handle, home)) {
            Some(lock) => ServerLock::Inherited(lock),
            None => {
                let lock = ProjectLock::acquire_for_server(home, &config.flags.purpose, &ports)?;
                ServerLock::Held(Box::new(lock))
            }
        };
        // Only by the server: other commands and the keeper may have been started without the variables that give the keys.
        if !is_initialized(config) {
            make_home_keys(config)?;
        }
        let running = keeper::find_or_start(config).await?;
        let folder = running.remember_socket_folder()?;
        let mut own = Self {
            running,
            _folder: folder,
            restarts: Some(restarts),
            lock,
            ports,
            waiting_settings: Vec::new(),
        };
        own.waiting_settings = own.bring_up(config, migrate).await?;
        Ok(own)
    }

    /// Returns the settings of PostgreSQL that wait for its next start.
    async fn bring_up(&self, config: &Config, migrate: bool) -> Result<Vec<String>> {
        let access = self.running.access();
        let is_first = !is_initialized(config);
        let superuser = embedded::apply_platform_with(config, access, is_first).await?;
        let waiting = self.reload_settings(config, &superuser).await?;
        embedded::check_usable(config, &superuser).await?;
        for sentence in settle_logins(&superuser).await? {
            tracing::warn!("{sentence}");
        }
        drop(superuser);
        // After a handover the socket is made when the old server does not need its own any more.
        if config.selvedge.jobs.enabled && matches!(self.lock, ServerLock::Held(_)) {
            serve_socket(config, self.running.bind_http_socket()?);
        }
        let mut administrator = embedded::connect(&embedded::login_as(access, "postgres")).await?;
        if migrate {
            let applied = embedded::bring_up_project(config, &mut administrator, is_first).await?;
            tracing::info!(?applied, "migrations are up to date");
        } else {
            note_pending_migrations(config, &administrator).await?;
        }
        mark_initialized(config)?;
        Ok(waiting)
    }

    /// Settings of PostgreSQL that take effect only with its next start.
    pub(super) fn waiting_settings(&self) -> &[String] {
        &self.waiting_settings
    }

    /// Takes the lock over from the old server, so that commands find this one, and begins to send the requests of the extension http.
    ///
    /// # Errors
    /// When the lock's file cannot be written, or the socket of the extension cannot be made.
    pub(super) fn take_over(self, config: &Config) -> Result<Self> {
        let lock = match self.lock {
            ServerLock::Inherited(lock) => {
                let home = &config.selvedge.data_dir;
                let lock = lock.take(home, &config.flags.purpose, &self.ports)?;
                if config.selvedge.jobs.enabled {
                    serve_socket(config, self.running.replace_http_socket()?);
                }
                Box::new(lock)
            }
            ServerLock::Held(lock) => lock,
        };
        let lock = ServerLock::Held(lock);
        Ok(Self { lock, ..self })
    }

    /// Another handle of the lock, for the server that takes over.
    ///
    /// # Errors
    /// When the system has no handles left.
    pub(super) fn share_lock(&self) -> std::io::Result<Option<OwnedFd>> {
        match &self.lock {
            ServerLock::Held(lock) => lock.share().map(Some),
            ServerLock::Inherited(_) => Ok(None),
        }
    }

    /// Leaves the lock to the server that has taken over.
    pub(super) fn leave_to_successor(self) {
        if let ServerLock::Held(lock) = self.lock {
            lock.leave_to_successor();
        }
    }

    /// The logins of the services, each with a password of its own.
    pub(super) fn logins(&self, schema_changes: bool) -> Logins {
        let login = |role: &str| embedded::service_login_to(self.running.access(), role);
        let logins = service_logins(login).with_login(Login::Postgres, login("postgres"));
        // With `schema_changes` the console's admins are `postgres`, who owns the project's objects.
        match schema_changes {
            true => logins.with_login(Login::ConsoleAdmin, login("postgres")),
            false => logins,
        }
    }

    /// PostgreSQL's socket.
    pub(super) fn socket(&self) -> PathBuf {
        self.running.access().socket()
    }

    /// What `cluster restart` asks for; once.
    pub(super) fn take_restarts(&mut self) -> Option<Signal> {
        self.restarts.take()
    }

    /// The login of `postgres`, for the API of postgres-meta.
    pub(super) fn postgres_login(&self) -> tokio_postgres::Config {
        embedded::service_login_to(self.running.access(), "postgres")
    }

    /// Lets a PostgreSQL that ran before read changed settings, and returns those that wait for a restart.
    async fn reload_settings(&self, config: &Config, superuser: &Client) -> Result<Vec<String>> {
        let cluster = embedded::cluster_config(config)?;
        if !cluster.are_settings_written()? {
            let before: String = superuser.query_one(LOADED_AT, &[]).await?.get(0);
            keeper::ask_for_reload(self.running.holder())?;
            let deadline = Instant::now() + RELOAD_TIME;
            // A session reads them before its next statement.
            while superuser.query_one(LOADED_AT, &[]).await?.get::<_, String>(0) == before {
                if Instant::now() > deadline {
                    tracing::warn!("PostgreSQL has not read its changed settings yet");
                    break;
                }
                actix_web::rt::time::sleep(Duration::from_millis(20)).await;
            }
        }
        let rows = superuser.query(PENDING_RESTART, &[]).await?;
        let waiting: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        if !waiting.is_empty() {
            tracing::warn!(
                settings = waiting.join(", "),
                "settings of PostgreSQL take effect after `selvedge cluster restart`"
            );
        }
        Ok(waiting)
    }
}

/// Says what is pending: a start never changes the project's schema by itself.
async fn note_pending_migrations(config: &Config, administrator: &Client) -> Result<()> {
    if !config.db.migrations.enabled {
        return Ok(());
    }
    let migrations = embedded::list_migrations(config, administrator)
        .await
        .context("the project's migrations cannot be compared with the database")?;
    let is_pending = |status: &&MigrationStatus| status.state == MigrationState::Pending;
    let pending = migrations.iter().filter(is_pending).count();
    if pending > 0 {
        tracing::warn!(
            pending,
            "migrations of the project are not applied: `selvedge migrate up`, or `selvedge serve --migrate`"
        );
    }
    Ok(())
}
