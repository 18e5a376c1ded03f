//! One connection: sends batches in the order in which they are queued, and assigns the results in the same order.
//!
//! A batch is queued as a whole, so nothing can come between its statements. It is complete before its first result
//! arrives, so a client that hangs up cannot leave a transaction open. All batches that are queued in one turn of the
//! event loop are written with one system call.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};
use selvedge_limits::Turn;
use selvedge_memory::{COUNTED_FROM, MemoryBudget, Reservation};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::sync::oneshot;

use super::batch::{Batch, BatchError};
use super::collector::{Body, Collector, Finished};
use super::connect::{Opened, Stream};
use super::outgoing::Outgoing;
use super::server_message::{ErrorFields, parse_header};
use super::session_settings::SessionSettings;
use super::statements::Statements;

/// Bytes per read: small at first, large once a read has filled the buffer.
const SMALL_READ: usize = 16 * 1024;
const LARGE_READ: usize = 128 * 1024;
/// A longer message is split off the read buffer instead of being copied.
const LONG_MESSAGE: usize = 8 * 1024;
/// Reads in a row before other tasks of the thread get their turn: writing half a megabyte as JSON takes about a millisecond.
const READS_PER_TURN: usize = 4;

/// The sending half of a connection. The other half is a task on the same thread, which ends when this is dropped.
pub(crate) struct Connection {
    shared: Rc<Shared>,
}

struct Shared {
    out: RefCell<Outgoing>,
    statements: RefCell<Statements>,
    pending: RefCell<VecDeque<Pending>>,
    /// When the last `ReadyForQuery` came.
    ready_since: Cell<Instant>,
    /// Why the connection was lost; `None` while it is usable.
    closed: RefCell<Option<String>>,
    /// Whether the server ended the session while the first batch in flight ran, so that it had not begun with those behind it.
    ended_by_first: Cell<bool>,
    dropped: Cell<bool>,
    /// Whether the connection takes no further requests, because its session has changed.
    retired: Cell<bool>,
    task: RefCell<Option<Waker>>,
    /// Pending batches that are [`BatchLabel::blocks`].
    blocking: Cell<usize>,
    /// [`BatchLabel::subject`] of the last of them.
    blocking_subject: Cell<u64>,
    /// Pending batches that are [`BatchLabel::writes`].
    writing: Cell<usize>,
    on_finished: OnFinished,
}

/// Called after each finished batch with its label and its duration, and with `None` when the connection is lost.
pub(crate) type OnFinished = Box<dyn Fn(Option<(BatchLabel, Duration)>)>;

/// What the pool must know about a batch in flight.
#[derive(Debug)]
pub(crate) struct BatchLabel {
    /// Hash of the statement, for [`OnFinished`].
    pub(crate) statement: u64,
    /// Hash of what the statement is about: its table or function.
    pub(crate) subject: u64,
    /// Whether no other batch should be queued behind it, since it may be slow.
    pub(crate) blocks: bool,
    /// Whether its commit may wait for the disk.
    pub(crate) writes: bool,
    /// The client's turn, which lasts until the server has answered, also when nobody waits for it any more.
    pub(crate) _turn: Option<Box<Turn>>,
}

struct Pending {
    collector: Collector,
    reply: oneshot::Sender<Finished>,
    label: Option<BatchLabel>,
}

impl Pending {
    fn blocks(&self) -> bool {
        self.label.as_ref().is_some_and(|label| label.blocks)
    }

    fn writes(&self) -> bool {
        self.label.as_ref().is_some_and(|label| label.writes)
    }
}

/// The results of a batch in flight. Dropping it discards the results; the statements run nevertheless.
pub(crate) struct Reply {
    shared: Rc<Shared>,
    receiver: oneshot::Receiver<Finished>,
}

impl Reply {
    /// Waits until the batch has finished.
    ///
    /// # Errors
    /// Why the connection broke.
    pub(crate) async fn finished(self) -> Result<Finished, Loss> {
        self.receiver.await.map_err(|_| Loss {
            reason: self.shared.loss_reason(),
            has_not_begun: self.shared.ended_by_first.get(),
        })
    }
}

/// A connection that broke before a batch had finished.
pub(crate) struct Loss {
    pub(crate) reason: String,
    /// Whether it is certain that the server has not begun with the batch.
    pub(crate) has_not_begun: bool,
}

impl Connection {
    /// Spawns the task that reads and writes. Must be called on a thread that runs a `LocalSet`.
    pub(crate) fn start(
        opened: Opened,
        cached_statements: usize,
        memory: MemoryBudget,
        on_finished: OnFinished,
    ) -> Self {
        let shared = Rc::new(Shared {
            out: RefCell::default(),
            statements: RefCell::new(Statements::new(
                cached_statements,
                memory.database().most_statement_bytes(),
            )),
            pending: RefCell::default(),
            ready_since: Cell::new(Instant::now()),
            closed: RefCell::default(),
            ended_by_first: Cell::new(false),
            dropped: Cell::new(false),
            retired: Cell::new(false),
            task: RefCell::default(),
            blocking: Cell::new(0),
            blocking_subject: Cell::new(0),
            writing: Cell::new(0),
            on_finished,
        });
        let mut driver = Driver {
            shared: Rc::clone(&shared),
            stream: opened.stream,
            settings: opened.settings,
            has_changed: false,
            incoming: BytesMut::new(),
            read_size: SMALL_READ,
            memory,
            reserved: None,
            skipping: 0,
        };
        tokio::task::spawn_local(async move {
            let lost = tokio::select! {
                lost = poll_fn(|cx| driver.poll(cx)) => lost,
                // The former primary may be frozen, so the requests that wait for it are failed.
                () = opened.moved => "another server is the primary now".to_owned(),
            };
            driver.shared.mark_lost(&lost);
        });
        Self { shared }
    }

    /// Queues a batch that `compose` writes.
    ///
    /// # Errors
    /// When the protocol cannot carry a statement. Nothing is queued then.
    pub(crate) fn send(
        &self,
        label: Option<BatchLabel>,
        compose: impl FnOnce(&mut Batch<'_>) -> Result<(), BatchError>,
    ) -> Result<Reply, BatchError> {
        let mut out = self.shared.out.borrow_mut();
        let mut statements = self.shared.statements.borrow_mut();
        let mut batch = Batch::begin(&mut out, &mut statements)?;
        let collector = match compose(&mut batch) {
            Ok(()) => batch.finish(label.as_ref().is_some_and(|label| label.writes)),
            Err(error) => {
                batch.discard();
                return Err(error);
            }
        };
        let (reply, receiver) = oneshot::channel();
        // On a lost connection the sender is dropped here, so that the receiver reports the loss immediately.
        if !self.is_lost() {
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

    /// Whether requests may still be sent: the connection is not lost, and its session is as it was at login.
    pub(crate) fn is_usable(&self) -> bool {
        !self.is_lost() && !self.shared.retired.get()
    }

    /// Takes no further requests; those in flight finish.
    pub(crate) fn retire(&self) {
        self.shared.retired.set(true);
    }

    fn is_lost(&self) -> bool {
        self.shared.closed.borrow().is_some()
    }

    /// Number of batches that have not finished.
    pub(crate) fn in_flight(&self) -> usize {
        self.shared.pending.borrow().len()
    }

    /// Whether a batch with [`BatchLabel::blocks`] is in flight.
    pub(crate) fn is_blocked(&self) -> bool {
        self.shared.blocking.get() > 0
    }

    /// The subject of the batch with [`BatchLabel::blocks`] that is in flight; `None` if there is none.
    pub(crate) fn blocking_subject(&self) -> Option<u64> {
        self.is_blocked().then(|| self.shared.blocking_subject.get())
    }

    /// Whether a batch with [`BatchLabel::writes`] is in flight.
    pub(crate) fn is_writing(&self) -> bool {
        self.shared.writing.get() > 0
    }

    /// When the server began to work on the oldest batch in flight; `None` if there is none.
    pub(crate) fn busy_since(&self) -> Option<Instant> {
        let pending = self.shared.pending.borrow();
        let first = pending.front()?;
        Some(first.collector.queued().max(self.shared.ready_since.get()))
    }

    /// How long the server has been idle; zero while a batch is in flight.
    pub(crate) fn idle_for(&self, now: Instant) -> Duration {
        if self.in_flight() > 0 {
            return Duration::ZERO;
        }
        now.saturating_duration_since(self.shared.ready_since.get())
    }

    /// Forgets all prepared statements. The server closes them with the next batch.
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

    fn mark_lost(&self, reason: &str) {
        tracing::debug!(reason, "a database connection ended");
        self.closed.borrow_mut().get_or_insert_with(|| reason.to_owned());
        let mut pending = std::mem::take(&mut *self.pending.borrow_mut());
        if let Some(first) = pending.pop_front_if(|first| first.collector.has_ended_session()) {
            self.ended_by_first.set(true);
            let finished = first
                .collector
                .finish(&mut self.statements.borrow_mut(), Duration::ZERO);
            // Fails when the request was cancelled, which is not an error.
            let _ = first.reply.send(finished);
        }
        // Dropping the senders makes all waiting requests fail with the reason stored above.
        drop(pending);
        self.blocking.set(0);
        self.writing.set(0);
        (self.on_finished)(None);
    }

    fn count(&self, pending: &Pending) {
        if let Some(label) = pending.label.as_ref().filter(|label| label.blocks) {
            self.blocking_subject.set(label.subject);
        }
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

    fn loss_reason(&self) -> String {
        let closed = self.closed.borrow();
        closed
            .clone()
            .unwrap_or_else(|| "the connection was closed".to_owned())
    }
}

/// The half of a connection that reads and writes; polled by its task.
struct Driver {
    shared: Rc<Shared>,
    stream: Box<dyn Stream>,
    settings: SessionSettings,
    /// Whether a finished batch has left settings behind that differ from those at login.
    has_changed: bool,
    incoming: BytesMut,
    read_size: usize,
    memory: MemoryBudget,
    /// The part of the memory for the long row that is being read.
    reserved: Option<Reservation>,
    /// Bytes that are still to come of a row that is not kept.
    skipping: usize,
}

impl Driver {
    /// Writes queued messages and reads arrived ones. Ready with the reason once the connection has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<String> {
        {
            let mut task = self.shared.task.borrow_mut();
            if !task.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
                *task = Some(cx.waker().clone());
            }
        }
        if self.shared.dropped.get() {
            return self.poll_terminate(cx);
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
        // Later, when all others had their turn and the thread has looked for new requests: a task that wakes itself has a turn before them.
        let _ = pin!(tokio::task::yield_now()).poll(cx);
        Poll::Pending
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut out = self.shared.out.borrow_mut();
        if out.is_empty() {
            return Poll::Ready(Ok(()));
        }
        ready!(out.poll_write(&mut self.stream, cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Sends `Terminate` if the socket accepts it without waiting.
    fn poll_terminate(&mut self, cx: &mut Context<'_>) -> Poll<String> {
        const TERMINATE: [u8; 5] = [b'X', 0, 0, 0, 4];
        if self.shared.out.borrow().is_empty() {
            let _ = Pin::new(&mut self.stream).poll_write(cx, &TERMINATE);
            let _ = Pin::new(&mut self.stream).poll_flush(cx);
        }
        Poll::Ready("closed by us".to_owned())
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), String>> {
        self.incoming.reserve(self.next_read_size());
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
        if self.skipping > 0 {
            self.skip();
        }
        while let Some((tag, length)) = parse_header(&self.incoming) {
            if length < 4 {
                return Poll::Ready(Err("the server sent a message that makes no sense".to_owned()));
            }
            let end = length + 1;
            if end >= COUNTED_FROM && tag == b'D' && !self.reserve_row(end) {
                self.skipping = end;
                self.skip();
                continue;
            }
            if self.incoming.len() < end {
                break;
            }
            self.handle_message(tag, end)?;
        }
        if self.incoming.is_empty() && self.shared.pending.borrow().is_empty() {
            self.read_size = SMALL_READ;
            if self.incoming.capacity() > SMALL_READ {
                self.incoming = BytesMut::new();
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Buffer space for the next read: enough for the rest of a message that has begun.
    fn next_read_size(&self) -> usize {
        let missing = parse_header(&self.incoming)
            .map_or(0, |(_, length)| (length + 1).saturating_sub(self.incoming.len()));
        missing.max(self.read_size)
    }

    /// Reserves memory for a row, before the bytes come that are still missing. False when the row is not kept: nobody waits for
    /// it, or it does not fit into the memory that is left.
    fn reserve_row(&mut self, bytes: usize) -> bool {
        if self.reserved.is_some() {
            return true;
        }
        let mut pending = self.shared.pending.borrow_mut();
        let Some(first) = pending.front_mut() else {
            // The message is out of step, and the connection will be closed for it.
            return true;
        };
        if first.reply.is_closed() {
            first.collector.discard_rows();
        }
        if first.collector.is_discarding() {
            return false;
        }
        // The statement of a write has taken effect, so its result is kept if that is possible at all.
        self.reserved = if first.writes() {
            self.memory.reserve_for_write(bytes)
        } else {
            self.memory.reserve(bytes)
        };
        if self.reserved.is_none() {
            first.collector.refuse_rows();
        }
        self.reserved.is_some()
    }

    /// Drops what has come of a row that is not kept.
    fn skip(&mut self) {
        let skipped = self.skipping.min(self.incoming.len());
        self.incoming.advance(skipped);
        self.skipping -= skipped;
    }

    fn handle_message(&mut self, tag: u8, end: usize) -> Result<(), String> {
        const HEAD: usize = 5;
        let shared = Rc::clone(&self.shared);
        match tag {
            b'Z' => {
                // In a transaction, settings may be those of the transaction alone.
                let is_idle = self.incoming.get(HEAD) == Some(&b'I');
                self.incoming.advance(end);
                self.finish_batch(is_idle)
            }
            b'S' => {
                let report = self.incoming.get(HEAD..end).unwrap_or_default();
                self.settings.note_report(report);
                self.incoming.advance(end);
                Ok(())
            }
            // NoticeResponse and NotificationResponse may come at any time and are ignored.
            b'N' | b'A' => {
                self.incoming.advance(end);
                Ok(())
            }
            _ => {
                let mut pending = shared.pending.borrow_mut();
                let Some(first) = pending.front_mut() else {
                    return Err(self.describe_unexpected(tag, end));
                };
                if first.reply.is_closed() {
                    first.collector.discard_rows();
                }
                let mut statements = shared.statements.borrow_mut();
                let taken = if end > LONG_MESSAGE {
                    let row = split_long_message(&mut self.incoming, end, self.reserved.take()).slice(HEAD..);
                    first
                        .collector
                        .handle_message(tag, Body::Owned(row), &mut statements, &self.memory)
                } else {
                    let body = self.incoming.get(HEAD..end).unwrap_or_default();
                    let taken = first.collector.handle_message(
                        tag,
                        Body::Borrowed(body),
                        &mut statements,
                        &self.memory,
                    );
                    self.incoming.advance(end);
                    taken
                };
                taken.map_err(|_| format!("the server sent {:?} out of step", char::from(tag)))
            }
        }
    }

    /// Why the server sent a message although no batch is in flight: usually an error that ends the session.
    fn describe_unexpected(&self, tag: u8, end: usize) -> String {
        match tag {
            b'E' => ErrorFields::parse(self.incoming.get(5..end).unwrap_or_default()).message,
            _ => format!("the server sent {:?} out of step", char::from(tag)),
        }
    }

    fn finish_batch(&mut self, is_idle: bool) -> Result<(), String> {
        let Some(first) = self.shared.pending.borrow_mut().pop_front() else {
            return Err("the server answered twice".to_owned());
        };
        self.shared.uncount(&first);
        let now = Instant::now();
        let since = first.collector.queued().max(self.shared.ready_since.replace(now));
        let mut finished = first.collector.finish(
            &mut self.shared.statements.borrow_mut(),
            now.saturating_duration_since(since),
        );
        // The server reports a change before the end of the batch that made it, so that batch itself is not affected.
        finished.in_changed_session = self.has_changed;
        if is_idle && self.settings.have_changed() {
            self.has_changed = true;
            self.shared.retired.set(true);
        }
        let ran = first.label.map(|label| (label, finished.duration));
        // Fails when the request was cancelled, which is not an error.
        let _ = first.reply.send(finished);
        (self.shared.on_finished)(ran);
        Ok(())
    }
}

/// Splits a long message off the read buffer without a copy. One for which memory is reserved holds it until it is dropped.
fn split_long_message(incoming: &mut BytesMut, length: usize, reserved: Option<Reservation>) -> Bytes {
    let message = incoming.split_to(length).freeze();
    match reserved {
        None => message,
        Some(reserved) => {
            // What has come after it moves to a buffer of its own, which would otherwise keep the memory of the message.
            *incoming = BytesMut::from(incoming.as_ref());
            reserved.hold(message)
        }
    }
}
