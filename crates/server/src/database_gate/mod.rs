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

use self::login::{CancelKeys, ClientStream, Conversation, LoginOutcome};
use self::startup::{Request, Startup, error_message, read_request};

/// The most sessions of all logins together. One login may have five.
pub(crate) const MAX_SESSIONS: usize = 25;
/// The most connections that have not begun to log in, those that wait for a place included. They take memory and a descriptor each; the system
/// keeps further ones until there is room.
const MAX_BEFORE_LOGIN: usize = 300;
/// How long a connection may take for TLS and its first message.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(5);
/// The most connections that PostgreSQL asks for a password at the same time. Further ones wait.
const MAX_LOGINS: usize = 16;
/// How long a connection may wait until PostgreSQL asks it for a password.
const WAIT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long it may take to answer.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(15);
/// How many of either one network may have once half of them are taken. Its further connections are closed, so that it cannot keep others out.
const SHARE_BEFORE_LOGIN: ShareLimit = ShareLimit {
    most: 10,
    counts_from: MAX_BEFORE_LOGIN / 2,
};
const SHARE_OF_LOGINS: ShareLimit = ShareLimit {
    most: 4,
    counts_from: MAX_LOGINS / 2,
};
/// The length of the prefix by which addresses of IPv6 count as one network: who has one address usually has that many.
const NETWORK_PREFIX: u32 = 48;
/// The pause after a connection could not be accepted, for example because the process has no descriptor left.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(200);
/// How long a client may be silent until it is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// The most characters of a client's name that are logged. Names in PostgreSQL are not longer.
const MAX_LOGGED_CHARACTERS: usize = 63;
/// The name of PostgreSQL's protocol in ALPN, which clients from version 17 on ask for.
const ALPN_PROTOCOL: &[u8] = b"postgresql";

/// Whether a name is that of a login that `selvedge database login add` has noted, and that has no further rights since.
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

/// The gate, with its limits and the way to PostgreSQL.
pub(crate) struct Gate {
    /// Sessions that look up which names are logins.
    login_lookup: Pool,
    /// PostgreSQL's socket.
    socket: PathBuf,
    tls: Option<TlsAcceptor>,
    before_login: Arc<Semaphore>,
    login_places: Semaphore,
    shares_before_login: Shares,
    shares_of_logins: Shares,
    sessions: Arc<Semaphore>,
    cancel_keys: CancelKeys,
    refusals: LogGate,
}

impl Gate {
    /// A gate to the PostgreSQL at `socket`. Without `tls` clients of this machine alone may log in.
    pub(crate) fn new(database: &Database, socket: PathBuf, tls: Option<&ServerConfig>) -> Self {
        let acceptor = tls.map(|config| {
            let mut config = config.clone();
            config.alpn_protocols = vec![ALPN_PROTOCOL.to_vec()];
            TlsAcceptor::from(Arc::new(config))
        });
        Self {
            login_lookup: database.pool(Login::Authenticator, 1),
            socket,
            tls: acceptor,
            before_login: Arc::new(Semaphore::new(MAX_BEFORE_LOGIN)),
            login_places: Semaphore::new(MAX_LOGINS),
            shares_before_login: Shares::limited(Some(SHARE_BEFORE_LOGIN)),
            shares_of_logins: Shares::limited(Some(SHARE_OF_LOGINS)),
            sessions: Arc::new(Semaphore::new(MAX_SESSIONS)),
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
        // The semaphore is never closed, so this goes on until the future is dropped.
        while let Ok(place) = self.before_login.clone().acquire_owned().await {
            match port.accept().await {
                Ok((client, address)) => {
                    let gate = self.clone();
                    actix_web::rt::spawn(async move { gate.serve_client(client, address, place).await });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection to the database's gate could not be accepted");
                    actix_web::rt::time::sleep(ACCEPT_RETRY_PAUSE).await;
                }
            }
        }
    }

    async fn serve_client(&self, client: TcpStream, address: SocketAddr, place: OwnedSemaphorePermit) {
        let network = network_of(address.ip());
        let result = self.authenticate(client, address.ip(), network, place).await;
        match result {
            Ok(Some(session)) => {
                tracing::info!(login = session.user, client = %address.ip(), "a login came through the database's gate");
                // However the session ends, the client knows of it.
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

    /// Returns the session of a client that has logged in; `None` where the client has got its answer and nothing follows, such as a cancel request.
    async fn authenticate(
        &self,
        client: TcpStream,
        address: IpAddr,
        network: ClientId,
        place: OwnedSemaphorePermit,
    ) -> io::Result<Option<Session>> {
        let too_many = |_| io::Error::other("its network has too many connections that have not logged in");
        let share = self.shares_before_login.take(network, 1).map_err(too_many)?;
        let startup = tokio::time::timeout(STARTUP_TIMEOUT, self.read_startup(client, address)).await;
        let Some(caller) = startup.map_err(|_| io::ErrorKind::TimedOut)?? else {
            return Ok(None);
        };
        let _share = self.shares_of_logins.take(network, 1).map_err(too_many)?;
        let waited = tokio::time::timeout(WAIT_TIMEOUT, self.login_places.acquire()).await;
        let _login_place = waited
            .map_err(|_| io::ErrorKind::TimedOut)?
            .map_err(io::Error::other)?;
        drop((share, place));
        tokio::time::timeout(LOGIN_TIMEOUT, self.log_in(caller))
            .await
            .map_err(|_| io::ErrorKind::TimedOut)?
    }

    async fn log_in(&self, mut caller: Caller) -> io::Result<Option<Session>> {
        let user = caller.startup.user.clone();
        let is_login = self.is_login(&user).await.map_err(io::Error::other)?;
        let mut server = UnixStream::connect(&self.socket).await?;
        let message = match is_login {
            true => caller.startup.message(),
            false => caller.startup.message_of_missing_role(),
        };
        server.write_all(&message).await?;
        let mut conversation = Conversation::new(caller.client.as_mut(), &mut server);
        if conversation.follow_login(&user, is_login).await? == LoginOutcome::Refused {
            let shown: String = user.chars().take(MAX_LOGGED_CHARACTERS).collect();
            return Err(io::Error::other(format!("the login of {shown:?} was refused")));
        }
        let Ok(place) = self.sessions.clone().try_acquire_owned() else {
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
        let _registered = key.map(|key| self.cancel_keys.add(key));
        copy_bidirectional(&mut session.client, &mut session.server).await?;
        Ok(())
    }

    /// Reads the first message, by which the client says who it is; `None` where it has got its answer and nothing follows.
    async fn read_startup(&self, mut client: TcpStream, address: IpAddr) -> io::Result<Option<Caller>> {
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
        let session = self.login_lookup.get().await?;
        match session.query_one(IS_LOGIN, &[&user]).await {
            // The first `login add` makes the table.
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(false),
            found => Ok(found?.try_get(0)?),
        }
    }

    /// Passes on a request to cancel a statement of a session that came through the gate. Others are dropped, so that nobody tries keys here.
    async fn cancel<T>(&self, message: &[u8]) -> io::Result<Option<T>> {
        if self.cancel_keys.has(message) {
            let mut server = UnixStream::connect(&self.socket).await?;
            server.write_all(message).await?;
            server.shutdown().await?;
        }
        Ok(None)
    }
}

/// Whose share a connection counts in: that of its IPv4 address or its IPv6 network.
fn network_of(address: IpAddr) -> ClientId {
    ClientId::Network(match address.to_canonical() {
        IpAddr::V6(address) => {
            let host = 128 - NETWORK_PREFIX;
            Ipv6Addr::from_bits(address.to_bits() >> host << host).into()
        }
        address => address,
    })
}

/// A client before its login.
struct Caller {
    client: Box<dyn ClientStream>,
    startup: Startup,
}

impl Caller {
    fn new(client: impl ClientStream + 'static, startup: Startup) -> Self {
        let client = Box::new(client);
        Self { client, startup }
    }
}

/// A client that has logged in.
struct Session {
    client: Box<dyn ClientStream>,
    server: UnixStream,
    /// What was read from PostgreSQL and not yet sent to the client.
    unsent: BytesMut,
    user: String,
    _place: OwnedSemaphorePermit,
}
