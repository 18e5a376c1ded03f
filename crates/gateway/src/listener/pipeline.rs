//! One request of a connection at a time, also when a client sends the next ones before it has the answers.
//!
//! The HTTP library reads ahead: it makes a request of each head that it gets, so those of a client that sends heads and reads nothing would fill the
//! memory. And it writes a response by what it has read last: behind a `GET` and a `HEAD` in one packet, the response to the `GET` had no body.
//! So the next head is passed on when the response before it has ended.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use actix_http::{Request, Response};
use actix_web::body::{BodySize, MessageBody};
use bytes::Bytes;

/// Whether a connection has a request in progress. Clones share the state.
#[derive(Debug, Clone, Default)]
pub(super) struct Pipeline(Rc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_busy: Cell<bool>,
    /// Woken when the request has ended.
    reader: RefCell<Option<Waker>>,
}

/// A request in progress; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct RequestInProgress(Option<Pipeline>);

/// The body of a response, whose end is the end of the request.
pub(super) struct LastBody<B> {
    body: B,
    _request: RequestInProgress,
}

impl Pipeline {
    /// Whether a request is in progress; if so, the task is woken when it ends.
    pub(super) fn is_busy(&self, cx: &Context<'_>) -> bool {
        let is_busy = self.0.is_busy.get();
        if is_busy {
            *self.0.reader.borrow_mut() = Some(cx.waker().clone());
        }
        is_busy
    }

    /// Counts a head that was passed on as a request in progress.
    pub(super) fn begin_request(&self) {
        self.0.is_busy.set(true);
    }

    pub(super) fn end_request(&self) {
        self.0.is_busy.set(false);
        let reader = self.0.reader.take();
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl RequestInProgress {
    /// The request that its connection counts as in progress.
    pub(super) fn of(request: &Request) -> Self {
        Self(request.conn_data::<Pipeline>().cloned())
    }

    /// Lets the request end with its response.
    pub(super) fn end_with<B>(self, response: Response<B>) -> Response<LastBody<B>> {
        response.map_body(|_, body| LastBody { body, _request: self })
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        if let Some(pipeline) = &self.0 {
            pipeline.end_request();
        }
    }
}

impl<B: MessageBody + Unpin> MessageBody for LastBody<B> {
    type Error = B::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(cx)
    }
}
