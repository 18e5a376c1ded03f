//! One PostgreSQL database, and the logins that the parts of this server use.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio::runtime::Handle;
use tokio_postgres::{CancelToken, Client, Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::hosts::{
    Connector, HostConnection, LastHost, NEXT_HOST_TIMEOUT, NewerPrimary, has_standbys, open_session,
    watch_name, watch_primary,
};
use crate::pools::{SharedPools, limit_idle_transactions};
use crate::{DiskState, PoolMetrics, RoleSettings, tls, wire};

/// How long a service waits for a connection of a deadpool pool; then the request fails.
const POOL_WAIT: Duration = Duration::from_secs(10);

/// How long a connection to the only host may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that has not acknowledged what it was sent for this long counts as lost, for example after a power failure.
const PEER_TIMEOUT: Duration = Duration::from_secs(15);

/// A part of this server with its own database login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Login {
    /// Becomes the caller's role in each request transaction.
    Authenticator,
    /// Owns the schema `auth`.
    AuthAdmin,
    /// Owns the schema `storage`.
    StorageAdmin,
    /// Reads the replication stream.
    Replication,
    /// What the console reads for its viewers.
    ConsoleReader,
    /// A text of a viewer: one of [`crate::CONSOLE_READERS`] from the second on, by its index.
    ConsoleText(u8),
    /// The console's admins.
    ConsoleAdmin,
    /// The console itself: accounts, sessions and its audit.
    ConsoleService,
    /// `postgres`, who owns the project's objects: jobs of pg_cron.
    Postgres,
}

impl Login {
    /// How long a transaction may wait for its next statement. Services wait within one for a provider of text messages (10 s)
    /// and for a hook (5 s); the console waits for a browser that uploads rows.
    fn idle_limit(self) -> Duration {
        match self {
            Self::ConsoleReader | Self::ConsoleText(_) | Self::ConsoleAdmin | Self::ConsoleService => {
                Duration::from_secs(300)
            }
            Self::Authenticator
            | Self::AuthAdmin
            | Self::StorageAdmin
            | Self::Replication
            | Self::Postgres => Duration::from_secs(20),
        }
    }
}

/// The connection settings of each login.
#[derive(Clone)]
pub struct Logins {
    by_login: BTreeMap<Login, Config>,
}

impl Logins {
    /// All logins. Hosts and databases should be the same; users and passwords differ.
    pub fn new(authenticator: Config, auth_admin: Config, storage_admin: Config) -> Self {
        let by_login = BTreeMap::from([
            (Login::Authenticator, authenticator),
            (Login::AuthAdmin, auth_admin),
            (Login::StorageAdmin, storage_admin),
        ]);
        Self { by_login }
    }

    /// Returns logins that all use one role: `selvedge rest` on a database without the platform schema.
    pub fn with_single_login(config: Config) -> Self {
        Self::new(config.clone(), config.clone(), config)
    }

    /// Sets the login that reads the replication stream. Without it the authenticator is used, which PostgreSQL refuses
    /// for lack of the attribute `replication`.
    #[must_use]
    pub fn with_replication(mut self, config: Config) -> Self {
        self.by_login.insert(Login::Replication, config);
        self
    }

    /// Sets a further login. One that is not set is the authenticator's, which lacks its rights.
    #[must_use]
    pub fn with_login(mut self, login: Login, config: Config) -> Self {
        self.by_login.insert(login, config);
        self
    }

    fn config(&self, login: Login) -> Config {
        let mut config = self
            .by_login
            .get(&login)
            .or_else(|| self.by_login.get(&Login::Authenticator))
            .cloned()
            .expect("new() takes the authenticator");
        config.application_name("selvedge");
        let has_several_hosts = config.get_hosts().len() > 1;
        config.connect_timeout(if has_several_hosts {
            NEXT_HOST_TIMEOUT
        } else {
            CONNECT_TIMEOUT
        });
        // Detects a lost peer long before the system's defaults: two hours for an idle connection, and a quarter of an hour
        // for one on which something was sent.
        config.keepalives_idle(Duration::from_secs(30));
        config.keepalives_interval(Duration::from_secs(5));
        config.tcp_user_timeout(PEER_TIMEOUT);
        config
    }
}

/// A PostgreSQL database: logins, TLS configuration, role settings and metrics. Shared by all workers.
pub struct Database {
    logins: Logins,
    tls: MakeRustlsConnect,
    last_host: LastHost,
    shared_pools: SharedPools,
    /// Shared with the [`Database`]s of its replicas.
    role_settings: Arc<ArcSwap<RoleSettings>>,
    disk: DiskState,
    pool_metrics: PoolMetrics,
}

impl Database {
    /// Creates the description of a database. Connects only to read the role settings, so that a wrong address is reported
    /// immediately.
    ///
    /// # Errors
    /// When the authenticator cannot log in.
    pub async fn connect(logins: Logins) -> Result<Arc<Self>, Error> {
        let database = Self::new(logins);
        database.reload_role_settings().await?;
        database.follow_primary();
        Ok(database)
    }

    /// Starts a task that looks for another primary when the present one does not answer, where several hosts are configured and
    /// only the one that accepts writes is wanted, or one name may lead to another server. [`Self::connect`] does so by itself. The task ends with the database.
    pub fn follow_primary(self: &Arc<Self>) {
        let config = self.login_config(Login::Authenticator);
        if has_standbys(&config) {
            tokio::spawn(watch_primary(self.connector(), config, Arc::downgrade(self)));
        } else if self.last_host.is_one_name() {
            tokio::spawn(watch_name(self.connector(), config, Arc::downgrade(self)));
        }
    }

    /// Describes a database that need not be there yet.
    pub fn new(logins: Logins) -> Arc<Self> {
        Arc::new(Self {
            last_host: LastHost::of(&logins.config(Login::Authenticator)),
            logins,
            tls: tls::connector(),
            shared_pools: SharedPools::default(),
            role_settings: Arc::default(),
            disk: DiskState::default(),
            pool_metrics: PoolMetrics::default(),
        })
    }

    /// Describes a replica of this database, with the same role settings.
    pub(crate) fn replica(&self, logins: Logins) -> Arc<Self> {
        Arc::new(Self {
            // A replica may be promoted, and become a standby again.
            last_host: LastHost::default(),
            logins,
            tls: tls::connector(),
            shared_pools: SharedPools::default(),
            role_settings: Arc::clone(&self.role_settings),
            disk: self.disk.clone(),
            pool_metrics: PoolMetrics::default(),
        })
    }

    /// Opens a connection. The caller must poll the returned connection, because that sends and receives its messages.
    pub(crate) async fn open(&self, login: Login) -> Result<(Client, HostConnection), Error> {
        self.connector().open(&self.logins.config(login)).await
    }

    fn connector(&self) -> Connector {
        Connector {
            tls: self.tls.clone(),
            last_host: self.last_host.clone(),
            pools: self.shared_pools.clone(),
        }
    }

    /// How a newer primary is found that somebody has seen.
    pub(crate) fn newer_primary(&self) -> NewerPrimary {
        let connector = Connector {
            pools: SharedPools::default(),
            ..self.connector()
        };
        NewerPrimary::new(connector, self.login_config(Login::Authenticator))
    }

    /// The connection settings of a login.
    pub(crate) fn login_config(&self, login: Login) -> Config {
        self.logins.config(login)
    }

    pub(crate) fn tls(&self) -> &MakeRustlsConnect {
        &self.tls
    }

    pub(crate) fn last_host(&self) -> &LastHost {
        &self.last_host
    }

    /// Opens a connection for [`crate::wire`], which writes the messages of a request itself.
    pub(crate) async fn open_wire(&self, login: Login) -> Result<wire::Opened, wire::ConnectError> {
        wire::open_connection(&self.logins.config(login), &self.tls, &self.last_host).await
    }

    /// Opens a connection outside of any pool, polled in the background: for work that must not share one.
    ///
    /// # Errors
    /// When the login fails.
    pub async fn client(&self, login: Login) -> Result<Client, Error> {
        let (client, connection) = self.open(login).await?;
        tokio::spawn(connection.run());
        Ok(client)
    }

    /// Does the same, and gives each of several hosts at least `host_limit` to answer. On a busy machine a primary may need longer than the usual
    /// limit; another host refuses the login meanwhile, so every attempt with that limit would fail.
    ///
    /// # Errors
    /// When the login fails.
    pub async fn client_within(&self, login: Login, host_limit: Duration) -> Result<Client, Error> {
        let mut config = self.logins.config(login);
        wait_for_host(&mut config, host_limit);
        let (client, connection) = self.connector().open(&config).await?;
        tokio::spawn(connection.run());
        Ok(client)
    }

    /// Cancels the statement that the connection of this token runs. A failure is logged: the statement then ends by its
    /// time limit.
    pub async fn cancel_statement(&self, token: &CancelToken) {
        if let Err(error) = token.cancel_query(self.tls.clone()).await {
            tracing::warn!(%error, "a statement could not be cancelled");
        }
    }

    /// Opens a connection outside of any pool as `user`, to a database of the same server: as `postgres` with the password of
    /// [`Login::Postgres`], as others with the authenticator's. For work that runs with the rights of a role, which must be allowed to
    /// log in with that password. Each of several hosts has at least `host_limit` to answer.
    ///
    /// # Errors
    /// When the login fails.
    pub async fn client_as(&self, user: &str, database: &str, host_limit: Duration) -> Result<Client, Error> {
        let login = if user == "postgres" {
            Login::Postgres
        } else {
            Login::Authenticator
        };
        let mut config = self.logins.config(login);
        config.user(user).dbname(database);
        wait_for_host(&mut config, host_limit);
        let mut connector = self.connector();
        if self.last_host.is_one_name() {
            // A pooler may have that database on another server.
            connector.last_host = LastHost::of(&config);
        }
        let (client, connection) = connector.open(&config).await?;
        tokio::spawn(connection.run());
        Ok(client)
    }

    /// A pool for work that needs a connection for itself, such as several statements in a transaction, which may be idle for 20
    /// seconds (the console's for five minutes). Threads may share it; see [`Self::move_pools`] for their end.
    ///
    /// # Panics
    /// Never: building a pool fails only when it has timeouts and no runtime, and this one has a runtime.
    pub fn pool(&self, login: Login, size: usize) -> Pool {
        // No test query before each use, because a connection's task notices when it is lost.
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_connect(
            self.logins.config(login),
            self.connector(),
            ManagerConfig { recycling_method },
        );
        let pool = Pool::builder(manager)
            .max_size(size)
            .wait_timeout(Some(POOL_WAIT))
            .create_timeout(Some(POOL_WAIT))
            .runtime(Runtime::Tokio1)
            .post_create(limit_idle_transactions(login.idle_limit()))
            .pre_recycle(self.shared_pools.replace_before_use())
            .build()
            .expect("a pool with timeouts needs a runtime, and has one");
        self.shared_pools.add(&pool);
        pool
    }

    /// Makes `runtime` drive all connections that the pools of this database open from now on, and closes the others as soon as they
    /// are returned: they would end with the threads that have opened them, also while another thread waits for a result.
    /// Returns when all of those are closed, or after `limit`. `runtime` must run for as long as the pools are used.
    pub async fn move_pools(&self, runtime: Handle, limit: Duration) {
        self.shared_pools.move_to(runtime, limit).await;
    }

    /// Settings that `alter role … set` gave to the roles under which a request can run.
    pub fn role_settings(&self) -> Arc<RoleSettings> {
        self.role_settings.load_full()
    }

    /// Reads the role settings again, so that `alter role` takes effect without a restart.
    ///
    /// # Errors
    /// When the query fails; the settings stay as they were.
    pub async fn reload_role_settings(&self) -> Result<(), Error> {
        let client = self.client(Login::Authenticator).await?;
        self.reload_role_settings_with(&client).await
    }

    /// Does the same as [`Self::reload_role_settings`], on an open connection of [`Login::Authenticator`].
    ///
    /// # Errors
    /// When the query fails; the settings stay unchanged.
    pub async fn reload_role_settings_with(&self, client: &Client) -> Result<(), Error> {
        self.role_settings
            .store(Arc::new(RoleSettings::load(client).await?));
        Ok(())
    }

    /// The room on the disk of this database, where it is on this machine.
    pub fn disk(&self) -> &DiskState {
        &self.disk
    }

    /// Counters of all request pools of this database.
    pub fn pool_metrics(&self) -> &PoolMetrics {
        &self.pool_metrics
    }
}

/// Makes an attempt at one of several hosts last at least this long.
fn wait_for_host(config: &mut Config, limit: Duration) {
    let usual = config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
    config.connect_timeout(usual.max(limit));
}

/// Opens a connection without a [`Database`], polled in the background: for work that comes before there is one, such
/// as migrations. Among several hosts it finds the primary. A user who may have more rights than `postgres` logs in by
/// [`crate::PrivilegedLogin`].
///
/// # Errors
/// When the login fails, or no primary is found in time.
pub async fn connect(config: &Config) -> Result<Client, Error> {
    let (client, connection) = open_session(&name_application(config)).await?;
    tokio::spawn(connection.run());
    Ok(client)
}

/// The login with a name for PostgreSQL's list of sessions, by which others see who keeps them waiting.
pub(crate) fn name_application(config: &Config) -> Config {
    let mut config = config.clone();
    if config.get_application_name().is_none() {
        config.application_name("selvedge");
    }
    config
}
