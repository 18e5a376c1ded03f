//! WebSocket upgrades: from a parsed handshake to a bare connection that a service owns.
//!
//! A request with `Upgrade: websocket` never reaches the application. actix-http hands its connection to the upgrade
//! service made here, which asks an [`UpgradeHandler`] whether to accept, answers on the wire, and passes the bare
//! stream on: neither HTTP framing nor actix's dispatcher remains in memory while the socket lives.

use std::fmt;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use actix_codec::Framed;
use actix_http::h1::{Codec, SendResponse};
use actix_http::{Request, Response};
use actix_service::{Service as ActixService, ServiceFactory};
use actix_web::HttpResponse;
use actix_web::body::{BoxBody, to_bytes};
use actix_web::http::{StatusCode, header};
use bytes::BytesMut;
use futures_util::future::LocalBoxFuture;
use selvedge_limits::Share;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

use super::http_framing::FramedStream;
use crate::{GatewayError, RequestId, Service, cors, metrics, routed_path};

/// A service's decision about a WebSocket handshake.
pub enum UpgradeDecision {
    /// Answer with this response and close the connection.
    Refuse(HttpResponse),
    /// The decision takes time; it must not be another `Later`.
    Later(LocalBoxFuture<'static, UpgradeDecision>),
    /// Answer 101 with these headers, then hand the connection over.
    Accept {
        /// Headers of the 101 response besides `Connection` and `Upgrade`.
        headers: Vec<(&'static str, String)>,
        /// Takes the connection; called on the worker's thread, where it may spawn local tasks.
        serve: Box<dyn FnOnce(UpgradedStream)>,
    },
}

/// Decides about WebSocket handshakes; one per worker thread.
pub trait UpgradeHandler {
    /// Decides about one handshake, of which only the head has been read.
    fn decide(&self, request: &Request) -> UpgradeDecision;
}

/// A connection after its upgrade: bytes pass unparsed.
pub struct UpgradedStream {
    stream: Box<dyn Duplex>,
    unread: BytesMut,
    /// Keeps the connection counted against its address.
    _connection: Option<Share>,
}

trait Duplex: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Duplex for T {}

impl UpgradedStream {
    /// A stream from parts, for tests and for connections of other origins.
    pub fn new(stream: impl AsyncRead + AsyncWrite + Unpin + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            unread: BytesMut::new(),
            _connection: None,
        }
    }

    /// Takes the bytes that arrived together with the request's head. They come before everything read from the stream.
    pub fn take_unread(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.unread).into()
    }
}

impl fmt::Debug for UpgradedStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("UpgradedStream").finish_non_exhaustive()
    }
}

impl AsyncRead for UpgradedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for UpgradedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream).poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream).poll_shutdown(cx)
    }
}

/// A request with its connection, as actix-http passes it on.
type Handshake<T> = (Request, Framed<FramedStream<T>, Codec>);

/// The upgrade service of actix-http around an [`UpgradeHandler`].
#[derive(Clone)]
pub(crate) struct UpgradeService {
    handler: Rc<dyn UpgradeHandler>,
}

impl UpgradeService {
    pub(crate) fn new(handler: Rc<dyn UpgradeHandler>) -> Self {
        Self { handler }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin + 'static> ServiceFactory<Handshake<T>> for UpgradeService {
    type Response = ();
    type Error = actix_http::Error;
    type Config = ();
    type Service = Self;
    type InitError = ();
    type Future = Ready<Result<Self, ()>>;

    fn new_service(&self, (): ()) -> Self::Future {
        ready(Ok(self.clone()))
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin + 'static> ActixService<Handshake<T>> for UpgradeService {
    type Response = ();
    type Error = actix_http::Error;
    type Future = LocalBoxFuture<'static, Result<(), actix_http::Error>>;

    actix_service::always_ready!();

    fn call(&self, (request, framed): Handshake<T>) -> Self::Future {
        let started = Instant::now();
        let service = Service::from_path(&routed_path(request.uri()));
        let decision = match service {
            Service::Realtime | Service::Functions => self.handler.decide(&request),
            _ => UpgradeDecision::Refuse(GatewayError::NoRoute.response()),
        };
        Box::pin(async move {
            let decision = match decision {
                UpgradeDecision::Later(decision) => decision.await,
                decided => decided,
            };
            let sent = match decision {
                UpgradeDecision::Later(_) => Ok(()),
                UpgradeDecision::Refuse(response) => {
                    metrics::observe(service, response.status().as_u16(), started.elapsed());
                    refuse(
                        framed,
                        response,
                        service,
                        RequestId::from_headers(&request.head().headers),
                    )
                    .await
                }
                UpgradeDecision::Accept { headers, serve } => {
                    metrics::observe(service, 101, started.elapsed());
                    // The future ends here, and with it the dispatcher of actix-http: an idle socket must be cheap.
                    accept(framed, &headers, serve).await
                }
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "a client left during its WebSocket handshake");
            }
            Ok(())
        })
    }
}

/// Answers a refused handshake; the connection closes with it, as bytes behind the head may already be frames.
async fn refuse<T>(
    framed: Framed<FramedStream<T>, Codec>,
    mut response: HttpResponse,
    service: Service,
    id: RequestId,
) -> io::Result<()>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, header::HeaderValue::from_static("close"));
    cors::apply_platform_headers(headers, service, &id);
    let (response, body) = response.into_parts();
    let body = to_bytes(body)
        .await
        .map_err(|error| io::Error::other(error.to_string()))?;
    let response = Response::from(response.map_body(|_, ()| BoxBody::new(()))).set_body(body);
    let sent = SendResponse::new(framed, response).await;
    let mut framed = sent.map_err(|error| io::Error::other(error.to_string()))?;
    framed.io_mut().shutdown().await
}

/// Writes the 101 response and passes the bare connection on.
async fn accept<T>(
    framed: Framed<FramedStream<T>, Codec>,
    headers: &[(&'static str, String)],
    serve: Box<dyn FnOnce(UpgradedStream)>,
) -> io::Result<()>
where
    T: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let mut parts = framed.into_parts();
    let status = StatusCode::SWITCHING_PROTOCOLS;
    let reason = status.canonical_reason().unwrap_or_default();
    let mut head = format!(
        "HTTP/1.1 {} {reason}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
        status.as_u16()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    // Responses to requests that were pipelined before this one may still be waiting to be written.
    parts.write_buf.extend_from_slice(head.as_bytes());
    parts.io.write_all(&parts.write_buf).await?;
    parts.io.flush().await?;
    let (stream, unread, connection) = parts.io.into_upgraded();
    let mut received = parts.read_buf;
    received.extend_from_slice(&unread);
    serve(UpgradedStream {
        stream: Box::new(stream),
        unread: received,
        _connection: connection,
    });
    Ok(())
}
