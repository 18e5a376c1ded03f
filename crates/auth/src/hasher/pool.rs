//! Threads for work that takes a core for long, and a bounded queue in front of them.
//!
//! All but the first take only what the machine has left over, so that requests never wait for them; on a machine that is
//! never idle they hardly move, and hand on what they have. The first one insists a little.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use selvedge_gateway::background::{GiveWay, StandBack};

/// Something to be done step by step. It hands its answer over itself.
pub(super) trait Work: Send {
    /// Goes on for some 50 µs, if it can be cut that small; false when it is done.
    fn step(&mut self) -> bool;
}

type Job = Box<dyn Work>;

/// Steps after which a thread looks at the clock.
const STEPS: usize = 8;
/// Many times what so many steps take on a core of their own: somebody else should go on.
const PATIENCE: Duration = Duration::from_millis(10);

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
            let how = match number {
                0 => StandBack::Mostly,
                _ => StandBack::Entirely,
            };
            let started = thread::Builder::new()
                .name(format!("hasher-{number}"))
                .spawn(move || shared.work(how));
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
    is_over: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each thread does.
    fn work(&self, how: StandBack) {
        let mut give_way = GiveWay::start(how);
        while let Some(job) = self.next() {
            let Some(unfinished) = go_on(job, how, &mut give_way) else {
                continue;
            };
            self.lock().waiting.push_front(unfinished);
            self.changed.notify_all();
            thread::sleep(PATIENCE);
        }
    }

    /// Waits for a job; `None` when there will be none.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        while !state.is_over {
            if let Some(job) = state.waiting.pop_front() {
                return Some(job);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }
}

/// Works until the job is done, or returns it because it does not get ahead here.
fn go_on(mut job: Job, how: StandBack, give_way: &mut GiveWay) -> Option<Job> {
    loop {
        let began = Instant::now();
        for _ in 0..STEPS {
            if !job.step() {
                return None;
            }
            give_way.pause_if_busy();
        }
        if how == StandBack::Entirely && began.elapsed() > PATIENCE {
            return Some(job);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    impl<F: FnMut() -> bool + Send> Work for F {
        fn step(&mut self) -> bool {
            self()
        }
    }

    #[test]
    fn what_does_not_get_ahead_on_a_thread_that_stands_back_is_handed_on() {
        let pool = Pool::start(2, 8);
        let (seen, names) = mpsc::channel();
        pool.put(Box::new(move || {
            let name = thread::current()
                .name()
                .map(str::to_owned)
                .expect("threads have names");
            if name == "hasher-1" {
                // It got a moment only now and then.
                thread::sleep(2 * PATIENCE);
            }
            seen.send(name).is_ok()
        }))
        .expect("the queue has room");

        // Whoever has it first, the first thread has it in the end, and keeps it.
        assert!(names.iter().take(10 * STEPS).any(|name| name == "hasher-0"));
        assert!(names.iter().take(10 * STEPS).all(|name| name == "hasher-0"));
    }

    #[test]
    fn a_full_queue_takes_no_more() {
        let pool = Pool::start(1, 2);
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));

        let results: Vec<_> = (0..4)
            .map(|_| {
                let held = Arc::clone(&held);
                pool.put(Box::new(move || {
                    let _ = held.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    false
                }))
            })
            .collect();

        assert!(results[0].is_ok() && results[1].is_ok());
        assert_eq!(results[3], Err(Full));
        drop(release);
    }
}
