//! A plain HTTP server around an application, with the [`FramedStream`] in front of it, on sockets of all kinds.

mod connection_count;
mod drain;
mod hold;
mod http_framing;
mod limits;
mod local_hosts;
mod pipeline;
mod upgrade;

use std::fmt;
use std::future::ready;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive, Request, Response};
use actix_server::{GracefulShutdownSignal, ServerBuilder};
use actix_service::{
    IntoServiceFactory, Service as _, ServiceFactory, ServiceFactoryExt, apply_fn_factory, fn_service,
    map_config,
};
use actix_tls::accept::TlsError;
use actix_tls::accept::rustls_0_23::{Acceptor, TlsStream, reexports::ServerConfig};
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::AppConfig;
use actix_web::rt::net::{TcpStream, UnixStream};
use selvedge_limits::{ClientId, LogGate, Share, ShareExceeded, Shares};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::ContinueCheck;
pub use connection_count::open_connections;
pub use drain::Drain;
pub use hold::Hold;
use http_framing::FramedStream;
#[cfg(fuzzing)]
pub use http_framing::fuzzing;
pub use limits::{ConnectionLimits, TransferLimits};
pub use local_hosts::LocalHosts;
use pipeline::RequestInProgress;
use upgrade::UpgradeService;
pub use upgrade::{UpgradeDecision, UpgradeHandler, UpgradedStream};

/// How long a connection may wait for its next request. A client or proxy that keeps connections for longer than the server meets one
/// that is being closed, and its request fails. nginx and the load balancers of the clouds keep them for 60 s; 75 s is what nginx, and
/// so Kong in front of the original, grants its own clients.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a client may take to acknowledge the end of a connection.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// The protocol offered to TLS clients (ALPN): HTTP/2 would pass the [`FramedStream`] unread.
const ALPN: &[u8] = b"http/1.1";

/// The socket on which requests are accepted.
#[derive(Debug)]
pub enum Listener {
    Tcp(TcpListener),
    /// TCP with TLS. Protocols that the settings name are offered after HTTP's, and carry no requests: the connection ends with the handshake.
    Tls(TcpListener, Arc<ServerConfig>),
    Unix(UnixListener),
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
    B: MessageBody + Unpin + 'static,
{
    listen_with_upgrades(builder, listener, limits, application, || None)
}

/// Serves the application on a listener, and WebSocket handshakes by the handler that `upgrades` makes for each worker.
/// Where it makes none, the application answers handshakes like every other request.
///
/// # Errors
/// When the listener cannot be used.
pub fn listen_with_upgrades<F, U, I, S, B>(
    builder: ServerBuilder,
    listener: impl Into<Listener>,
    limits: impl Into<ConnectionLimits>,
    application: F,
    upgrades: U,
) -> io::Result<ServerBuilder>
where
    F: Fn() -> I + Send + Clone + 'static,
    U: Fn() -> Option<Rc<dyn UpgradeHandler>> + Send + Clone + 'static,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = AppConfig> + 'static,
    S::Service: 'static,
    S::Error: Into<actix_web::Error>,
    S::InitError: fmt::Debug,
    S::Response: Into<Response<B>>,
    B: MessageBody + Unpin + 'static,
{
    let stopping = builder.graceful_shutdown_signal();
    let limits: ConnectionLimits = limits.into();
    let connections = Shares::limited(limits.per_address);
    match listener.into() {
        Listener::Tcp(listener) => {
            let address = listener.local_addr()?;
            builder.listen(format!("http-{address}"), listener, move || {
                let (limits, continue_check) = (limits.clone(), limits.continue_check.clone());
                let connections = connections.clone();
                fn_service(move |stream: TcpStream| {
                    let peer = prepare(&stream);
                    ready(Ok((
                        FramedStream::new(stream, &limits, count_connection(&connections, peer)),
                        peer,
                    )))
                })
                .and_then(http(
                    application().into_factory(),
                    upgrades(),
                    stopping.clone(),
                    continue_check,
                ))
            })
        }
        Listener::Tls(listener, config) => {
            let address = listener.local_addr()?;
            let mut config = ServerConfig::clone(&config);
            config.alpn_protocols.insert(0, ALPN.to_vec());
            let mut acceptor = Acceptor::new(config);
            acceptor.set_handshake_timeout(limits.head_timeout);
            builder.listen(format!("https-{address}"), listener, move || {
                let (limits, continue_check) = (limits.clone(), limits.continue_check.clone());
                let connections = connections.clone();
                handshake(acceptor.clone())
                    .and_then(fn_service(move |stream: TlsStream<TcpStream>| {
                        let (tcp, tls) = stream.get_ref();
                        if tls.alpn_protocol().is_some_and(|protocol| protocol != ALPN) {
                            let ended = io::Error::from(io::ErrorKind::ConnectionAborted);
                            return ready(Err(TlsError::Service(DispatchError::Io(ended))));
                        }
                        let peer = prepare(tcp);
                        ready(Ok((
                            FramedStream::new(stream, &limits, count_connection(&connections, peer)),
                            peer,
                        )))
                    }))
                    .and_then(
                        http(
                            application().into_factory(),
                            upgrades(),
                            stopping.clone(),
                            continue_check,
                        )
                        .map_err(TlsError::Service),
                    )
            })
        }
        Listener::Unix(listener) => {
            let name = format!("http-{:?}", listener.local_addr()?);
            builder.listen_uds(name, listener, move || {
                let (limits, continue_check) = (limits.clone(), limits.continue_check.clone());
                fn_service(move |stream: UnixStream| {
                    ready(Ok((FramedStream::new(stream, &limits, Ok(None)), None)))
                })
                .and_then(http(
                    application().into_factory(),
                    upgrades(),
                    stopping.clone(),
                    continue_check,
                ))
            })
        }
    }
}

/// Counts a connection for its address. `None` without a limit and for unix sockets, which have no address.
fn count_connection(connections: &Shares, peer: Option<SocketAddr>) -> Result<Option<Share>, ShareExceeded> {
    static LOG: LazyLock<LogGate> = LazyLock::new(LogGate::new);

    let Some(peer) = peer else {
        return Ok(None);
    };
    let client = ClientId::of_connection(Some(peer.ip()));
    let counted = connections.take(client, 1);
    if counted.is_err()
        && let Some(silent) = LOG.pass("connections_per_address", client)
    {
        tracing::warn!(
            address = %peer.ip(), silent,
            "an address has as many connections as [selvedge.limits] connections_per_address allows, and further ones are refused; if it \
             is a proxy, set trusted_proxies"
        );
    }
    counted
}

/// Disables Nagle's algorithm, since responses are written whole, and returns the peer's address.
fn prepare(stream: &TcpStream) -> Option<SocketAddr> {
    let _ = stream.set_nodelay(true);
    stream.peer_addr().ok()
}

/// The TLS handshake.
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
    upgrades: Option<Rc<dyn UpgradeHandler>>,
    stopping: GracefulShutdownSignal,
    continue_check: Option<ContinueCheck>,
) -> impl ServiceFactory<
    (FramedStream<T>, Option<SocketAddr>),
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
    B: MessageBody + Unpin + 'static,
{
    let application = application.map_err(|error| error.into().error_response());
    let application = apply_fn_factory(application, |request: Request, application| {
        let in_progress = RequestInProgress::of(&request);
        let response = application.call(request);
        async move { Ok(in_progress.end_with(response.await?.into())) }
    });
    HttpService::build()
        .on_connect_ext(|stream: &FramedStream<T>, extensions| {
            extensions.insert(stream.pipeline());
        })
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .keep_alive(KeepAlive::Timeout(KEEP_ALIVE))
        // The framed stream limits the time for a head, and answers 408 in JSON.
        .client_request_timeout(Duration::ZERO)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        .expect(fn_service(move |request| {
            ready(check_continue(continue_check.as_ref(), request))
        }))
        // Only a request without a Host header would be told this configuration's.
        .h1(map_config(application, |()| AppConfig::default()))
        .upgrade(upgrades.map(UpgradeService::new))
}

/// Asks whether a client that waits for `100 Continue` may send its body. Returns the response that refuses it if not.
fn check_continue(check: Option<&ContinueCheck>, request: Request) -> Result<Request, Response<BoxBody>> {
    let Some(refusal) = check.and_then(|check| check.refuse_body(&request)) else {
        return Ok(request);
    };
    drop(RequestInProgress::of(&request));
    Err(refusal)
}

#[cfg(test)]
mod tests {
    use actix_web::{App, HttpRequest, HttpResponse, web};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Answers with a text a moment later, when heads that were sent at the same time have arrived as well.
    async fn answer(request: HttpRequest, number: web::Path<u8>) -> HttpResponse {
        actix_web::rt::time::sleep(Duration::from_millis(20)).await;
        HttpResponse::Ok().body(format!("{}/{number}", request.method()))
    }

    /// The response without its date.
    fn without_dates(text: &str) -> String {
        let lines = text.split_inclusive("\r\n");
        lines.filter(|line| !line.starts_with("date: ")).collect()
    }

    #[actix_web::test]
    async fn gw_049_each_response_is_that_of_its_own_request() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let application = || App::new().route("/{number}", web::to(answer));
        let builder = listen(
            ServerBuilder::new().workers(1).disable_signals(),
            listener,
            Duration::from_secs(10),
            application,
        );
        let server = builder.expect("it listens").run();
        let handle = server.handle();
        actix_web::rt::spawn(server);

        let mut client = TcpStream::connect(address).await.expect("connected");
        let get = |path| format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
        let requests = [
            get("/1"),
            get("/2").replace("GET", "HEAD"),
            "POST /3 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}".to_owned(),
            get("/4"),
            get("/5").replace("Host", "Connection: close\r\nHost"),
        ];
        client
            .write_all(requests.concat().as_bytes())
            .await
            .expect("sent");
        let mut answers = String::new();
        client.read_to_string(&mut answers).await.expect("answers");
        handle.stop(false).await;

        let response = |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n", body.len());
        let whole = |body: &str| format!("{}\r\n{body}", response(body));
        let expected = [
            whole("GET/1"),
            format!("{}\r\n", response("HEAD/2")),
            whole("POST/3"),
            whole("GET/4"),
            format!("{}connection: close\r\n\r\nGET/5", response("GET/5")),
        ];
        assert_eq!(without_dates(&answers), expected.concat());
    }
}
