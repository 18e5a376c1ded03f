//! One PostgreSQL database, and how our parts log in to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{ListenEvent, PoolUse, RoleSettings, listen, tls, wire};

/// How long a service waits for a connection of a pool before it gives up.
const POOL_WAIT: Duration = Duration::from_secs(10);

/// Which of our parts logs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Login {
    /// Becomes the caller's role in each request transaction.
    Authenticator,
    /// Owns the schema `auth`.
    AuthAdmin,
    /// Owns the schema `storage`.
    StorageAdmin,
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

    /// One login for all parts: a database without a platform around it.
    pub fn of_one(config: Config) -> Self {
        Self::new(config.clone(), config.clone(), config)
    }

    fn config(&self, login: Login) -> Config {
        let mut config = self
            .by_login
            .get(&login)
            .cloned()
            .expect("new() takes every login");
        config.application_name("selvedge");
        config.connect_timeout(Duration::from_secs(10));
        config.keepalives_idle(Duration::from_secs(60));
        config
    }
}

/// A database, shared by all workers.
pub struct Database {
    logins: Logins,
    tls: MakeRustlsConnect,
    role_settings: ArcSwap<RoleSettings>,
    pool_use: PoolUse,
}

impl Database {
    /// Describes a database. Connects only to read the role settings, so that a wrong address is noticed at once.
    ///
    /// # Errors
    /// When the authenticator cannot log in.
    pub async fn connect(logins: Logins) -> Result<Arc<Self>, Error> {
        let database = Self::new(logins);
        database.reload_role_settings().await?;
        Ok(database)
    }

    /// Describes a database that need not be there yet.
    pub fn new(logins: Logins) -> Arc<Self> {
        Arc::new(Self {
            logins,
            tls: tls::connector(),
            role_settings: ArcSwap::default(),
            pool_use: PoolUse::default(),
        })
    }

    /// Opens one connection. The caller drives the second half.
    pub(crate) async fn open(
        &self,
        login: Login,
    ) -> Result<
        (
            Client,
            Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>,
        ),
        Error,
    > {
        self.logins.config(login).connect(self.tls.clone()).await
    }

    /// Opens a connection for our own messages.
    pub(crate) async fn open_wire(&self, login: Login) -> Result<wire::Opened, wire::ConnectError> {
        wire::open(&self.logins.config(login), &self.tls).await
    }

    /// A connection of its own, driven in the background: for work that must not share one.
    ///
    /// # Errors
    /// When the login fails.
    pub async fn client(&self, login: Login) -> Result<Client, Error> {
        Ok(drive(self.open(login).await?))
    }

    /// A pool of connections for work that needs one for itself: several statements in a transaction.
    ///
    /// # Panics
    /// Never: the pool has a runtime, and that is all its construction can miss.
    pub fn pool(&self, login: Login, size: usize) -> Pool {
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_config(
            self.logins.config(login),
            self.tls.clone(),
            ManagerConfig { recycling_method },
        );
        Pool::builder(manager)
            .max_size(size)
            .wait_timeout(Some(POOL_WAIT))
            .create_timeout(Some(POOL_WAIT))
            .runtime(Runtime::Tokio1)
            .build()
            .expect("a pool with timeouts needs a runtime, and has one")
    }

    /// Settings that `alter role … set` gave to the roles a request can run as.
    pub fn role_settings(&self) -> Arc<RoleSettings> {
        self.role_settings.load_full()
    }

    /// Reads the role settings again, so that `alter role` takes effect without a restart.
    ///
    /// # Errors
    /// When the database cannot be asked; the settings stay as they were.
    pub async fn reload_role_settings(&self) -> Result<(), Error> {
        let client = self.client(Login::Authenticator).await?;
        self.reload_role_settings_with(&client).await
    }

    /// The same on a connection that the caller has anyway, of [`Login::Authenticator`].
    ///
    /// # Errors
    /// When the database cannot be asked; the settings stay as they were.
    pub async fn reload_role_settings_with(&self, client: &Client) -> Result<(), Error> {
        self.role_settings
            .store(Arc::new(RoleSettings::load(client).await?));
        Ok(())
    }

    /// How the request pools use their connections.
    pub fn pool_use(&self) -> &PoolUse {
        &self.pool_use
    }

    /// Notifications of `channels`, from a connection of its own that is opened again whenever it is lost.
    pub fn listen(self: &Arc<Self>, channels: &[&'static str]) -> tokio::sync::mpsc::Receiver<ListenEvent> {
        listen::start(self.clone(), channels.to_vec())
    }
}

/// One connection outside of any [`Database`], driven in the background: for work before there is one, such as
/// migrations.
///
/// # Errors
/// When the login fails.
pub async fn connect(config: &Config) -> Result<Client, Error> {
    Ok(drive(config.connect(tls::connector()).await?))
}

/// Lets the connection's messages flow for as long as the client lives.
fn drive<S, T>((client, connection): (Client, Connection<S, T>)) -> Client
where
    Connection<S, T>: Future<Output = Result<(), Error>> + Send + 'static,
{
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a database connection ended");
        }
    });
    client
}
