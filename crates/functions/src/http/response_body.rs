//! The streaming body of a function's response.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::{BodySize, MessageBody};
use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::SendRequest;
use tokio::time::{Sleep, sleep};

use super::connections::Connections;
use super::request_body::RequestBody;
use crate::worker::Lease;

/// What a response holds until it was sent: the connection, which is then returned for reuse, and the worker.
pub(super) struct ConnectionLease {
    pub(super) sender: SendRequest<RequestBody>,
    pub(super) connections: Rc<Connections>,
    pub(super) lease: Lease,
}

/// The body of a function's response. When it is dropped before its end, because the client has left, the connection to the
/// function is closed, and the function's stream is aborted.
pub(super) struct ResponseBody {
    incoming: Incoming,
    size: BodySize,
    held: Option<ConnectionLease>,
    /// How long the function may send nothing.
    idle_limit: Duration,
    idle: Option<Pin<Box<Sleep>>>,
}

impl ResponseBody {
    /// `length` is that of `Content-Length`.
    pub(super) fn new(
        incoming: Incoming,
        length: Option<u64>,
        held: ConnectionLease,
        idle_limit: Duration,
    ) -> Self {
        let mut body = Self {
            size: length.map_or(BodySize::Stream, BodySize::Sized),
            held: Some(held),
            idle_limit,
            idle: None,
            incoming,
        };
        if body.incoming.is_end_stream() {
            body.release();
        }
        body
    }

    /// Returns the connection, and ends the hold on the worker.
    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            held.connections.put(held.lease.worker.id, held.sender);
        }
    }
}

impl MessageBody for ResponseBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.size
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = &mut *self;
        loop {
            match Pin::new(&mut this.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    this.idle = None;
                    // Trailers are not passed on.
                    if let Ok(bytes) = frame.into_data() {
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    this.held = None;
                    return Poll::Ready(Some(Err(error.into())));
                }
                Poll::Ready(None) => {
                    this.release();
                    return Poll::Ready(None);
                }
                Poll::Pending => {
                    let limit = this.idle_limit;
                    let idle = this.idle.get_or_insert_with(|| Box::pin(sleep(limit)));
                    if idle.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    this.held = None;
                    return Poll::Ready(Some(Err("the function has sent nothing for too long".into())));
                }
            }
        }
    }
}

/// The body of a response to HEAD: its length without its bytes.
pub(super) struct HeadBody(pub(super) u64);

impl MessageBody for HeadBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.0)
    }

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Poll::Ready(None)
    }
}
