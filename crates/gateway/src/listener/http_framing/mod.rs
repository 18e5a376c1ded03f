//! A stream between the socket and the HTTP server that encodes request targets and refuses bad requests in JSON.
//!
//! Compat: Supabase accepts `curl 'http://…/rest/v1/t?select=data->>key'`, although `>` must be percent-encoded in a
//! URL. The HTTP library (actix-http) refuses such a request line with an empty response before the application sees
//! it. [`FramedStream`] encodes such bytes on their way in. It also refuses what is too long, too slow
//! or malformed before the library would, with a JSON body.

mod chunks;
mod framing;
#[cfg(fuzzing)]
pub mod fuzzing;
mod head;
mod refusal;
mod state;
mod transfer_timer;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use selvedge_limits::{Share, ShareExceeded};
use selvedge_memory::{MemoryBudget, Reservation};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::connection_count::OpenConnection;
use super::limits::ConnectionLimits;
use super::pipeline::Pipeline;
use framing::{Framer, StopReason};
use head::LONGEST_HEAD;
use refusal::{Reason, Refused};
use transfer_timer::TransferTimer;

/// How much of a refused request is still read: closing a socket with unread bytes resets it, and the client would lose
/// the response.
const DRAINED_BYTES: usize = 4 * 1024 * 1024;

/// Unfinished heads up to this many bytes are not counted.
const UNCOUNTED_HEAD: usize = 8 * 1024;

/// Bytes that are read of a connection before the other connections of its thread get their turn. The rest of a refused body is read until the client
/// pauses, and one that sends as fast as the server reads never does. The HTTP library stops reading at as many bytes that it has not used.
const BYTES_PER_TURN: usize = 128 * 1024;

/// A connection whose requests are checked and rewritten while they are read.
#[derive(Debug)]
pub(crate) struct FramedStream<S> {
    inner: S,
    framer: Framer,
    /// Processed bytes that the server has not read yet.
    ready: BytesMut,
    /// Whether the server sees the end of the stream.
    ended: bool,
    /// The response to a refused request; the connection closes after it.
    refusal: Option<Bytes>,
    to_drain: usize,
    /// Bytes that were read since other connections of the thread were served.
    read_in_turn: usize,
    /// How long a request's head may take; without limit if zero.
    head_timeout: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether the timer of a head is running.
    waiting: bool,
    /// Longest time to wait for the rest of a request body.
    sending: TransferTimer,
    /// Longest time to wait for the client to read its responses.
    reading: TransferTimer,
    /// Counts the connection for its address.
    connection: Option<Share>,
    /// Counts it among those of the process.
    _open: OpenConnection,
    /// Whether a request of this connection is in progress; the next head waits for its end.
    pipeline: Pipeline,
    memory: MemoryBudget,
    /// The memory of a head that arrives in pieces.
    head: Option<Reservation>,
}

impl<S> FramedStream<S> {
    /// Wraps an accepted connection. `limits.head_timeout` limits the time for a request's head, and the time until a
    /// connection is first used. A connection over the limit of its address gets a 429 whatever it sends.
    pub(crate) fn new(
        inner: S,
        limits: &ConnectionLimits,
        connection: Result<Option<Share>, ShareExceeded>,
    ) -> Self {
        let (connection, refused) = match connection {
            Ok(connection) => (connection, None),
            Err(ShareExceeded) => (None, Some(Refused::from_head(Reason::TooManyConnections, b""))),
        };
        Self {
            inner,
            framer: Framer::new(limits.hosts.clone()),
            ready: BytesMut::new(),
            ended: refused.is_some(),
            refusal: refused.map(|refused| refused.response()),
            to_drain: DRAINED_BYTES,
            read_in_turn: 0,
            head_timeout: limits.head_timeout,
            timer: None,
            waiting: false,
            sending: TransferTimer::new(limits.transfer),
            reading: TransferTimer::new(limits.transfer),
            connection,
            _open: OpenConnection::start(),
            pipeline: Pipeline::default(),
            memory: limits.memory.clone(),
            head: None,
        }
    }

    /// The state that tells whether a request of this connection is in progress.
    pub(super) fn pipeline(&self) -> Pipeline {
        self.pipeline.clone()
    }

    /// Takes the connection out after an upgrade: the stream, bytes that were read and not yet passed on, and what
    /// counts the connection against its address.
    pub(crate) fn into_upgraded(self) -> (S, BytesMut, Option<Share>) {
        (self.inner, self.ready, self.connection)
    }

    /// Ready when a client that must send something has been silent or slow for too long.
    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.framer.is_waiting() || self.head_timeout.is_zero() {
            self.waiting = false;
            return Poll::Pending;
        }
        if !self.framer.is_in_head() {
            return self.sending.poll_wait(cx);
        }
        if !self.waiting {
            self.waiting = true;
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(Instant::now() + self.head_timeout),
                None => self.timer = Some(Box::pin(sleep(self.head_timeout))),
            }
        }
        match &mut self.timer {
            Some(timer) => timer.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    /// Adjusts the time limits after bytes were read.
    fn note_read(&mut self, bytes: usize, was_in_head: bool, passed_on: bool) {
        self.read_in_turn += bytes;
        let is_in_head = self.framer.is_in_head();
        if !was_in_head && !is_in_head {
            self.sending.transferred(bytes);
        } else if was_in_head != is_in_head {
            self.sending.restore();
        }
        // Only the end of a head ends the time limit of a head: with each byte the client could send it for ever.
        if !(was_in_head && is_in_head && !passed_on) {
            self.waiting = false;
        }
    }

    /// Reserves the memory of an unfinished head. False when there is none for it.
    fn cover_head(&mut self) -> bool {
        if self.framer.held_head() <= UNCOUNTED_HEAD {
            self.head = None;
            return true;
        }
        if self.head.is_none() {
            // As it came, and as the HTTP library keeps it.
            let bytes = 2 * LONGEST_HEAD;
            self.head = match &self.connection {
                Some(connection) => self.memory.reserve_for(connection.client(), bytes),
                None => self.memory.reserve(bytes),
            };
        }
        self.head.is_some()
    }

    /// Follows the bytes that were read, and those that were held back before. Returns how many at their front are passed on as they are.
    fn process(&mut self, read: &[u8]) -> (usize, Option<StopReason>) {
        let processed = self.framer.process_input(read, &mut self.ready);
        if self.framer.has_passed_head() {
            self.pipeline.begin_request();
        }
        processed
    }

    /// Pending while bytes wait for the end of the request in progress. Ready with true when there were such bytes, which are processed then. Without
    /// them the socket is read on, so that a client that leaves is noticed.
    fn poll_next_head(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let was_held_back = self.framer.is_held_back();
        if self.pipeline.is_busy(cx) {
            return if was_held_back {
                Poll::Pending
            } else {
                Poll::Ready(false)
            };
        }
        self.framer.pass_next_head();
        if was_held_back && let (_, Some(end)) = self.process(&[]) {
            self.end(Some(end));
        }
        Poll::Ready(was_held_back)
    }

    /// Pending after each [`BYTES_PER_TURN`], so that the other connections of the thread are served before this one goes on.
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.read_in_turn < BYTES_PER_TURN {
            return Poll::Ready(());
        }
        self.read_in_turn = 0;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Stops reading. The response to a refused request is sent after those of the requests before it.
    fn end(&mut self, end: Option<StopReason>) {
        self.ended = true;
        if let Some(StopReason::Refused(refused)) = end {
            self.refusal = Some(refused.response());
        }
    }
}

impl<S> FramedStream<S> {
    /// Fails with `TimedOut` when the client has read its responses too slowly for too long: until then they stay in
    /// memory.
    fn note_written(
        &mut self,
        written: Poll<io::Result<usize>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.reading.transferred(bytes);
                Poll::Ready(Ok(bytes))
            }
            Poll::Pending if !self.head_timeout.is_zero() => {
                ready!(self.reading.poll_wait(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            other => other,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FramedStream<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if !this.ready.is_empty() {
                let length = this.ready.len().min(buf.remaining());
                buf.put_slice(&this.ready.split_to(length));
                return Poll::Ready(Ok(()));
            }
            if this.ended {
                // The server sees the end of the stream and shuts the connection down; `poll_shutdown` sends the
                // refusal.
                return Poll::Ready(Ok(()));
            }
            if ready!(this.poll_next_head(cx)) {
                continue;
            }
            ready!(this.poll_turn(cx));
            let before = buf.filled().len();
            let Poll::Ready(result) = Pin::new(&mut this.inner).poll_read(cx, buf) else {
                this.read_in_turn = 0;
                ready!(this.poll_timeout(cx));
                let refused = this
                    .framer
                    .refuse_slow_head()
                    .filter(|_| this.framer.is_in_head());
                this.end(refused.map(StopReason::Refused));
                continue;
            };
            result?;
            let read = &buf.filled()[before..];
            if read.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let was_in_head = this.framer.is_in_head();
            let (passed, end) = this.process(read);
            let passed_on = passed > 0 || !this.ready.is_empty();
            this.note_read(read.len(), was_in_head, passed_on);
            buf.set_filled(before + passed);
            let end = match this.cover_head() {
                true => end,
                false => end.or_else(|| Some(StopReason::Refused(this.framer.refuse_large_head()))),
            };
            if let Some(end) = end {
                this.end(Some(end));
            }
            if passed > 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for FramedStream<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write(cx, buf);
        this.note_written(written, cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write_vectored(cx, bufs);
        this.note_written(written, cx)
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
        // Closing with unread bytes would reset the connection, and the client could lose the response.
        let mut space = [0; 4096];
        while this.to_drain > 0 {
            ready!(this.poll_turn(cx));
            let mut buf = ReadBuf::new(&mut space);
            match ready!(Pin::new(&mut this.inner).poll_read(cx, &mut buf)) {
                Ok(()) if !buf.filled().is_empty() => {
                    this.read_in_turn += buf.filled().len();
                    this.to_drain = this.to_drain.saturating_sub(buf.filled().len());
                }
                _ => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use selvedge_limits::{ClientId, Shares};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// A connection of the client 10.0.0.1 with these limits, and its other end.
    fn connect(
        limits: &ConnectionLimits,
    ) -> (FramedStream<tokio::io::DuplexStream>, tokio::io::DuplexStream) {
        let (server, client) = duplex(1024 * 1024);
        let address = ClientId::of_connection(Some([10, 0, 0, 1].into()));
        let connection = Shares::new(Some(10)).take(address, 1).expect("a place");
        (FramedStream::new(server, limits, Ok(connection)), client)
    }

    #[actix_web::test]
    async fn gw_049_heads_in_pieces_are_reserved_above_8_kib_and_refused_without_memory() {
        let memory = MemoryBudget::new(4 * LONGEST_HEAD);
        let limits = ConnectionLimits {
            memory: memory.clone(),
            ..ConnectionLimits::from(Duration::from_secs(60))
        };
        let (mut first, mut first_client) = connect(&limits);
        let (mut second, mut second_client) = connect(&limits);
        let begin = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-A: {}", "a".repeat(20_000));
        let mut read = [0; 1024];

        first_client.write_all(begin.as_bytes()).await.expect("sent");
        let waiting = tokio::time::timeout(Duration::from_millis(50), first.read(&mut read)).await;
        assert!(waiting.is_err(), "the head has not ended");
        assert_eq!(memory.used(), 2 * LONGEST_HEAD);
        second_client.write_all(begin.as_bytes()).await.expect("sent");
        assert_eq!(second.read(&mut read).await.expect("the end"), 0);
        drop(second_client.shutdown().await);
        second.shutdown().await.expect("refused");
        let mut answer = String::new();
        second_client.read_to_string(&mut answer).await.ok();
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
        first_client.write_all(b"\r\n\r\n").await.expect("sent");
        assert!(first.read(&mut read).await.expect("the head") > 0);

        assert_eq!(memory.used(), 0);
    }

    #[actix_web::test]
    async fn gw_049_a_client_that_sends_without_a_pause_leaves_turns_to_others() {
        let (server, mut client) = duplex(1024 * 1024);
        let limits = ConnectionLimits::from(Duration::from_secs(10));
        let mut stream = FramedStream::new(server, &limits, Ok(None));
        let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n";
        client.write_all(head.as_bytes()).await.expect("sent");
        client.write_all(&[b'x'; 500_000]).await.expect("sent");

        let mut space = vec![0; 32 * 1024];
        let mut turns = vec![0];
        std::future::poll_fn(|cx| {
            loop {
                let mut buf = ReadBuf::new(&mut space);
                match Pin::new(&mut stream).poll_read(cx, &mut buf) {
                    Poll::Ready(read) => {
                        read.expect("the body");
                        *turns.last_mut().expect("a turn") += buf.filled().len();
                    }
                    Poll::Pending if turns.iter().sum::<usize>() < 500_000 => {
                        turns.push(0);
                        return Poll::Pending;
                    }
                    Poll::Pending => return Poll::Ready(()),
                }
            }
        })
        .await;

        assert_eq!(turns.iter().sum::<usize>(), 500_000 + head.len());
        assert!(turns.len() >= 4, "{turns:?}");
        assert!(
            turns.iter().all(|bytes| *bytes <= BYTES_PER_TURN + space.len()),
            "{turns:?}"
        );
    }

    #[actix_web::test]
    async fn gw_049_a_head_waits_until_the_request_before_it_has_ended() {
        const HEAD: &str = "GET /items HTTP/1.1\r\nHost: x\r\n\r\n";
        let (server, mut client) = duplex(1024 * 1024);
        let limits = ConnectionLimits::from(Duration::from_secs(10));
        let mut stream = FramedStream::new(server, &limits, Ok(None));
        let pipeline = stream.pipeline();
        client.write_all(HEAD.repeat(3).as_bytes()).await.expect("sent");
        client.write_all(b"GET /part").await.expect("sent");
        drop(client);

        let mut space = [0; 64 * 1024];
        let mut passed = Vec::new();
        for _ in 0..4 {
            let mut next = async || {
                let read = tokio::time::timeout(Duration::from_millis(20), stream.read(&mut space)).await;
                read.ok().map(|read| read.expect("no error"))
            };
            passed.push((next().await, next().await));
            pipeline.end_request();
        }

        let head = Some(HEAD.len());
        // The unfinished head is processed after the third request has ended; only then is the end of the stream read.
        assert_eq!(
            passed,
            [(head, None), (head, None), (head, None), (Some(0), Some(0))]
        );
    }
}
