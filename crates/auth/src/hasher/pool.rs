//! Threads for work that takes a core for long, and a bounded queue in front of them.
//!
//! All but the first take only what the machine has left over, so that requests never wait for them; on a machine that is never
//! idle they hardly move. The first one insists a little, and does again what lies with the others for too long: the work has no
//! effect beside its answer, and the first answer counts.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use selvedge_gateway::background::{StandBack, stand_back};

/// Several times what a hash takes on a core of its own.
const PATIENCE: Duration = Duration::from_millis(250);

/// Something to be done, twice at most; it hands its answer over itself.
type Job = Arc<dyn Fn() + Send + Sync>;

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

/// The threads; they end with the last clone.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    shared: Arc<Shared>,
    _end: Arc<End>,
}

impl Pool {
    /// Starts the threads, at least one: as many as there are cores if `threads` is 0.
    pub(super) fn start(threads: usize, longest_queue: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = if threads == 0 { cores } else { threads };
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            longest_queue: longest_queue.max(1),
        });
        for number in 0..threads {
            let shared = Arc::clone(&shared);
            let started =
                thread::Builder::new()
                    .name(format!("hasher-{number}"))
                    .spawn(move || match number {
                        0 => shared.insist(),
                        _ => shared.help(),
                    });
            if let Err(error) = started {
                tracing::error!(%error, "a hashing thread did not start");
            }
        }
        let end = Arc::new(End(Arc::clone(&shared)));
        Self { shared, _end: end }
    }

    /// Queues a job.
    pub(super) fn put(&self, job: Job) -> Result<(), Full> {
        let mut state = self.shared.lock();
        if state.waiting.len() >= self.shared.longest_queue {
            return Err(Full);
        }
        state.waiting.push_back(job);
        drop(state);
        // All of them: one alone might be one that stands back and does not get to run.
        self.shared.changed.notify_all();
        Ok(())
    }
}

/// Ends the threads when it is dropped.
#[derive(Debug)]
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    longest_queue: usize,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    /// What the threads that stand back have taken, oldest first.
    lent: VecDeque<Lent>,
    next_number: u64,
    is_over: bool,
}

struct Lent {
    number: u64,
    since: Instant,
    job: Job,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first thread: what lies with the others for too long, then the queue.
    fn insist(&self) {
        stand_back(StandBack::Mostly);
        let mut state = self.lock();
        while !state.is_over {
            let oldest = state.lent.front().map(|lent| lent.since.elapsed());
            let job = match oldest {
                Some(age) if age >= PATIENCE => state.lent.pop_front().map(|lent| lent.job),
                _ => state.waiting.pop_front(),
            };
            if let Some(job) = job {
                drop(state);
                job();
                state = self.lock();
                continue;
            }
            state = match oldest {
                Some(age) => {
                    let rest = PATIENCE.saturating_sub(age);
                    let woken = self.changed.wait_timeout(state, rest);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// The other threads: the queue, where it is seen what they have taken.
    fn help(&self) {
        stand_back(StandBack::Entirely);
        let mut state = self.lock();
        while !state.is_over {
            let Some(job) = state.waiting.pop_front() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let number = state.next_number;
            state.next_number += 1;
            state.lent.push_back(Lent {
                number,
                since: Instant::now(),
                job: Arc::clone(&job),
            });
            drop(state);
            // The first thread must learn that there is something to look after.
            self.changed.notify_all();
            job();
            state = self.lock();
            state.lent.retain(|lent| lent.number != number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn what_lies_with_a_helper_for_too_long_is_done_by_the_first_thread() {
        let pool = Pool::start(2, 8);
        let (answers, received) = mpsc::channel();
        // Both threads are held until somebody does it for the second time.
        let tries = Arc::new(AtomicUsize::new(0));
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let job: Job = Arc::new(move || {
            if thread::current().name() == Some("hasher-1") {
                tries.fetch_add(1, Ordering::Relaxed);
                let _ = held.lock().unwrap_or_else(PoisonError::into_inner).recv();
            } else {
                let _ = answers.send(tries.load(Ordering::Relaxed));
            }
        });
        // Until the helper has got one, the first thread does them.
        loop {
            pool.put(Arc::clone(&job)).expect("the queue has room");
            let helper_was_there = received.recv().expect("the first thread answers") == 1;
            if helper_was_there {
                break;
            }
        }
        release.send(()).expect("the helper waits");
    }

    #[test]
    fn a_full_queue_takes_no_more() {
        let pool = Pool::start(1, 2);
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let job: Job = Arc::new(move || {
            let _ = held.lock().unwrap_or_else(PoisonError::into_inner).recv();
        });

        let results: Vec<_> = (0..4).map(|_| pool.put(Arc::clone(&job))).collect();

        assert!(results[0].is_ok() && results[1].is_ok());
        assert_eq!(results[3], Err(Full));
        drop(release);
    }
}
