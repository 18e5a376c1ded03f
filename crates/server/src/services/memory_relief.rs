//! What is given up when the control group's memory runs short: statements of PostgreSQL, and workers of functions.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use selvedge_functions::Functions;
use selvedge_memory::Shortage;
use selvedge_postgres::cluster::{SUPERUSER, SessionMemory};

/// Sessions of PostgreSQL that hold as much are given up, once much of the memory is in use, and when it is nearly used up. One that serves
/// usual requests holds 4 to 20 MB.
const VERY_LARGE_SESSION: u64 = 40 * 1024 * 1024;
const LARGE_SESSION: u64 = 24 * 1024 * 1024;
/// In a large group a session that is given up holds at least the limit divided by these numbers: ending smaller ones would not help.
const VERY_LARGE_PART: u64 = 16;
const LARGE_PART: u64 = 32;
/// Logins of the project's owner: of migrations, restores and `psql`. Strangers' statements run under other ones, and are given up first.
const OWNERS: [&str; 2] = ["postgres", SUPERUSER];
/// Time between two workers that end, in which the memory of the first one becomes free.
const PAUSE_OF_WORKERS: Duration = Duration::from_millis(500);

/// Gives up what holds most, and says so in the log.
pub(super) struct MemoryRelief {
    limit_bytes: u64,
    sessions: SessionMemory,
    functions: Arc<OnceLock<Functions>>,
    worker_ended: Option<Instant>,
}

impl MemoryRelief {
    pub(super) fn new(limit_bytes: u64, functions: Arc<OnceLock<Functions>>) -> Self {
        Self {
            limit_bytes,
            sessions: SessionMemory::default(),
            functions,
            worker_ended: None,
        }
    }

    /// Gives up the statement of the session that holds most, or else the largest worker of a function. Returns whether it was a statement.
    pub(super) fn relieve(&mut self, shortage: Shortage) -> bool {
        let least = smallest_session_bytes(self.limit_bytes, shortage);
        let spared: &[&str] = match shortage {
            Shortage::Begins => &OWNERS,
            Shortage::Urgent => &[],
        };
        if let Some(cancelled) = self.sessions.cancel_largest(least, spared) {
            tracing::warn!(
                pid = cancelled.pid,
                bytes = cancelled.bytes,
                login = cancelled.login,
                is_ended = cancelled.is_ended,
                "memory runs short: the statement of the session that holds most was cancelled"
            );
            return true;
        }
        if shortage == Shortage::Urgent && !self.sessions.is_waiting() {
            let functions = Arc::clone(&self.functions);
            self.end_worker(|| functions.get().and_then(Functions::end_largest_worker));
        }
        false
    }

    /// Ends a worker, unless one was ended a moment ago: its process takes a while to end, and until then as much memory is in use.
    fn end_worker(&mut self, end_largest: impl FnOnce() -> Option<(String, u64)>) {
        if self
            .worker_ended
            .is_some_and(|at| at.elapsed() < PAUSE_OF_WORKERS)
        {
            return;
        }
        if let Some((function, bytes)) = end_largest() {
            self.worker_ended = Some(Instant::now());
            tracing::warn!(
                function,
                bytes,
                "memory runs short: the worker that uses most was ended"
            );
        }
    }
}

/// How many bytes a session holds at least that is given up.
fn smallest_session_bytes(limit: u64, shortage: Shortage) -> u64 {
    match shortage {
        Shortage::Begins => VERY_LARGE_SESSION.max(limit / VERY_LARGE_PART),
        Shortage::Urgent => LARGE_SESSION.max(limit / LARGE_PART),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn gw_049_a_shortage_ends_one_worker_at_a_time() {
        let mut relief = MemoryRelief::new(512 * MIB, Arc::default());
        let mut ended = 0;
        let mut relieve = |relief: &mut MemoryRelief| {
            relief.end_worker(|| {
                ended += 1;
                Some(("resize".to_owned(), 100 * MIB))
            });
        };

        relieve(&mut relief);
        relieve(&mut relief);
        relief.worker_ended = Instant::now().checked_sub(PAUSE_OF_WORKERS);
        relieve(&mut relief);

        assert_eq!(ended, 2);
    }

    #[test]
    fn gw_049_a_worker_that_was_not_there_to_end_keeps_no_other_waiting() {
        let mut relief = MemoryRelief::new(512 * MIB, Arc::default());

        relief.end_worker(|| None);

        assert!(relief.worker_ended.is_none());
    }

    #[test]
    fn gw_049_in_a_large_group_only_sessions_are_given_up_that_hold_a_part_of_it() {
        let least = |limit, shortage| smallest_session_bytes(limit * MIB, shortage) / MIB;

        assert_eq!(least(512, Shortage::Begins), 40);
        assert_eq!(least(512, Shortage::Urgent), 24);
        // An index is built with 64 MB.
        assert_eq!(least(4096, Shortage::Begins), 256);
        assert_eq!(least(4096, Shortage::Urgent), 128);
    }
}
