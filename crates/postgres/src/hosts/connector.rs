//! Opens `tokio-postgres` connections to the primary among several hosts.

use std::pin::Pin;
use std::time::Duration;

use deadpool_postgres::Connect;
use tokio::task::JoinHandle;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::ask_identity::read_identity;
use super::event_triggers::connect_to_host;
use super::identity::ServerIdentity;
use super::last_host::{Acceptance, LastHost, has_standbys};
use super::newest_primary::find_newest_primary;
use super::single_host::with_single_host;
use super::socket_folders::without_replaced_folder;
use crate::pools::SharedPools;

type TlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// How long one of several hosts has before the next one is tried.
pub(crate) const NEXT_HOST_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause before the hosts are tried again when only a former primary has responded.
const FORMER_PAUSE: Duration = Duration::from_millis(500);

/// A connection's task, which sends and receives its messages until the primary is another host.
pub(crate) struct HostConnection {
    pub(crate) connection: Connection<Socket, TlsStream>,
    /// Which of the configured hosts accepted the login.
    pub(crate) host: usize,
    /// Completes when another host has become the primary.
    pub(crate) moved: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HostConnection {
    /// Sends and receives messages until the client is dropped, the connection is lost, or another host becomes the primary.
    pub(crate) async fn run(self) {
        tokio::select! {
            ended = self.connection => if let Err(error) = ended {
                tracing::debug!(%error, "a database connection ended");
            },
            () = self.moved => tracing::debug!("a database connection was given up: the primary is another server now"),
        }
    }
}

/// Opens connections, and tries the host first that accepted a login last.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) tls: MakeRustlsConnect,
    pub(crate) last_host: LastHost,
    /// The pools for which connections are opened.
    pub(crate) pools: SharedPools,
}

impl Connector {
    /// Opens a connection. With several hosts each is tried in turn, for at most `connect_timeout`. Before the first login all hosts are
    /// asked for their timelines, so that a former primary is not taken for the primary. The limit includes the login,
    /// because a frozen server accepts the TCP connection and never responds. If no host responds but a former primary, the hosts are
    /// tried again without end, so callers need a time limit.
    ///
    /// # Errors
    /// The last error, when at least one host refused the connection or the login.
    pub(crate) async fn open(&self, config: &Config) -> Result<(Client, HostConnection), Error> {
        let limit = config.get_connect_timeout().copied();
        let (Some(limit), true) = (limit, config.get_hosts().len() > 1) else {
            if self.last_host.is_one_name() {
                return self.open_name(config).await;
            }
            // There is only one host, or no time limit for each.
            let config = without_replaced_folder(config);
            let opened = connect_to_host(&config, &self.tls).await?;
            return Ok(self.keep(opened, 0, ServerIdentity::default()));
        };
        if has_standbys(config) && !self.last_host.is_known() {
            self.find_newest_primary(config).await;
        }
        'all_hosts: loop {
            let (mut refusal, mut found_former) = (None, false);
            for host in self.last_host.order(config) {
                let start = self.last_host.start_attempt();
                match tokio::time::timeout(limit, self.log_in(config, host)).await {
                    Ok(Ok((opened, server))) => match self.last_host.accept(host, start, server) {
                        Acceptance::Primary => return Ok(self.keep(opened, host, server)),
                        // Another host became the primary during the attempt, and is tried first now.
                        Acceptance::Overtaken => continue 'all_hosts,
                        Acceptance::Former => found_former = true,
                    },
                    Ok(Err(error)) => refusal = Some(error),
                    // A host that does not respond has no error to report.
                    Err(_elapsed) => {}
                }
            }
            if let Some(error) = refusal {
                return Err(error);
            }
            if found_former {
                tokio::time::sleep(FORMER_PAUSE).await;
            }
        }
    }

    /// Asks all hosts for their timelines; see [`find_newest_primary`].
    pub(crate) async fn find_newest_primary(&self, config: &Config) {
        find_newest_primary(config, &self.tls, &self.last_host).await;
    }

    /// Opens a connection to the only name. While that leads to a former primary or a standby, the login is tried without end.
    async fn open_name(&self, config: &Config) -> Result<(Client, HostConnection), Error> {
        loop {
            let start = self.last_host.start_attempt();
            let (opened, server) = self.log_in(config, 0).await?;
            if self.last_host.accept(0, start, server) == Acceptance::Primary {
                return Ok(self.keep(opened, 0, server));
            }
            drop(opened);
            tokio::time::sleep(FORMER_PAUSE).await;
        }
    }

    /// Logs in to one of the hosts. Asks what server it is where several may say that they are the primary.
    async fn log_in(
        &self,
        config: &Config,
        host: usize,
    ) -> Result<((Client, Connection<Socket, TlsStream>), ServerIdentity), Error> {
        let single = with_single_host(config, host);
        let (client, mut connection) = connect_to_host(&single, &self.tls).await?;
        let server = read_identity(&client, &mut connection, config, &self.last_host).await?;
        Ok(((client, connection), server))
    }

    fn keep(
        &self,
        (client, connection): (Client, Connection<Socket, TlsStream>),
        host: usize,
        server: ServerIdentity,
    ) -> (Client, HostConnection) {
        let moved = Box::pin(self.last_host.moved_from(host, server));
        let connection = HostConnection {
            connection,
            host,
            moved,
        };
        (client, connection)
    }
}

impl Connect for Connector {
    fn connect(
        &self,
        config: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        let (connector, config) = (self.clone(), config.clone());
        Box::pin(async move {
            if let Some(runtime) = connector.pools.lasting_runtime() {
                let (connector, config) = (connector.clone(), config.clone());
                let opening = runtime.spawn(async move {
                    let (client, connection) = connector.open(&config).await?;
                    Ok((client, tokio::spawn(connection.run())))
                });
                if let Ok(opened) = opening.await {
                    return opened;
                }
                // That runtime has ended, so this thread is the last one.
            }
            let counted = connector.pools.count_opened();
            let (client, connection) = connector.open(&config).await?;
            let running = tokio::spawn(async move {
                connection.run().await;
                drop(counted);
            });
            Ok((client, running))
        })
    }
}
