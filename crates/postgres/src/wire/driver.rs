//! One connection: batches go out in the order in which they come, and their answers come back in that order.
//!
//! A batch is queued as a whole, so nothing can come between its statements; and because it is queued before its first
//! answer, a client that hangs up cannot leave a transaction open. What requests queue in one turn of the event loop
//! goes out in one system call.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::sync::oneshot;

use super::batch::{Batch, BatchError, Body, Collector, Finished};
use super::connect::{Opened, Stream};
use super::server_message::{ErrorFields, header};
use super::statements::Statements;

/// What is read at once, while answers are small, and while they are large.
const SMALL_READ: usize = 16 * 1024;
const LARGE_READ: usize = 128 * 1024;
/// A message that is longer is cut out of the read buffer, not copied.
const LONG_MESSAGE: usize = 8 * 1024;
/// A write buffer that has grown beyond this is given back when it is empty.
const KEPT_WRITE_BUFFER: usize = 64 * 1024;
/// Reads in a row after which others may have the thread.
const READS_PER_TURN: usize = 16;

/// Our end of a connection. The other half is a task on the same thread, which ends when this is dropped.
pub(crate) struct Connection {
    shared: Rc<Shared>,
}

struct Shared {
    out: RefCell<BytesMut>,
    statements: RefCell<Statements>,
    pending: RefCell<VecDeque<Pending>>,
    /// When the server was done with the last batch.
    answered: Cell<Instant>,
    closed: RefCell<Option<String>>,
    dropped: Cell<bool>,
    task: RefCell<Option<Waker>>,
    /// Pending batches that are [`Label::blocks`].
    blocking: Cell<usize>,
    /// Pending batches that are [`Label::writes`].
    writing: Cell<usize>,
    on_answer: OnAnswer,
}

/// Called after each answered batch with its label's statement and its duration, and when the connection is lost.
pub(crate) type OnAnswer = Box<dyn Fn(Option<(u64, Duration)>)>;

/// What the sender of a batch wants to be remembered with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label {
    /// Identifies the statement, for [`OnAnswer`].
    pub(crate) statement: u64,
    /// Whether nothing should be queued behind it.
    pub(crate) blocks: bool,
    /// Whether its end may wait for the disk.
    pub(crate) writes: bool,
}

struct Pending {
    collector: Collector,
    reply: oneshot::Sender<Finished>,
    label: Option<Label>,
}

impl Pending {
    fn blocks(&self) -> bool {
        self.label.is_some_and(|label| label.blocks)
    }

    fn writes(&self) -> bool {
        self.label.is_some_and(|label| label.writes)
    }
}

/// A batch on its way. Dropping it gives the answers up, not the statements.
pub(crate) struct Reply {
    shared: Rc<Shared>,
    receiver: oneshot::Receiver<Finished>,
}

impl Reply {
    /// Waits for the last answer.
    ///
    /// # Errors
    /// Why the connection broke.
    pub(crate) async fn finished(self) -> Result<Finished, String> {
        self.receiver.await.map_err(|_| self.shared.loss())
    }
}

impl Connection {
    /// Takes an open stream. Must be called on a thread that runs a `LocalSet`.
    pub(crate) fn start(opened: Opened, cached_statements: usize, on_answer: OnAnswer) -> Self {
        let shared = Rc::new(Shared {
            out: RefCell::default(),
            statements: RefCell::new(Statements::new(cached_statements)),
            pending: RefCell::default(),
            answered: Cell::new(Instant::now()),
            closed: RefCell::default(),
            dropped: Cell::new(false),
            task: RefCell::default(),
            blocking: Cell::new(0),
            writing: Cell::new(0),
            on_answer,
        });
        let mut driver = Driver {
            shared: Rc::clone(&shared),
            stream: opened.stream,
            incoming: BytesMut::new(),
            read_size: SMALL_READ,
        };
        tokio::task::spawn_local(async move {
            let lost = poll_fn(|cx| driver.poll(cx)).await;
            driver.shared.lose(&lost);
        });
        Self { shared }
    }

    /// Queues a batch that `compose` writes.
    ///
    /// # Errors
    /// Statements that no message can carry. Nothing is queued then.
    pub(crate) fn send(
        &self,
        label: Option<Label>,
        compose: impl FnOnce(&mut Batch<'_>) -> Result<(), BatchError>,
    ) -> Result<Reply, BatchError> {
        let mut out = self.shared.out.borrow_mut();
        let mut statements = self.shared.statements.borrow_mut();
        let mut batch = Batch::begin(&mut out, &mut statements)?;
        let collector = match compose(&mut batch) {
            Ok(()) => batch.finish(),
            Err(error) => {
                batch.take_back();
                return Err(error);
            }
        };
        let (reply, receiver) = oneshot::channel();
        // After the connection is lost, nobody would answer: the sender is dropped at once.
        if self.is_usable() {
            let pending = Pending {
                collector,
                reply,
                label,
            };
            self.shared.count(&pending);
            self.shared.pending.borrow_mut().push_back(pending);
            self.shared.wake();
        }
        Ok(Reply {
            shared: Rc::clone(&self.shared),
            receiver,
        })
    }

    /// Whether answers can still come.
    pub(crate) fn is_usable(&self) -> bool {
        self.shared.closed.borrow().is_none()
    }

    /// Batches whose answers are still to come.
    pub(crate) fn in_flight(&self) -> usize {
        self.shared.pending.borrow().len()
    }

    /// Whether a batch is in flight behind which nothing should be queued.
    pub(crate) fn is_blocked(&self) -> bool {
        self.shared.blocking.get() > 0
    }

    /// Whether a batch is in flight whose end may wait for the disk.
    pub(crate) fn is_writing(&self) -> bool {
        self.shared.writing.get() > 0
    }

    /// For how long the server has worked on what it works on.
    pub(crate) fn busy_for(&self, now: Instant) -> Duration {
        let pending = self.shared.pending.borrow();
        pending.front().map_or(Duration::ZERO, |first| {
            now.saturating_duration_since(first.collector.queued().max(self.shared.answered.get()))
        })
    }

    /// For how long the server has had nothing to do.
    pub(crate) fn idle_for(&self, now: Instant) -> Duration {
        if self.in_flight() > 0 {
            return Duration::ZERO;
        }
        now.saturating_duration_since(self.shared.answered.get())
    }

    /// Forgets all prepared statements, here and with the next batch in the server.
    pub(crate) fn forget_statements(&self) {
        self.shared.statements.borrow_mut().clear();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.dropped.set(true);
        self.shared.wake();
    }
}

impl Shared {
    fn wake(&self) {
        if let Some(task) = self.task.borrow().as_ref() {
            task.wake_by_ref();
        }
    }

    fn lose(&self, reason: &str) {
        tracing::debug!(reason, "a database connection ended");
        self.closed.borrow_mut().get_or_insert_with(|| reason.to_owned());
        // Whoever waits learns of it by the loss of the sender.
        self.pending.borrow_mut().clear();
        self.blocking.set(0);
        self.writing.set(0);
        (self.on_answer)(None);
    }

    fn count(&self, pending: &Pending) {
        self.blocking
            .set(self.blocking.get() + usize::from(pending.blocks()));
        self.writing
            .set(self.writing.get() + usize::from(pending.writes()));
    }

    fn uncount(&self, pending: &Pending) {
        let less = |count: &Cell<usize>, by: bool| count.set(count.get().saturating_sub(usize::from(by)));
        less(&self.blocking, pending.blocks());
        less(&self.writing, pending.writes());
    }

    fn loss(&self) -> String {
        let closed = self.closed.borrow();
        closed
            .clone()
            .unwrap_or_else(|| "the connection was closed".to_owned())
    }
}

/// The half that reads and writes.
struct Driver {
    shared: Rc<Shared>,
    stream: Box<dyn Stream>,
    incoming: BytesMut,
    read_size: usize,
}

impl Driver {
    /// Moves bytes for as long as there are any; ready with the reason why no more can be moved.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<String> {
        {
            let mut task = self.shared.task.borrow_mut();
            if !task.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                *task = Some(cx.waker().clone());
            }
        }
        if self.shared.dropped.get() {
            return self.poll_goodbye(cx);
        }
        if let Poll::Ready(Err(error)) = self.poll_write(cx) {
            return Poll::Ready(error.to_string());
        }
        for _ in 0..READS_PER_TURN {
            match self.poll_read(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(error),
                Poll::Pending => return Poll::Pending,
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut out = self.shared.out.borrow_mut();
        if out.is_empty() {
            return Poll::Ready(Ok(()));
        }
        while !out.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &out))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            out.advance(written);
        }
        if out.capacity() > KEPT_WRITE_BUFFER {
            *out = BytesMut::new();
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Says goodbye, if the socket takes it at once.
    fn poll_goodbye(&mut self, cx: &mut Context<'_>) -> Poll<String> {
        const TERMINATE: [u8; 5] = [b'X', 0, 0, 0, 4];
        if self.shared.out.borrow().is_empty() {
            let _ = Pin::new(&mut self.stream).poll_write(cx, &TERMINATE);
            let _ = Pin::new(&mut self.stream).poll_flush(cx);
        }
        Poll::Ready("closed by us".to_owned())
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), String>> {
        self.incoming.reserve(self.wanted());
        let read = {
            let reading = pin!(self.stream.read_buf(&mut self.incoming));
            ready!(reading.poll(cx))
        };
        match read {
            Err(error) => return Poll::Ready(Err(error.to_string())),
            Ok(0) => return Poll::Ready(Err("the server closed the connection".to_owned())),
            Ok(length) if length >= self.read_size => self.read_size = LARGE_READ,
            Ok(_) => {}
        }
        while let Some((tag, length)) = header(&self.incoming) {
            if length < 4 {
                return Poll::Ready(Err("the server sent a message that makes no sense".to_owned()));
            }
            let end = length + 1;
            if self.incoming.len() < end {
                break;
            }
            self.message(tag, end)?;
        }
        if self.incoming.is_empty() && self.shared.pending.borrow().is_empty() {
            self.read_size = SMALL_READ;
            if self.incoming.capacity() > SMALL_READ {
                self.incoming = BytesMut::new();
            }
        }
        Poll::Ready(Ok(()))
    }

    /// How much room the next read should have: all of a message that has begun.
    fn wanted(&self) -> usize {
        let missing =
            header(&self.incoming).map_or(0, |(_, length)| (length + 1).saturating_sub(self.incoming.len()));
        missing.max(self.read_size)
    }

    fn message(&mut self, tag: u8, end: usize) -> Result<(), String> {
        const HEAD: usize = 5;
        let shared = Rc::clone(&self.shared);
        match tag {
            b'Z' => {
                self.incoming.advance(end);
                self.answered()
            }
            // Notices, parameters that changed, notifications: nobody here asked for them.
            b'N' | b'S' | b'A' => {
                self.incoming.advance(end);
                Ok(())
            }
            _ => {
                let mut pending = shared.pending.borrow_mut();
                let Some(first) = pending.front_mut() else {
                    return Err(self.unasked(tag, end));
                };
                if first.reply.is_closed() {
                    first.collector.discard_rows();
                }
                let mut statements = shared.statements.borrow_mut();
                let taken = if end > LONG_MESSAGE {
                    let body = self.incoming.split_to(end).freeze().slice(HEAD..);
                    first.collector.take(tag, Body::Owned(body), &mut statements)
                } else {
                    let body = self.incoming.get(HEAD..end).unwrap_or_default();
                    let taken = first.collector.take(tag, Body::Borrowed(body), &mut statements);
                    self.incoming.advance(end);
                    taken
                };
                taken.map_err(|_| format!("the server sent {:?} out of step", char::from(tag)))
            }
        }
    }

    /// Why a server speaks unasked: it ends the session.
    fn unasked(&self, tag: u8, end: usize) -> String {
        match tag {
            b'E' => ErrorFields::parse(self.incoming.get(5..end).unwrap_or_default()).message,
            _ => format!("the server sent {:?} out of step", char::from(tag)),
        }
    }

    fn answered(&mut self) -> Result<(), String> {
        let Some(first) = self.shared.pending.borrow_mut().pop_front() else {
            return Err("the server answered twice".to_owned());
        };
        self.shared.uncount(&first);
        let now = Instant::now();
        let since = first.collector.queued().max(self.shared.answered.replace(now));
        let finished = first.collector.finish(
            &mut self.shared.statements.borrow_mut(),
            now.saturating_duration_since(since),
        );
        let ran = first.label.map(|label| (label.statement, finished.duration));
        // Nobody has to be waiting for it.
        let _ = first.reply.send(finished);
        (self.shared.on_answer)(ran);
        Ok(())
    }
}
