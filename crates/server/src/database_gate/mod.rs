//! The gate by which people and their programs reach PostgreSQL of a home from elsewhere, over TLS. PostgreSQL itself listens on its own socket
//! alone, and the gate lets nobody pass but logins that `selvedge database login add` has made.

mod login;
mod startup;

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener as StdListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use bytes::BytesMut;
use deadpool_postgres::Pool;
use rustls::ServerConfig;
use selvedge_limits::{ClientId, LogGate, ShareLimit, Shares};
use selvedge_postgres::{Database, Login};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::error::SqlState;
use tokio_rustls::TlsAcceptor;

use self::login::{CancelKeys, Conversation, Duplex, LoginOutcome};
use self::startup::{Request, Startup, error_message, read_request};

/// The connections of all logins together, of which each has five.
pub(crate) const MOST_CONNECTIONS: usize = 25;
/// The connections that have not said who they are. They take memory alone; more wait to be accepted.
const MOST_UNKNOWN: usize = 300;
/// How long one may be silent.
const GREETING_TIME: Duration = Duration::from_secs(5);
/// Those that PostgreSQL asks for a password. More wait for a place.
const MOST_LOGINS: usize = 16;
/// How long one may wait and take for it.
const LOGIN_TIME: Duration = Duration::from_secs(15);
/// What one network may have of both, once half of all are taken. More are closed, so that nobody keeps all others out.
const SHARE_OF_UNKNOWN: ShareLimit = ShareLimit {
    most: 10,
    counts_from: MOST_UNKNOWN / 2,
};
const SHARE_OF_LOGINS: ShareLimit = ShareLimit {
    most: 4,
    counts_from: MOST_LOGINS / 2,
};
/// The bits of the networks that owners of IPv6 addresses have.
const NETWORK_BITS: u32 = 48;
/// The pause after a connection that could not be accepted, such as for want of handles.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a client may be silent until it is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// How much of a name that a client says is logged. PostgreSQL's names are no longer.
const SHOWN_CHARACTERS: usize = 63;
/// The protocol that clients of PostgreSQL 17 name in TLS.
const PROTOCOL: &[u8] = b"postgresql";

/// Logins for people are those that `selvedge database login add` has noted, and none that has got further rights since.
const IS_LOGIN: &str = "
    select exists (
      select from _selvedge.database_logins as l
      join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) l.role and r.rolname::pg_catalog.text operator(pg_catalog.=) l.name
      where l.name operator(pg_catalog.=) $1::pg_catalog.text
        and r.rolcanlogin and not (r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication)
        and not exists (
          select from pg_catalog.pg_auth_members as m
          join pg_catalog.pg_roles as found on found.oid operator(pg_catalog.=) m.roleid
          join pg_catalog.pg_roles as member on member.oid operator(pg_catalog.=) m.member
          where (member.oid operator(pg_catalog.=) r.oid
              and found.rolname operator(pg_catalog.<>) all (array['selvedge_readers', 'selvedge_writers']::pg_catalog.name[]))
            or member.rolname operator(pg_catalog.=) any (array['selvedge_readers', 'selvedge_writers']::pg_catalog.name[])))";

/// What the gate needs of a server.
pub(crate) struct Gate {
    logins: Pool,
    /// PostgreSQL's socket.
    socket: PathBuf,
    tls: Option<TlsAcceptor>,
    unknown: Arc<Semaphore>,
    logins_at_once: Semaphore,
    shares_of_unknown: Shares,
    shares_of_logins: Shares,
    connections: Arc<Semaphore>,
    cancel_keys: CancelKeys,
    refusals: LogGate,
}

impl Gate {
    /// A gate to the PostgreSQL at `socket`. Without `tls` clients of this machine alone may log in.
    pub(crate) fn new(database: &Database, socket: PathBuf, tls: Option<&ServerConfig>) -> Self {
        let acceptor = tls.map(|config| {
            let mut config = config.clone();
            config.alpn_protocols = vec![PROTOCOL.to_vec()];
            TlsAcceptor::from(Arc::new(config))
        });
        Self {
            logins: database.pool(Login::Authenticator, 1),
            socket,
            tls: acceptor,
            unknown: Arc::new(Semaphore::new(MOST_UNKNOWN)),
            logins_at_once: Semaphore::new(MOST_LOGINS),
            shares_of_unknown: Shares::limited(Some(SHARE_OF_UNKNOWN)),
            shares_of_logins: Shares::limited(Some(SHARE_OF_LOGINS)),
            connections: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
            cancel_keys: CancelKeys::default(),
            refusals: LogGate::new(),
        }
    }

    /// Accepts connections on these ports until it is dropped.
    ///
    /// # Errors
    /// When a port cannot be used.
    pub(crate) async fn serve(self, ports: Vec<StdListener>) -> Result<()> {
        let gate = Arc::new(self);
        let mut accepting = Vec::new();
        for port in ports {
            port.set_nonblocking(true)?;
            accepting.push(gate.clone().accept(TcpListener::from_std(port)?));
        }
        futures_util::future::join_all(accepting).await;
        Ok(())
    }

    async fn accept(self: Arc<Self>, port: TcpListener) {
        // Never closed.
        while let Ok(unknown) = self.unknown.clone().acquire_owned().await {
            match port.accept().await {
                Ok((client, address)) => {
                    let gate = self.clone();
                    actix_web::rt::spawn(async move { gate.serve_client(client, address, unknown).await });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection to the database's gate could not be accepted");
                    actix_web::rt::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn serve_client(&self, client: TcpStream, address: SocketAddr, unknown: OwnedSemaphorePermit) {
        let network = network_of(address.ip());
        let result = self.let_in(client, address.ip(), network, unknown).await;
        match result {
            Ok(Some(session)) => {
                tracing::info!(login = session.user, client = %address.ip(), "a login came through the database's gate");
                // Either side may end it.
                let _ = self.serve_session(session).await;
            }
            Ok(None) => {}
            Err(error) => {
                if let Some(silent) = self.refusals.pass("database_gate", network) {
                    tracing::info!(%error, client = %address.ip(), silent, "nobody came through the database's gate");
                }
            }
        }
    }

    /// Returns who has logged in; `None` when the client was answered for good.
    async fn let_in(
        &self,
        client: TcpStream,
        address: IpAddr,
        network: ClientId,
        unknown: OwnedSemaphorePermit,
    ) -> io::Result<Option<Session>> {
        let too_many = |_| io::Error::other("its network has too many connections that have not logged in");
        let share = self.shares_of_unknown.take(network, 1).map_err(too_many)?;
        let greeted = tokio::time::timeout(GREETING_TIME, self.greet(client, address)).await;
        drop((share, unknown));
        let Some(caller) = greeted.map_err(|_| io::ErrorKind::TimedOut)?? else {
            return Ok(None);
        };
        let _share = self.shares_of_logins.take(network, 1).map_err(too_many)?;
        let login = async {
            let _turn = self.logins_at_once.acquire().await.map_err(io::Error::other)?;
            self.log_in(caller).await
        };
        tokio::time::timeout(LOGIN_TIME, login)
            .await
            .map_err(|_| io::ErrorKind::TimedOut)?
    }

    async fn log_in(&self, mut caller: Caller) -> io::Result<Option<Session>> {
        let user = caller.startup.user.clone();
        let is_login = self.is_login(&user).await.map_err(io::Error::other)?;
        let mut server = UnixStream::connect(&self.socket).await?;
        let message = match is_login {
            true => caller.startup.message(),
            false => caller.startup.message_of_nobody(),
        };
        server.write_all(&message).await?;
        let mut conversation = Conversation::new(caller.client.as_mut(), &mut server);
        if conversation.follow_login(&user, is_login).await? == LoginOutcome::Refused {
            let shown: String = user.chars().take(SHOWN_CHARACTERS).collect();
            return Err(io::Error::other(format!("the login of {shown:?} was refused")));
        }
        let Ok(place) = self.connections.clone().try_acquire_owned() else {
            conversation.refuse("53300", "too many connections").await?;
            return Err(io::Error::other("there are too many connections"));
        };
        let unsent = conversation.accept().await?;
        Ok(Some(Session {
            client: caller.client,
            server,
            unsent,
            user,
            _place: place,
        }))
    }

    async fn serve_session(&self, mut session: Session) -> io::Result<()> {
        let mut conversation =
            Conversation::resume(session.client.as_mut(), &mut session.server, session.unsent);
        let key = conversation.follow_start().await?;
        let unsent = conversation.into_unsent();
        session.client.write_all(&unsent).await?;
        let _known = key.map(|key| self.cancel_keys.add(key));
        copy_bidirectional(&mut session.client, &mut session.server).await?;
        Ok(())
    }

    /// Finds out who the client says to be; `None` when it was answered for good.
    async fn greet(&self, mut client: TcpStream, address: IpAddr) -> io::Result<Option<Caller>> {
        client.set_nodelay(true)?;
        SockRef::from(&client).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE))?;
        let mut has_asked = false;
        loop {
            match read_request(&mut client).await? {
                Request::Tls if !has_asked => {
                    has_asked = true;
                    let Some(tls) = &self.tls else {
                        client.write_all(b"N").await?;
                        continue;
                    };
                    // Nothing was read ahead, so no byte from before the handshake counts after it.
                    client.write_all(b"S").await?;
                    let mut client = tls.accept(client).await?;
                    return match read_request(&mut client).await? {
                        Request::Startup(startup) => Ok(Some(Caller::new(client, startup))),
                        Request::Cancel(message) => self.cancel(&message).await,
                        Request::Tls | Request::Gss => Ok(None),
                    };
                }
                Request::Gss if !has_asked => client.write_all(b"N").await?,
                Request::Cancel(message) => return self.cancel(&message).await,
                Request::Startup(startup) if self.tls.is_none() && address.to_canonical().is_loopback() => {
                    return Ok(Some(Caller::new(client, startup)));
                }
                _ => {
                    let refusal = error_message("28000", "this server asks for TLS: sslmode=verify-full");
                    client.write_all(&refusal).await?;
                    return Ok(None);
                }
            }
        }
    }

    async fn is_login(&self, user: &str) -> Result<bool> {
        let session = self.logins.get().await?;
        match session.query_one(IS_LOGIN, &[&user]).await {
            // Nobody has added one yet.
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(false),
            found => Ok(found?.try_get(0)?),
        }
    }

    /// Passes on a request to cancel what a session of the gate does. Keys of other sessions cannot be tried here.
    async fn cancel<T>(&self, message: &[u8]) -> io::Result<Option<T>> {
        if self.cancel_keys.has(message) {
            let mut server = UnixStream::connect(&self.socket).await?;
            server.write_all(message).await?;
            server.shutdown().await?;
        }
        Ok(None)
    }
}

/// Whom shares count: an address, or a network of IPv6.
fn network_of(address: IpAddr) -> ClientId {
    ClientId::Network(match address.to_canonical() {
        IpAddr::V6(address) => {
            let host = 128 - NETWORK_BITS;
            Ipv6Addr::from_bits(address.to_bits() >> host << host).into()
        }
        address => address,
    })
}

/// A client before its login.
struct Caller {
    client: Box<dyn Duplex>,
    startup: Startup,
}

impl Caller {
    fn new(client: impl Duplex + 'static, startup: Startup) -> Self {
        let client = Box::new(client);
        Self { client, startup }
    }
}

/// A client that has logged in.
struct Session {
    client: Box<dyn Duplex>,
    server: UnixStream,
    /// What PostgreSQL has said and the client has not got yet.
    unsent: BytesMut,
    user: String,
    _place: OwnedSemaphorePermit,
}
