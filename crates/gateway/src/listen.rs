//! A plain HTTP server around an application, with the [`Intake`] in front of it, on sockets of all kinds.

use std::fmt;
use std::future::ready;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive, Request, Response};
use actix_server::{GracefulShutdownSignal, ServerBuilder};
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_tls::accept::TlsError;
use actix_tls::accept::rustls_0_23::{Acceptor, TlsStream, reexports::ServerConfig};
use actix_web::body::MessageBody;
use actix_web::dev::AppConfig;
use actix_web::rt::net::{TcpStream, UnixStream};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::intake::Intake;
use crate::visitors::Visitors;

/// How long connections may stay without use, as long as the framework's own servers let them.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long a client may take to acknowledge the end of a connection.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// What is agreed on with TLS clients: the one protocol that the [`Intake`] reads.
const ALPN: &[u8] = b"http/1.1";

/// Where requests come from.
#[derive(Debug)]
pub enum Listener {
    Tcp(TcpListener),
    /// The same, encrypted with a certificate of ours.
    Tls(TcpListener, Arc<ServerConfig>),
    Unix(UnixListener),
}

/// What one connection may cost.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// How long a request's head may take to arrive, and a connection to be used.
    pub head_timeout: Duration,
    /// Most open connections of one address, for each listener; any number if `None`.
    pub per_address: Option<usize>,
}

impl From<Duration> for ConnectionLimits {
    fn from(head_timeout: Duration) -> Self {
        Self {
            head_timeout,
            per_address: None,
        }
    }
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::Tcp(listener)
    }
}

impl From<UnixListener> for Listener {
    fn from(listener: UnixListener) -> Self {
        Self::Unix(listener)
    }
}

/// Serves the application on a listener.
///
/// # Errors
/// When the listener cannot be used.
pub fn listen<F, I, S, B>(
    builder: ServerBuilder,
    listener: impl Into<Listener>,
    limits: impl Into<ConnectionLimits>,
    application: F,
) -> io::Result<ServerBuilder>
where
    F: Fn() -> I + Send + Clone + 'static,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = AppConfig> + 'static,
    S::Service: 'static,
    S::Error: Into<actix_web::Error>,
    S::InitError: fmt::Debug,
    S::Response: Into<Response<B>>,
    B: MessageBody + 'static,
{
    let stopping = builder.graceful_shutdown_signal();
    let ConnectionLimits {
        head_timeout,
        per_address,
    } = limits.into();
    let visitors = Visitors::new(per_address);
    match listener.into() {
        Listener::Tcp(listener) => {
            let address = listener.local_addr()?;
            builder.listen(format!("http-{address}"), listener, move || {
                let visitors = visitors.clone();
                fn_service(move |stream: TcpStream| {
                    let peer = prepared(&stream);
                    ready(Ok((
                        Intake::new(stream, head_timeout, visitors.enter(peer)),
                        peer,
                    )))
                })
                .and_then(http(application().into_factory(), stopping.clone()))
            })
        }
        Listener::Tls(listener, config) => {
            let address = listener.local_addr()?;
            let mut config = ServerConfig::clone(&config);
            config.alpn_protocols = vec![ALPN.to_vec()];
            let mut acceptor = Acceptor::new(config);
            acceptor.set_handshake_timeout(head_timeout);
            builder.listen(format!("https-{address}"), listener, move || {
                let visitors = visitors.clone();
                handshake(acceptor.clone())
                    .and_then(fn_service(move |stream: TlsStream<TcpStream>| {
                        let peer = prepared(stream.get_ref().0);
                        ready(Ok((
                            Intake::new(stream, head_timeout, visitors.enter(peer)),
                            peer,
                        )))
                    }))
                    .and_then(http(application().into_factory(), stopping.clone()).map_err(TlsError::Service))
            })
        }
        Listener::Unix(listener) => {
            let name = format!("http-{:?}", listener.local_addr()?);
            builder.listen_uds(name, listener, move || {
                fn_service(move |stream: UnixStream| {
                    ready(Ok((Intake::new(stream, head_timeout, Ok(None)), None)))
                })
                .and_then(http(application().into_factory(), stopping.clone()))
            })
        }
    }
}

/// An answer is written at once; waiting for more to send would only delay it.
fn prepared(stream: &TcpStream) -> Option<SocketAddr> {
    let _ = stream.set_nodelay(true);
    stream.peer_addr().ok()
}

/// A connection becomes an encrypted one.
fn handshake(
    acceptor: Acceptor,
) -> impl ServiceFactory<
    TcpStream,
    Config = (),
    Response = TlsStream<TcpStream>,
    Error = TlsError<io::Error, DispatchError>,
    InitError = (),
> {
    acceptor.map_err(TlsError::into_service_error)
}

/// The application behind the protocol, for streams of any kind.
fn http<T, S, B>(
    application: S,
    stopping: GracefulShutdownSignal,
) -> impl ServiceFactory<
    (Intake<T>, Option<SocketAddr>),
    Config = (),
    Response = (),
    Error = DispatchError,
    InitError = (),
>
where
    T: AsyncRead + AsyncWrite + Unpin + 'static,
    S: ServiceFactory<Request, Config = AppConfig> + 'static,
    S::Service: 'static,
    S::Error: Into<actix_web::Error>,
    S::InitError: fmt::Debug,
    S::Response: Into<Response<B>>,
    B: MessageBody + 'static,
{
    let application = application.map_err(|error| error.into().error_response());
    HttpService::build()
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .keep_alive(KeepAlive::Timeout(KEEP_ALIVE))
        // the intake has words for those who are too slow
        .client_request_timeout(Duration::ZERO)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        // Only a request without a Host header would be told this configuration's.
        .h1(map_config(application, |()| AppConfig::default()))
}
