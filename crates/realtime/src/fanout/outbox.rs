//! The bounded queue between the fan-out and a socket's task. Both run on one thread, so it needs no lock.

use std::cell::{Cell, Ref, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use selvedge_limits::ClientId;
use selvedge_memory::MemoryBudget;

use super::channel_id::ChannelId;
use super::wake_queue::WakeQueue;
use crate::frame::EncodedFrame;
use crate::limits::GrowingMemory;
use crate::metrics::METRICS;

/// An empty queue keeps room for this many frames; a larger buffer is freed, so that one burst does not hold memory
/// for every idle socket.
const KEPT_CAPACITY: usize = 16;

/// How many messages and bytes may wait for one slow reader.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueueLimits {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

/// Events other than messages that the fan-out reports to a socket's task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The client read too slowly: its queue was full and has been dropped.
    Overflow,
    /// Close one channel with this text as a `system` error.
    CloseChannel {
        channel: ChannelId,
        reason: &'static str,
    },
    /// End the channels whose users were deleted or banned.
    CheckUsers,
    /// The server shuts down: close the socket after this pause.
    Drain { pause: Duration },
}

/// A frame in the queue.
#[derive(Debug, PartialEq, Eq)]
struct Queued {
    frame: EncodedFrame,
    /// Whether no other socket has it, so that its memory is this one's.
    is_own: bool,
}

/// The memory of the frames that no other socket has. Those that several sockets get are counted where they are made.
struct OwnFrames {
    memory: MemoryBudget,
    client: ClientId,
    bytes: usize,
    reserved: GrowingMemory,
}

/// Messages and signals that wait for a socket's task.
pub(crate) struct Outbox {
    limits: QueueLimits,
    queue: RefCell<VecDeque<Queued>>,
    queued_bytes: Cell<usize>,
    own: RefCell<OwnFrames>,
    /// Set by an overflow and never cleared: the socket will be closed, so later messages are dropped.
    is_full: Cell<bool>,
    signals: RefCell<Vec<Signal>>,
    /// The waker of the socket's task; `None` until the task has run once.
    waker: RefCell<Option<Waker>>,
    /// Whether the task has been woken since it last looked: of the messages of one burst only the first wakes it.
    is_woken: Cell<bool>,
    /// Wakes the tasks of all sockets of this thread.
    wakes: Rc<WakeQueue>,
}

impl fmt::Debug for Outbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queued_bytes = self.queued_bytes.get();
        formatter
            .debug_struct("Outbox")
            .field("queued_bytes", &queued_bytes)
            .finish_non_exhaustive()
    }
}

impl Outbox {
    pub(crate) fn new(
        limits: QueueLimits,
        wakes: Rc<WakeQueue>,
        memory: MemoryBudget,
        client: ClientId,
    ) -> Self {
        Self {
            limits,
            queue: RefCell::default(),
            queued_bytes: Cell::default(),
            own: RefCell::new(OwnFrames {
                memory,
                client,
                bytes: 0,
                reserved: GrowingMemory::default(),
            }),
            is_full: Cell::default(),
            signals: RefCell::default(),
            waker: RefCell::default(),
            is_woken: Cell::default(),
            wakes,
        }
    }

    /// Queues a message that several sockets get, see [`Outbox::push_own`].
    pub(crate) fn push(&self, frame: EncodedFrame) {
        self.enqueue(Queued { frame, is_own: false });
    }

    /// Queues a message that no other socket gets, whose memory is counted. The socket is closed also when there is none for it.
    pub(crate) fn push_own(&self, frame: EncodedFrame) {
        let mut own = self.own.borrow_mut();
        own.bytes += frame.len();
        let has_memory = own.cover();
        drop(own);
        self.enqueue(Queued { frame, is_own: true });
        if !has_memory {
            self.overflow();
        }
    }

    /// Queues a message and wakes the socket's task. When the queue is full, it is emptied and the socket is closed: the
    /// client then reconnects and knows that it may have missed messages, whereas a gap in an open socket would not be
    /// noticed.
    fn enqueue(&self, queued: Queued) {
        // The socket is closing; queueing more would only delay it.
        if self.is_full.get() {
            return;
        }
        let mut queue = self.queue.borrow_mut();
        let bytes = self.queued_bytes.get() + queued.frame.len();
        // A single message may be larger than the limit: an empty queue takes it.
        if !queue.is_empty() && (queue.len() >= self.limits.messages || bytes > self.limits.bytes) {
            drop(queue);
            self.overflow();
            return;
        }
        queue.push_back(queued);
        drop(queue);
        self.queued_bytes.set(bytes);
        METRICS.messages_delivered.inc();
        self.wake();
    }

    /// Empties the queue for good, and tells the socket to close.
    fn overflow(&self) {
        if self.is_full.replace(true) {
            return;
        }
        // Freed immediately, because the limit has to bound memory, and the client will not read these messages.
        self.queue.borrow_mut().clear();
        self.queued_bytes.set(0);
        self.own.borrow_mut().free();
        METRICS.count_drop("slow_reader");
        self.signal(Signal::Overflow);
    }

    /// Whether half of what may wait for the client is waiting.
    pub(crate) fn is_half_full(&self) -> bool {
        !self.is_full.get()
            && (self.queue.borrow().len() >= self.limits.messages / 2
                || self.queued_bytes.get() >= self.limits.bytes / 2)
    }

    /// The queued frames, oldest first. Nothing may be pushed or taken while they are borrowed.
    pub(crate) fn frames(&self) -> OutboxFrames<'_> {
        OutboxFrames(self.queue.borrow())
    }

    /// Takes the oldest frame.
    pub(crate) fn pop(&self) -> Option<EncodedFrame> {
        let mut queue = self.queue.borrow_mut();
        let Queued { frame, is_own } = queue.pop_front()?;
        if is_own {
            self.own.borrow_mut().remove(frame.len());
        }
        self.queued_bytes.set(self.queued_bytes.get() - frame.len());
        if queue.is_empty() && queue.capacity() > KEPT_CAPACITY {
            *queue = VecDeque::new();
        }
        Some(frame)
    }

    /// Queues a signal and wakes the socket's task.
    pub(crate) fn signal(&self, signal: Signal) {
        self.signals.borrow_mut().push(signal);
        self.wake();
    }

    /// Takes the newest signal. Their order does not matter: overflow and drain end the socket whatever else is
    /// queued.
    pub(crate) fn take_signal(&self) -> Option<Signal> {
        self.signals.borrow_mut().pop()
    }

    /// Stores the waker for the next message or signal. Must be called before looking for either; one that arrived in
    /// between would not wake the task.
    pub(crate) fn register(&self, cx: &Context<'_>) {
        self.is_woken.set(false);
        let mut waker = self.waker.borrow_mut();
        match &mut *waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
    }

    fn wake(&self) {
        if !self.is_woken.replace(true)
            && let Some(waker) = &*self.waker.borrow()
        {
            self.wakes.wake(waker);
        }
    }
}

/// The queued frames of an outbox, oldest first.
pub(crate) struct OutboxFrames<'a>(Ref<'a, VecDeque<Queued>>);

impl OutboxFrames<'_> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &EncodedFrame> {
        self.0.iter().map(|queued| &queued.frame)
    }
}

impl OwnFrames {
    /// Reserves what the frames have. False when there is no memory for them.
    fn cover(&mut self) -> bool {
        self.reserved.cover(self.bytes, &self.memory, self.client)
    }

    fn remove(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
        if self.bytes == 0 {
            self.free();
        }
    }

    fn free(&mut self) {
        self.bytes = 0;
        self.reserved = GrowingMemory::default();
    }
}

#[cfg(test)]
pub(crate) fn outbox_for_tests(limits: QueueLimits, memory: MemoryBudget) -> Outbox {
    Outbox::new(limits, Rc::default(), memory, ClientId::of_connection(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbox() -> Outbox {
        let limits = QueueLimits {
            messages: 3,
            bytes: 10,
        };
        outbox_for_tests(limits, MemoryBudget::unlimited())
    }

    #[test]
    fn realtime_075_frames_of_one_socket_alone_are_counted_until_they_are_sent() {
        let limits = QueueLimits {
            messages: 1000,
            bytes: usize::MAX,
        };
        let budget = MemoryBudget::new(2 * 1024 * 1024);
        let outbox = outbox_for_tests(limits, budget.clone());
        let long = "x".repeat(300_000);
        for _ in 0..3 {
            outbox.push_own(EncodedFrame::text(&[&long]));
            outbox.push(EncodedFrame::text(&[&long]));
        }
        assert!((900_000..1_100_000).contains(&budget.used()), "{}", budget.used());
        while outbox.pop().is_some() {}
        assert_eq!((budget.used(), outbox.take_signal()), (0, None));

        for _ in 0..4 {
            outbox.push_own(EncodedFrame::text(&[&long]));
        }

        assert_eq!(
            outbox.take_signal(),
            Some(Signal::Overflow),
            "the client's share is used up"
        );
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn realtime_052_a_full_queue_is_emptied_and_signals_overflow() {
        let outbox = outbox();
        for _ in 0..3 {
            outbox.push(EncodedFrame::text(&["a"]));
        }
        assert_eq!(outbox.take_signal(), None);

        outbox.push(EncodedFrame::text(&["b"]));
        outbox.push(EncodedFrame::text(&["c"]));

        assert_eq!(outbox.take_signal(), Some(Signal::Overflow));
        assert_eq!(outbox.take_signal(), None, "it is said once");
        assert_eq!(outbox.pop(), None);
    }

    #[test]
    fn realtime_052_bytes_are_bounded_but_one_message_always_fits() {
        let outbox = outbox();

        outbox.push(EncodedFrame::text(&["longer than ten bytes"]));
        assert_eq!(outbox.take_signal(), None);
        outbox.push(EncodedFrame::text(&["x"]));
        assert_eq!(outbox.take_signal(), Some(Signal::Overflow));
    }
}
