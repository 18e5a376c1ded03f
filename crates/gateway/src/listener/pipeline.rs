//! How many requests of a connection wait for their turn, when a client sends the next ones before it has the answers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

/// Requests that wait behind the one that is being answered. The HTTP library makes a request of each head that it gets, so those of a client
/// that sends heads and reads nothing would fill the memory.
const MOST_WAITING: usize = 16;

/// Counts the requests of one connection from their heads to their calls. Clones count together.
#[derive(Debug, Clone, Default)]
pub(super) struct Pipeline(Rc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    waiting: Cell<usize>,
    /// Told when one that waited is called.
    reader: RefCell<Option<Waker>>,
}

impl Pipeline {
    /// How many further heads may be passed on. With 0 the task is woken when there is room again.
    pub(super) fn find_room(&self, cx: &Context<'_>) -> usize {
        let room = MOST_WAITING.saturating_sub(self.0.waiting.get());
        if room == 0 {
            *self.0.reader.borrow_mut() = Some(cx.waker().clone());
        }
        room
    }

    /// Counts heads that were passed on.
    pub(super) fn add(&self, heads: usize) {
        self.0.waiting.set(self.0.waiting.get() + heads);
    }

    /// Counts a request as called or refused.
    pub(super) fn note_call(&self) {
        self.0.waiting.set(self.0.waiting.get().saturating_sub(1));
        let reader = self.0.reader.take();
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}
