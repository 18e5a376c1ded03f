//! A plain HTTP server around an application, with the [`Intake`] in front of it.

use std::fmt;
use std::io;
use std::net::TcpListener;
use std::time::Duration;

use actix_http::{HttpService, KeepAlive, Request, Response};
use actix_server::ServerBuilder;
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::body::MessageBody;
use actix_web::dev::AppConfig;
use actix_web::rt::net::TcpStream;

use crate::intake::Intake;

/// How long connections may stay without use, as long as the framework's own servers let them.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// How long a client may take to acknowledge the end of a connection.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves the application on a listener. `head_timeout` is how long a request's head may take to arrive.
///
/// # Errors
/// When the listener cannot be used.
pub fn listen<F, I, S, B>(
    builder: ServerBuilder,
    listener: TcpListener,
    head_timeout: Duration,
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
    let address = listener.local_addr()?;
    let stopping = builder.graceful_shutdown_signal();
    builder.listen(format!("http-{address}"), listener, move || {
        let stopping = stopping.clone();
        let application = application()
            .into_factory()
            .map_err(|error| error.into().error_response());
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(KeepAlive::Timeout(KEEP_ALIVE))
            .client_request_timeout(head_timeout)
            .client_disconnect_timeout(DISCONNECT_TIMEOUT)
            .local_addr(address)
            // Only a request without a Host header would be told this configuration's.
            .h1(map_config(application, |()| AppConfig::default()));
        fn_service(async |stream: TcpStream| {
            // An answer is written at once; waiting for more to send would only delay it.
            let _ = stream.set_nodelay(true);
            let peer = stream.peer_addr().ok();
            Ok((Intake::new(stream), peer))
        })
        .and_then(http)
    })
}
