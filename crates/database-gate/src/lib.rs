//! The gate by which people and their programs reach PostgreSQL of a home from elsewhere, over TLS. PostgreSQL itself listens on its own socket
//! alone, and the gate lets nobody pass but logins that `selvedge database login add` has made.
//!
//! In: bound ports, a certificate, and PostgreSQL's socket. Out: the bytes of sessions in both directions, once PostgreSQL has accepted the
//! password. Which rights a login has is PostgreSQL's to say.

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
use selvedge_limits::{ClientId, FairQueue, FairQueueLimits, LogGate, ShareLimit, Shares, Waiter};
use selvedge_postgres::cluster::DATABASE;
use selvedge_postgres::{Database, Login};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

use login::{CancelKeys, ClientStream, Conversation, LoginOutcome};
use startup::{Request, Startup, error_message, read_request};

/// The most sessions of all logins together. One login may have five.
pub const MAX_SESSIONS: usize = 25;
/// The most connections before their login, including those that wait for it, as each takes memory and a descriptor. A further one replaces one of a
/// network that has connected more often, or is closed.
const MAX_BEFORE_LOGIN: usize = 300;
/// How long a connection may take for TLS and its first message.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(5);
/// The most connections that PostgreSQL asks for a password at the same time. Further ones wait in a [`FairQueue`].
const MAX_LOGINS: usize = 16;
/// How long a connection may wait until PostgreSQL asks it for a password.
const WAIT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a client may take to answer with its password, and how long while others wait. Programs answer at once, and psql asks for the password
/// before it connects again.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(15);
const BUSY_LOGIN_TIMEOUT: Duration = Duration::from_secs(3);
/// How often a slow login checks whether others wait.
const WAITING_POLL: Duration = Duration::from_millis(100);
/// Once half of [`MAX_LOGINS`] log in, a network may have this many connections that log in or wait to. Its further ones are closed.
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

/// Finds a login that was added by `selvedge database login add`, with the statements that revoke rights it has got since from elsewhere; no row for
/// other names, nor where the session of this process is another role's.
const FIND_LOGIN: &str = "
    select _selvedge.further_memberships(r.oid)
    from _selvedge.selvedge_database_logins as l
    join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) l.role and r.rolname::pg_catalog.text operator(pg_catalog.=) l.name
    where l.name operator(pg_catalog.=) $1::pg_catalog.text
      and r.rolcanlogin and not (r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication)
      and ($2::pg_catalog.int4 is null or exists (
        select from pg_catalog.pg_stat_activity as a
        where a.pid operator(pg_catalog.=) $2::pg_catalog.int4 and a.usesysid operator(pg_catalog.=) r.oid
      ))";

/// The gate, with its limits and the way to PostgreSQL.
pub struct Gate {
    /// Sessions that look up which names are logins.
    login_lookup: Pool,
    /// PostgreSQL's socket.
    socket: PathBuf,
    tls: Option<TlsAcceptor>,
    before_login: FairQueue,
    shares_of_logins: Shares,
    sessions: Arc<Semaphore>,
    cancel_keys: CancelKeys,
    refusals: LogGate,
}

impl Gate {
    /// A gate to the PostgreSQL at `socket`. Without `tls` clients of this machine alone may log in.
    pub fn new(database: &Database, socket: PathBuf, tls: Option<&ServerConfig>) -> Self {
        let acceptor = tls.map(|config| {
            let mut config = config.clone();
            config.alpn_protocols = vec![ALPN_PROTOCOL.to_vec()];
            TlsAcceptor::from(Arc::new(config))
        });
        Self {
            login_lookup: database.pool(Login::Authenticator, 1),
            socket,
            tls: acceptor,
            before_login: FairQueue::new(FairQueueLimits {
                waiters: MAX_BEFORE_LOGIN,
                slots: MAX_LOGINS,
            }),
            shares_of_logins: Shares::limited(Some(SHARE_OF_LOGINS)),
            sessions: Arc::new(Semaphore::new(MAX_SESSIONS)),
            cancel_keys: CancelKeys::default(),
            refusals: LogGate::new(),
        }
    }

    /// Permits for sessions: those that are missing are open sessions, for which a stop waits.
    pub fn sessions(&self) -> Arc<Semaphore> {
        Arc::clone(&self.sessions)
    }

    /// Accepts connections on these ports until it is dropped.
    ///
    /// # Errors
    /// When a port cannot be used.
    pub async fn serve(self, ports: Vec<StdListener>) -> Result<()> {
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
        loop {
            match port.accept().await {
                Ok((client, address)) => self.clone().receive(client, address),
                Err(error) => {
                    tracing::warn!(%error, "a connection to the database's gate could not be accepted");
                    actix_web::rt::time::sleep(ACCEPT_RETRY_PAUSE).await;
                }
            }
        }
    }

    /// Serves a client, or closes its connection when the queue before the login is full.
    fn receive(self: Arc<Self>, client: TcpStream, address: SocketAddr) {
        let network = network_of(address.ip());
        match self.before_login.join(network) {
            Some(waiter) => {
                actix_web::rt::spawn(
                    async move { self.serve_client(client, address, network, waiter).await },
                );
            }
            None => self.log_refusal(&too_many_wait(), address, network),
        }
    }

    async fn serve_client(&self, client: TcpStream, address: SocketAddr, network: ClientId, waiter: Waiter) {
        let result = self.authenticate(client, address.ip(), network, waiter).await;
        match result {
            Ok(Some(session)) => {
                tracing::info!(login = session.user, client = %address.ip(), "a login came through the database's gate");
                // However the session ends, the client knows of it.
                let _ = self.serve_session(session, network).await;
            }
            Ok(None) => {}
            Err(error) => self.log_refusal(&error, address, network),
        }
    }

    fn log_refusal(&self, error: &io::Error, address: SocketAddr, network: ClientId) {
        if let Some(silent) = self.refusals.pass("database_gate", network) {
            tracing::info!(%error, client = %address.ip(), silent, "nobody came through the database's gate");
        }
    }

    /// Returns the session of a client that has logged in; `None` where the client has got its answer and nothing follows, such as a cancel request.
    async fn authenticate(
        &self,
        client: TcpStream,
        address: IpAddr,
        network: ClientId,
        waiter: Waiter,
    ) -> io::Result<Option<Session>> {
        let startup = tokio::time::timeout(STARTUP_TIMEOUT, self.read_startup(client, address));
        let startup = tokio::select! {
            startup = startup => startup.map_err(|_| io::ErrorKind::TimedOut)??,
            () = waiter.wait_until_evicted() => return Err(too_many_wait()),
        };
        let Some(mut caller) = startup else {
            return Ok(None);
        };
        if caller.startup.database() != DATABASE {
            let refusal = error_message("3D000", &format!("logins have the database {DATABASE} alone"));
            caller.client.write_all(&refusal).await?;
            caller.client.flush().await?;
            return Err(io::Error::other("it asked for another database"));
        }
        let too_many = |_| io::Error::other("its network has too many connections that have not logged in");
        let _share = self.shares_of_logins.take(network, 1).map_err(too_many)?;
        let waited = tokio::time::timeout(WAIT_TIMEOUT, waiter.wait_for_slot()).await;
        let slot = waited.map_err(|_| io::ErrorKind::TimedOut)?;
        let slot = slot.ok_or_else(too_many_wait)?;
        let logged_in = tokio::time::timeout(LOGIN_TIMEOUT, async {
            tokio::select! {
                session = self.log_in(caller, network) => session,
                () = self.wait_until_others_wait() => Err(io::Error::other("it did not answer, and others wait")),
            }
        });
        let session = logged_in.await.map_err(|_| io::ErrorKind::TimedOut)??;
        if session.is_some() {
            slot.forget_arrivals();
        }
        Ok(session)
    }

    /// Returns when a login has taken [`BUSY_LOGIN_TIMEOUT`] and others wait for its slot.
    async fn wait_until_others_wait(&self) {
        actix_web::rt::time::sleep(BUSY_LOGIN_TIMEOUT).await;
        while !self.before_login.has_waiting() {
            actix_web::rt::time::sleep(WAITING_POLL).await;
        }
    }

    async fn log_in(&self, mut caller: Caller, network: ClientId) -> io::Result<Option<Session>> {
        let user = caller.startup.user.clone();
        let is_login = self.is_login(&user, None, network).await;
        let is_login = is_login.map_err(io::Error::other)?;
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

    async fn serve_session(&self, mut session: Session, network: ClientId) -> io::Result<()> {
        let mut conversation =
            Conversation::resume(session.client.as_mut(), &mut session.server, session.unsent);
        let key = conversation.follow_start().await?;
        // PostgreSQL finds the role by its name again when it has checked the password. In version 15 `postgres` can give a name to another role
        // meanwhile, so what counts is whose session this is.
        let is_login = self.is_login(&session.user, Some(key.process()?), network);
        if !is_login.await.map_err(io::Error::other)? {
            tracing::warn!(
                login = session.user,
                "a session was ended, as it is not one of the login"
            );
            return conversation
                .refuse("28000", "the session is not one of the login")
                .await;
        }
        let unsent = conversation.into_unsent();
        session.client.write_all(&unsent).await?;
        session.client.flush().await?;
        let _registered = self.cancel_keys.add(key);
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

    /// Whether a name is that of a login, and the session of `process` is one of this login. One with rights that `login add` did not give is refused
    /// until they are revoked; the log has the statements.
    async fn is_login(&self, user: &str, process: Option<i32>, network: ClientId) -> Result<bool> {
        let session = self.login_lookup.get().await?;
        let Some(found) = session.query_opt(FIND_LOGIN, &[&user, &process]).await? else {
            return Ok(false);
        };
        let further: Option<String> = found.try_get(0)?;
        if let Some(statements) = &further
            && let Some(silent) = self.refusals.pass("database_gate_rights", network)
        {
            tracing::warn!(
                login = user,
                to_allow_it = statements,
                silent,
                "a login is refused, as it has become a member of other roles"
            );
        }
        Ok(further.is_none())
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

fn too_many_wait() -> io::Error {
    io::Error::other("too many connections of networks that come as rarely wait to log in")
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
