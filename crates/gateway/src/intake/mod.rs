//! What stands between a socket and the HTTP server: leniency in what is read, and words for what is refused.
//!
//! People write `curl 'http://…/rest/v1/t?select=data->>key'`. Strictly, `>` must be percent-encoded in a URL, and the
//! HTTP library refuses such a request line with an empty answer before any code of ours runs; the servers that
//! clients know accept it. [`Intake`] encodes such bytes on their way in. It also answers what is too long or broken
//! before the library would, in JSON.

mod framing;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use framing::{Framer, Reason, Refused};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::Service;

/// How much of a refused request is still read, so that its sender gets to see the answer.
const DRAINED_BYTES: usize = 4 * 1024 * 1024;

/// A connection whose requests are put in order while they are read.
#[derive(Debug)]
pub struct Intake<S> {
    inner: S,
    framer: Framer,
    /// Read and looked at, not passed on yet.
    ready: BytesMut,
    /// The answer to a request that was refused; the connection ends with it.
    refusal: Option<Bytes>,
    to_drain: usize,
}

impl<S> Intake<S> {
    /// Wraps a connection that has just been accepted.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            framer: Framer::new(),
            ready: BytesMut::new(),
            refusal: None,
            to_drain: DRAINED_BYTES,
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
            if this.refusal.is_some() {
                // As if the client had said all: the server ends the connection, and with it goes the answer.
                return Poll::Ready(Ok(()));
            }
            let before = buf.filled().len();
            ready!(Pin::new(&mut this.inner).poll_read(cx, buf))?;
            let read = &buf.filled()[before..];
            if read.is_empty() {
                return Poll::Ready(Ok(()));
            }
            match this.framer.take(read, &mut this.ready) {
                Ok(passed) => {
                    buf.set_filled(before + passed);
                    if passed > 0 {
                        return Poll::Ready(Ok(()));
                    }
                }
                Err(refused) => {
                    buf.set_filled(before);
                    this.refusal = Some(answer(&refused));
                }
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

/// The whole answer to a request that gets no further.
fn answer(refused: &Refused) -> Bytes {
    let (status, message) = match refused.reason {
        Reason::TargetTooLong => ("414 URI Too Long", "The request URL is too long"),
        Reason::HeadTooLarge => (
            "431 Request Header Fields Too Large",
            "The request headers are too large",
        ),
        Reason::Malformed => ("400 Bad Request", "The request is malformed"),
    };
    // where no prefix belongs to another service, REST may stand alone at `/`
    let (body, more) = if matches!(Service::of(&refused.path), Service::Rest | Service::Other) {
        (
            json!({ "code": "PGRST100", "details": null, "hint": null, "message": message }),
            "proxy-status: PostgREST; error=PGRST100\r\n",
        )
    } else {
        (json!({ "message": message }), "")
    };
    let body = body.to_string();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: {}\r\n\
         access-control-allow-origin: *\r\n{more}connection: close\r\n\r\n{body}",
        body.len()
    )
    .into()
}
