//! Opens connections of `tokio-postgres` to the primary among several hosts.

use std::pin::Pin;

use deadpool_postgres::Connect;
use tokio::task::JoinHandle;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::last_host::{LastHost, with_single_host};

type TlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// The half of a connection that moves the messages, and when it is of no use any more.
pub(crate) struct HostConnection {
    pub(crate) connection: Connection<Socket, TlsStream>,
    /// Ends when the primary is found at another host.
    pub(crate) moved: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HostConnection {
    /// Moves the messages until the client is dropped, or the connection is lost.
    pub(crate) async fn run(self) {
        tokio::select! {
            ended = self.connection => if let Err(error) = ended {
                tracing::debug!(%error, "a database connection ended");
            },
            () = self.moved => tracing::debug!("a database connection was given up: the primary is another server now"),
        }
    }
}

/// Opens connections, beginning with the host that accepted a login last.
pub(crate) struct Connector {
    pub(crate) tls: MakeRustlsConnect,
    pub(crate) last_host: LastHost,
}

impl Connector {
    /// Opens a connection. Several hosts are tried in turn, each for the configuration's `connect_timeout`, which includes the login:
    /// a server that is frozen accepts connections and says nothing. While all of them are silent this waits, so callers need a
    /// time limit of their own.
    pub(crate) async fn open(&self, config: &Config) -> Result<(Client, HostConnection), Error> {
        let limit = config.get_connect_timeout().copied();
        let (Some(limit), true) = (limit, config.get_hosts().len() > 1) else {
            // There is no other host to try.
            return Ok(self.keep(config.connect(self.tls.clone()).await?, 0));
        };
        let mut refusal = None;
        loop {
            for host in self.last_host.order(config) {
                let single = with_single_host(config, host);
                match tokio::time::timeout(limit, single.connect(self.tls.clone())).await {
                    Ok(Ok(opened)) => {
                        self.last_host.set(host);
                        return Ok(self.keep(opened, host));
                    }
                    Ok(Err(error)) => refusal = Some(error),
                    // It says nothing, so neither does an error.
                    Err(_elapsed) => {}
                }
            }
            if let Some(error) = refusal.take() {
                return Err(error);
            }
        }
    }

    fn keep(
        &self,
        (client, connection): (Client, Connection<Socket, TlsStream>),
        host: usize,
    ) -> (Client, HostConnection) {
        let moved = Box::pin(self.last_host.moved_from(host));
        (client, HostConnection { connection, moved })
    }
}

impl Connect for Connector {
    fn connect(
        &self,
        config: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        let config = config.clone();
        Box::pin(async move {
            let (client, connection) = self.open(&config).await?;
            Ok((client, tokio::spawn(connection.run())))
        })
    }
}
