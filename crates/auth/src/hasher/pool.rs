//! Threads for work that takes a core for long, and a bounded queue in front of them.
//!
//! All threads but the first run at idle priority, so that requests never wait for them. On a machine without
//! idle time they hardly progress and return their job to the queue; the first thread runs at low priority
//! and finishes it.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use selvedge_gateway::compute_priority::{ComputePriority, ComputeThread};

/// A password hash computed in steps of about 50 µs, so that requests are served in between. It sends its
/// result itself.
pub(super) trait HashJob: Send {
    /// Computes for about 50 µs, or to the end if the job cannot be interrupted; false when it is done.
    fn step(&mut self) -> bool;
}

type Job = Box<dyn HashJob>;

/// Steps after which a thread looks at the clock.
const STEPS_PER_CHECK: usize = 8;
/// Many times what these steps take on an idle core: a thread that needs longer returns its job to the queue.
const SLOW_AFTER: Duration = Duration::from_millis(10);

/// The error when the queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueueFull;

/// The threads; they end with the last clone.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    shared: Arc<Shared>,
    _end: Arc<EndOnDrop>,
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
            let priority = match number {
                0 => ComputePriority::Low,
                _ => ComputePriority::Idle,
            };
            let started = thread::Builder::new()
                .name(format!("hasher-{number}"))
                .spawn(move || shared.run_thread(priority));
            if let Err(error) = started {
                tracing::error!(%error, "a hashing thread did not start");
            }
        }
        let end = Arc::new(EndOnDrop(Arc::clone(&shared)));
        Self { shared, _end: end }
    }

    /// Queues a job.
    pub(super) fn queue_job(&self, job: Job) -> Result<(), QueueFull> {
        let mut state = self.shared.lock();
        if state.waiting.len() >= self.shared.longest_queue {
            return Err(QueueFull);
        }
        state.waiting.push_back(job);
        drop(state);
        // Wakes all threads: a single one might be of idle priority and not get to run.
        self.shared.changed.notify_all();
        Ok(())
    }
}

/// Ends the threads when it is dropped.
#[derive(Debug)]
struct EndOnDrop(Arc<Shared>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
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
    has_ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of each thread: takes jobs from the queue until the pool is dropped.
    fn run_thread(&self, priority: ComputePriority) {
        let mut thread = ComputeThread::start(priority);
        while let Some(job) = self.wait_for_job() {
            let Some(unfinished) = run_job(job, priority, &mut thread) else {
                continue;
            };
            self.lock().waiting.push_front(unfinished);
            self.changed.notify_all();
            thread::sleep(SLOW_AFTER);
        }
    }

    /// Waits for a job; `None` when there will be none.
    fn wait_for_job(&self) -> Option<Job> {
        let mut state = self.lock();
        while !state.has_ended {
            if let Some(job) = state.waiting.pop_front() {
                return Some(job);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }
}

/// Runs the job to its end, or returns it when this thread makes too little progress.
fn run_job(mut job: Job, priority: ComputePriority, thread: &mut ComputeThread) -> Option<Job> {
    loop {
        let began = Instant::now();
        for _ in 0..STEPS_PER_CHECK {
            if !job.step() {
                return None;
            }
            thread.pause_if_busy();
        }
        if priority == ComputePriority::Idle && began.elapsed() > SLOW_AFTER {
            return Some(job);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    impl<F: FnMut() -> bool + Send> HashJob for F {
        fn step(&mut self) -> bool {
            self()
        }
    }

    #[test]
    fn a_job_that_makes_no_progress_on_an_idle_thread_moves_to_the_first_thread() {
        let pool = Pool::start(2, 8);
        let (seen, names) = mpsc::channel();
        pool.queue_job(Box::new(move || {
            let name = thread::current()
                .name()
                .map(str::to_owned)
                .expect("threads have names");
            if name == "hasher-1" {
                // Simulates a thread of idle priority that rarely gets to run.
                thread::sleep(2 * SLOW_AFTER);
            }
            seen.send(name).is_ok()
        }))
        .expect("the queue has room");

        // Whichever thread starts the job, the first one finishes it: only the thread of idle priority returns jobs.
        assert!(
            names
                .iter()
                .take(10 * STEPS_PER_CHECK)
                .any(|name| name == "hasher-0")
        );
        assert!(
            names
                .iter()
                .take(10 * STEPS_PER_CHECK)
                .all(|name| name == "hasher-0")
        );
    }

    #[test]
    fn a_full_queue_rejects_further_jobs() {
        let pool = Pool::start(1, 2);
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));

        let results: Vec<_> = (0..4)
            .map(|_| {
                let held = Arc::clone(&held);
                pool.queue_job(Box::new(move || {
                    let _ = held.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    false
                }))
            })
            .collect();

        assert!(results[0].is_ok() && results[1].is_ok());
        assert_eq!(results[3], Err(QueueFull));
        drop(release);
    }
}
