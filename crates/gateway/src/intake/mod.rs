//! What stands between a socket and the HTTP server: leniency in what is read, and words for what is refused.
//!
//! People write `curl 'http://…/rest/v1/t?select=data->>key'`. Strictly, `>` must be percent-encoded in a URL, and the
//! HTTP library refuses such a request line with an empty answer before any code of ours runs; the servers that
//! clients know accept it. [`Intake`] encodes such bytes on their way in. It also answers what is too long, too slow or
//! broken before the library would, in JSON.

mod chunks;
mod framing;
mod head;
mod refusal;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use framing::{End, Framer};
use refusal::{Reason, Refused};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::visitors::{TooMany, Visit};

/// How much of a refused request is still read, so that its sender gets to see the answer.
const DRAINED_BYTES: usize = 4 * 1024 * 1024;
/// How long a body may pause. Uploads over a bad line can be resumed; a connection held for ever cannot be used.
const BODY_PATIENCE: Duration = Duration::from_secs(60);

/// A connection whose requests are put in order while they are read.
#[derive(Debug)]
pub(crate) struct Intake<S> {
    inner: S,
    framer: Framer,
    /// Read and looked at, not passed on yet.
    ready: BytesMut,
    /// Whether the server is told that nothing more comes.
    ended: bool,
    /// The answer to a request that was refused; the connection ends with it.
    refusal: Option<Bytes>,
    to_drain: usize,
    /// How long a request's head may take; for ever if zero.
    head_timeout: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether the timer counts.
    waiting: bool,
    /// Counts the connection as long as it lives.
    _visit: Option<Visit>,
}

impl<S> Intake<S> {
    /// Wraps a connection that has just been accepted. `head_timeout` is how long a request's head may take to
    /// arrive, and a connection to be used at all. One connection too many is told so, whatever it says.
    pub(crate) fn new(inner: S, head_timeout: Duration, visit: Result<Option<Visit>, TooMany>) -> Self {
        let (visit, refused) = match visit {
            Ok(visit) => (visit, None),
            Err(TooMany) => (None, Some(Refused::of(Reason::TooManyConnections, b""))),
        };
        Self {
            inner,
            framer: Framer::new(),
            ready: BytesMut::new(),
            ended: refused.is_some(),
            refusal: refused.map(|refused| refused.answer()),
            to_drain: DRAINED_BYTES,
            head_timeout,
            timer: None,
            waiting: false,
            _visit: visit,
        }
    }

    /// Whether a client that sends nothing now has been waited for long enough.
    fn poll_patience(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.framer.is_waiting() || self.head_timeout.is_zero() {
            self.waiting = false;
            return Poll::Pending;
        }
        if !self.waiting {
            self.waiting = true;
            let patience = if self.framer.is_in_head() {
                self.head_timeout
            } else {
                BODY_PATIENCE
            };
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(Instant::now() + patience),
                None => self.timer = Some(Box::pin(sleep(patience))),
            }
        }
        match &mut self.timer {
            Some(timer) => timer.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    /// Nothing more is read. A refused request is answered when everything before it has been.
    fn end(&mut self, end: Option<End>) {
        self.ended = true;
        if let Some(End::Refused(refused)) = end {
            self.refusal = Some(refused.answer());
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Intake<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if !this.ready.is_empty() {
                let length = this.ready.len().min(buf.remaining());
                buf.put_slice(&this.ready.split_to(length));
                return Poll::Ready(Ok(()));
            }
            if this.ended {
                // As if the client had said all: the server ends the connection, and with it goes the answer.
                return Poll::Ready(Ok(()));
            }
            let before = buf.filled().len();
            let Poll::Ready(result) = Pin::new(&mut this.inner).poll_read(cx, buf) else {
                ready!(this.poll_patience(cx));
                let refused = this.framer.give_up().filter(|_| this.framer.is_in_head());
                this.end(refused.map(End::Refused));
                continue;
            };
            result?;
            let read = &buf.filled()[before..];
            if read.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let was_in_head = this.framer.is_in_head();
            let (passed, end) = this.framer.take(read, &mut this.ready);
            buf.set_filled(before + passed);
            // Of a body each byte is progress; of a head only its end is, or it could drip for ever.
            if !(was_in_head && this.framer.is_in_head() && passed == 0 && this.ready.is_empty()) {
                this.waiting = false;
            }
            if let Some(end) = end {
                this.end(Some(end));
            }
            if passed > 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Intake<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let Some(answer) = &mut this.refusal else {
            return Pin::new(&mut this.inner).poll_shutdown(cx);
        };
        while !answer.is_empty() {
            let written = ready!(Pin::new(&mut this.inner).poll_write(cx, answer))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            answer.advance(written);
        }
        ready!(Pin::new(&mut this.inner).poll_shutdown(cx))?;
        // Closing with unread bytes would reset the connection and could destroy the answer on its way.
        let mut space = [0; 4096];
        while this.to_drain > 0 {
            let mut buf = ReadBuf::new(&mut space);
            match ready!(Pin::new(&mut this.inner).poll_read(cx, &mut buf)) {
                Ok(()) if !buf.filled().is_empty() => {
                    this.to_drain = this.to_drain.saturating_sub(buf.filled().len());
                }
                _ => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}
