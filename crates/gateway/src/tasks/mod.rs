//! Tasks that run as long as the server. One that panics is started again, and `/health/ready` names it for a while: a task that has
//! ended would be missed only when somebody notices that its work is not done.

pub mod compute_priority;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;

/// The pause before a task that panicked is started again; it doubles with each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How long a panic is reported.
const REPORTED_FOR: Duration = Duration::from_secs(600);

/// By name, when each task has panicked last.
static PANICS: Mutex<BTreeMap<&'static str, Instant>> = Mutex::new(BTreeMap::new());

/// Runs a task until it ends by itself, and starts it again after a panic, whose message the panic hook has logged.
pub async fn keep_running<F: Future<Output = ()>>(name: &'static str, mut start: impl FnMut() -> F) {
    let mut pause = FIRST_PAUSE;
    loop {
        let started = Instant::now();
        // The state that the panic may have left half-way is dropped with the future.
        if AssertUnwindSafe(start()).catch_unwind().await.is_ok() {
            return;
        }
        if started.elapsed() > LONGEST_PAUSE {
            pause = FIRST_PAUSE;
        }
        note_panic(name);
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Logs that a task has panicked and is going to be started again, and remembers it for [`list_panicked_tasks`].
pub fn note_panic(name: &'static str) {
    tracing::error!(task = name, "a task of the server panicked and is started again");
    panics().insert(name, Instant::now());
}

/// The names of the tasks that have panicked in the last ten minutes.
pub fn list_panicked_tasks() -> Vec<&'static str> {
    let recent = |(name, at): (&&'static str, &Instant)| (at.elapsed() < REPORTED_FOR).then_some(*name);
    panics().iter().filter_map(recent).collect()
}

fn panics() -> MutexGuard<'static, BTreeMap<&'static str, Instant>> {
    PANICS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_is_started_again_and_reported() {
        let mut starts = 0;
        keep_running("fragile", || {
            starts += 1;
            let fails = starts < 3;
            async move { assert!(!fails, "this panic is a part of the test") }
        })
        .await;

        assert_eq!(starts, 3);
        assert_eq!(list_panicked_tasks(), ["fragile"]);
    }
}
