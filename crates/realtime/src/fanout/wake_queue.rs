//! Spreads the waking of sockets over turns of the thread's event loop.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;

use actix_web::rt;
use tokio::task::yield_now;

/// Sockets that are woken in one turn of the event loop. Writing to a socket takes about 10 µs, so that whatever else the
/// thread serves, such as REST requests, waits a third of a millisecond and not until a broadcast has reached all members.
const SOCKETS_PER_TURN: usize = 32;

/// The sockets of one worker that have something to write and have not been woken yet.
#[derive(Debug, Default)]
pub(crate) struct WakeQueue {
    waiting: RefCell<VecDeque<Waker>>,
    /// Sockets that have been woken in this turn.
    woken: Cell<usize>,
    /// Whether the task that begins the next turn is running.
    is_running: Cell<bool>,
}

impl WakeQueue {
    /// Wakes a socket's task, now or in one of the next turns.
    pub(super) fn wake(self: &Rc<Self>, socket: &Waker) {
        let woken = self.woken.get();
        // Waiting sockets are woken first, so that no socket waits longer than one turn of all others.
        if woken < SOCKETS_PER_TURN && self.waiting.borrow().is_empty() {
            self.woken.set(woken + 1);
            socket.wake_by_ref();
        } else {
            self.waiting.borrow_mut().push_back(socket.clone());
        }
        if !self.is_running.replace(true) {
            rt::spawn(run_turns(Rc::clone(self)));
        }
    }

    /// Begins a turn; returns whether any socket is woken in it.
    fn begin_turn(&self) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        let count = waiting.len().min(SOCKETS_PER_TURN);
        for socket in waiting.drain(..count) {
            socket.wake();
        }
        self.woken.set(count);
        count > 0
    }
}

/// Begins turns until one has nothing to wake. A yield ends when the event loop has looked for new input once, and after the
/// tasks that were ready before.
async fn run_turns(queue: Rc<WakeQueue>) {
    loop {
        yield_now().await;
        if !queue.begin_turn() {
            queue.is_running.set(false);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct CountingWaker(AtomicUsize);

    impl Wake for CountingWaker {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[actix_web::test]
    async fn a_turn_wakes_a_part_of_the_sockets_and_later_turns_the_others() {
        let queue = Rc::new(WakeQueue::default());
        let woken = Arc::new(CountingWaker::default());
        let waker = Waker::from(Arc::clone(&woken));
        let count = || woken.0.load(Ordering::Relaxed);

        for _ in 0..3 * SOCKETS_PER_TURN {
            queue.wake(&waker);
        }
        assert_eq!(count(), SOCKETS_PER_TURN);

        while queue.is_running.get() {
            let before = count();
            yield_now().await;
            assert!(count() - before <= SOCKETS_PER_TURN);
        }
        assert_eq!(count(), 3 * SOCKETS_PER_TURN);

        // The next message is written immediately again.
        queue.wake(&waker);
        assert_eq!(count(), 3 * SOCKETS_PER_TURN + 1);
    }
}
