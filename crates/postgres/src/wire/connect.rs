//! Opens a connection: socket, TLS, login.
//!
//! `tokio-postgres` logs in, because it implements every authentication method. It works on a handle ([`SharedStream`]) to
//! the stream, so that this module still owns the stream afterwards.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_postgres::config::{Host, SslMode, SslNegotiation, TargetSessionAttrs};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{CancelToken, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::session_settings::SessionSettings;
use crate::hosts::{
    Acceptance, LastHost, ServerIdentity, check_socket_folder, find_newest_primary, has_standbys,
    read_identity,
};

/// A byte stream to PostgreSQL, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Why a connection could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{0}")]
    Login(#[from] tokio_postgres::Error),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Unusable(&'static str),
}

impl ConnectError {
    /// The error with its causes, which `Display` of `tokio_postgres::Error` leaves out.
    pub(crate) fn describe(&self) -> String {
        let Self::Login(error) = self else {
            return self.to_string();
        };
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(inner) = cause {
            text.push_str(": ");
            text.push_str(&inner.to_string());
            cause = inner.source();
        }
        text
    }
}

/// A connection that has logged in, and what the server reported at login.
pub(crate) struct Opened {
    pub(crate) stream: Box<dyn Stream>,
    /// Whether the server was a standby, which cannot write until it is promoted.
    pub(crate) is_standby: bool,
    /// Whether `DateStyle` is ISO, the only one whose dates can become JSON in this process.
    pub(crate) iso_dates: bool,
    /// The session's settings, as far as the server reports them.
    pub(crate) settings: SessionSettings,
    /// Cancels the session's statement by a second connection to the same host.
    pub(crate) cancel: CancelToken,
    /// Which of the configured hosts accepted the login.
    pub(crate) host: usize,
    /// Completes when another host has become the primary.
    pub(crate) moved: Pin<Box<dyn Future<Output = ()>>>,
}

/// Opens a connection to one of the configured hosts that accepts the login.
pub(crate) async fn open_connection(
    config: &Config,
    tls: &MakeRustlsConnect,
    last: &LastHost,
) -> Result<Opened, ConnectError> {
    if has_standbys(config) && !last.is_known() {
        find_newest_primary(config, tls, last).await;
    }
    try_hosts(config, last, async |index| {
        let stream = connect_host(config, tls, index).await?;
        log_in(config, stream, index, last).await
    })
    .await
}

/// Tries one host after the other, and returns what `attempt` makes of the first that it succeeds with. `attempt` also returns the
/// what tells the server from others, if it is known; former primaries are passed over. When another host becomes the primary during an attempt,
/// the hosts are tried anew.
pub(crate) async fn try_hosts<T, E: From<ConnectError>>(
    config: &Config,
    last: &LastHost,
    attempt: impl AsyncFn(usize) -> Result<(T, ServerIdentity), E>,
) -> Result<T, E> {
    'all_hosts: loop {
        let mut refusal = ConnectError::Unusable("no host is configured").into();
        for index in last.order(config) {
            let start = last.start_attempt();
            let outcome = match config.get_connect_timeout() {
                Some(limit) => tokio::time::timeout(*limit, attempt(index))
                    .await
                    .unwrap_or_else(|_| {
                        Err(ConnectError::from(io::Error::from(io::ErrorKind::TimedOut)).into())
                    }),
                None => attempt(index).await,
            };
            match outcome {
                Ok((opened, server)) => match last.accept(index, start, server) {
                    Acceptance::Primary => return Ok(opened),
                    Acceptance::Overtaken => continue 'all_hosts,
                    Acceptance::Former => refusal = ConnectError::Unusable(FORMER_PRIMARY_ERROR).into(),
                },
                Err(error) => refusal = error,
            }
        }
        return Err(refusal);
    }
}

/// Whether only a server that accepts writes is wanted, and this one is a standby. `in_hot_standby` is what it reported
/// at login.
pub(crate) fn is_unwanted_standby(config: &Config, in_hot_standby: Option<&str>) -> bool {
    config.get_target_session_attrs() == TargetSessionAttrs::ReadWrite && in_hot_standby == Some("on")
}

const FORMER_PRIMARY_ERROR: &str = "the server is a former primary, which does not know of the present one";

/// Error text for a standby when the configuration requires a server that accepts writes.
pub(crate) const STANDBY_ERROR: &str = "the server is a standby, which cannot write";

/// Connects to the host at `index` of the configuration, with TLS where it is configured, without logging in.
pub(crate) async fn connect_host(
    config: &Config,
    tls: &MakeRustlsConnect,
    index: usize,
) -> Result<Box<dyn Stream>, ConnectError> {
    let ports = config.get_ports();
    let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
    match config.get_hosts().get(index) {
        None => Err(ConnectError::Unusable("no host is configured")),
        Some(Host::Unix(folder)) => {
            check_socket_folder(folder)?;
            let socket = folder.join(format!(".s.PGSQL.{port}"));
            Ok(Box::new(UnixStream::connect(socket).await?))
        }
        Some(Host::Tcp(name)) => {
            let stream = match config.get_hostaddrs().get(index) {
                Some(address) => TcpStream::connect((*address, port)).await?,
                None => TcpStream::connect((name.as_str(), port)).await?,
            };
            stream.set_nodelay(true)?;
            keep_alive(config, &stream)?;
            encrypt_stream(config, tls, name, stream).await
        }
    }
}

fn keep_alive(config: &Config, stream: &TcpStream) -> io::Result<()> {
    if !config.get_keepalives() {
        return Ok(());
    }
    let mut settings = TcpKeepalive::new().with_time(config.get_keepalives_idle());
    if let Some(interval) = config.get_keepalives_interval() {
        settings = settings.with_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        settings = settings.with_retries(retries);
    }
    // Keepalives are not sent while data waits for its acknowledgement, so that case needs a separate limit.
    #[cfg(target_os = "linux")]
    SockRef::from(stream).set_tcp_user_timeout(config.get_tcp_user_timeout().copied())?;
    SockRef::from(stream).set_tcp_keepalive(&settings)
}

async fn encrypt_stream(
    config: &Config,
    tls: &MakeRustlsConnect,
    host: &str,
    mut stream: TcpStream,
) -> Result<Box<dyn Stream>, ConnectError> {
    let required = match config.get_ssl_mode() {
        SslMode::Disable => return Ok(Box::new(stream)),
        SslMode::Prefer => false,
        _ => true,
    };
    if config.get_ssl_negotiation() == SslNegotiation::Postgres {
        let mut request = bytes::BytesMut::new();
        postgres_protocol::message::frontend::ssl_request(&mut request);
        stream.write_all(&request).await?;
        // Exactly one byte is read: anything that an attacker sent unencrypted behind it must not count as server data.
        if stream.read_u8().await? != b'S' {
            return if required {
                Err(ConnectError::Unusable("the server does not support TLS"))
            } else {
                Ok(Box::new(stream))
            };
        }
    }
    let connector =
        <MakeRustlsConnect as MakeTlsConnect<TcpStream>>::make_tls_connect(&mut tls.clone(), host)
            .map_err(io::Error::other)?;
    Ok(Box::new(connector.connect(stream).await?))
}

async fn log_in(
    config: &Config,
    stream: Box<dyn Stream>,
    host: usize,
    last: &LastHost,
) -> Result<(Opened, ServerIdentity), ConnectError> {
    let lent = SharedStream(Rc::new(RefCell::new(stream)));
    let owner = Rc::clone(&lent.0);
    let mut config = config.clone();
    // TLS, where configured, has been negotiated before; the driver must not negotiate it a second time.
    config.ssl_mode(SslMode::Disable);
    let (client, mut connection) = config.connect_raw(lent, NoTls).await?;
    let says = |name: &str| connection.parameter(name);
    if is_unwanted_standby(&config, says("in_hot_standby")) {
        return Err(ConnectError::Unusable(STANDBY_ERROR));
    }
    let is_standby = says("in_hot_standby") == Some("on");
    let iso_dates = says("DateStyle").is_some_and(|style| style.starts_with("ISO"));
    let settings = SessionSettings::at_login(says);
    let server = read_identity(&client, &mut connection, &config, last).await?;
    let cancel = client.cancel_token();
    // Dropping them sends nothing to the server: messages are written only while the connection is polled.
    drop(client);
    drop(connection);
    let stream = Rc::into_inner(owner).ok_or(ConnectError::Unusable("the driver kept the stream"))?;
    let opened = Opened {
        stream: stream.into_inner(),
        is_standby,
        iso_dates,
        settings,
        cancel,
        host,
        moved: Box::pin(last.moved_from(host, server)),
    };
    Ok((opened, server))
}

/// The handle to the stream that `tokio-postgres` gets; [`log_in`] keeps the stream.
struct SharedStream(Rc<RefCell<Box<dyn Stream>>>);

impl AsyncRead for SharedStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_read(cx, buf)
    }
}

impl AsyncWrite for SharedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // tokio-postgres has finished with the stream, which stays open for our messages.
        Poll::Ready(Ok(()))
    }
}
