//! Decides when a worker has used too much. Source: functions contract §7.
//!
//! Processor time is counted from the last response that has begun, so that a worker under load is not taken for one in an
//! endless loop, in which no response begins any more.

use std::time::Duration;

use super::end::EndReason;
use super::usage::{OpenFiles, Usage};
use crate::config::WorkerLimits;

/// Memory of a Deno process that serves an empty function; not the function's own.
const RUNTIME_BYTES: u64 = 48 * 1024 * 1024;

/// Most files, sockets and listeners that a worker may have open; fewer where the system gives it fewer. They take memory of the kernel,
/// which is not the worker's own.
const MOST_OPEN_FILES: u64 = 4096;

/// Below the limit, Deno opens files in twos and threes, and fails.
const FILES_OF_RUNTIME: u64 = 16;

/// The shares of its life after which a worker gets no new requests, and after which it is told that it ends. A request that comes just before
/// the first one still has half a life, which is longer than a request may be silent.
const LIFE_FOR_NEW_REQUESTS: f64 = 0.5;
const LIFE_UNTIL_WARNING: f64 = 0.9;

/// What to do with a worker after a check of its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitAction {
    /// It gets no new requests, and is told why: at once, or near the end of its life where that is the reason.
    Retire(EndReason),
    /// It is killed; its requests are answered with 546.
    Kill(EndReason),
}

/// The usage of one worker over time.
#[derive(Debug)]
pub(super) struct LimitCheck {
    limits: WorkerLimits,
    /// CPU time when the last response began, or when the worker was idle. `None` before the first sample, so that the start
    /// is not counted.
    cpu_at_progress: Option<Duration>,
    responses: u64,
}

/// A moment in the life of a worker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) age: Duration,
    pub(super) usage: Usage,
    /// Size of the worker's files in `/tmp`.
    pub(super) temporary_bytes: u64,
    pub(super) open_files: OpenFiles,
    /// Number of responses whose head was received.
    pub(super) responses: u64,
    /// Whether a request or background work is in progress.
    pub(super) is_busy: bool,
}

impl LimitCheck {
    pub(super) fn new(limits: WorkerLimits) -> Self {
        Self {
            limits,
            cpu_at_progress: None,
            responses: 0,
        }
    }

    /// Compares a sample with the limits.
    pub(super) fn check(&mut self, sample: Sample) -> Option<LimitAction> {
        if sample.responses != self.responses || !sample.is_busy {
            self.responses = sample.responses;
            self.cpu_at_progress = None;
        }
        let before = *self.cpu_at_progress.get_or_insert(sample.usage.cpu);
        let cpu = sample.usage.cpu.saturating_sub(before);
        let memory = sample.usage.memory_bytes.saturating_sub(RUNTIME_BYTES);
        let limits = &self.limits;
        if memory > limits.memory_bytes {
            return Some(LimitAction::Kill(EndReason::Memory));
        }
        if sample.temporary_bytes > limits.temporary_bytes {
            return Some(LimitAction::Kill(EndReason::TemporaryFiles));
        }
        let most_files = MOST_OPEN_FILES.min(sample.open_files.limit.unwrap_or(u64::MAX));
        // At the limit itself the system refuses the next one, so that the number stays below.
        if sample.open_files.number >= most_files.saturating_sub(FILES_OF_RUNTIME) {
            return Some(LimitAction::Kill(EndReason::OpenFiles));
        }
        if cpu >= limits.cpu_hard {
            return Some(LimitAction::Kill(EndReason::Cpu));
        }
        if sample.age >= limits.wall_clock {
            return Some(LimitAction::Kill(EndReason::WallClock));
        }
        if memory > limits.memory_bytes / 10 * 9 {
            return Some(LimitAction::Retire(EndReason::Memory));
        }
        if sample.open_files.number > most_files / 10 * 9 {
            return Some(LimitAction::Retire(EndReason::OpenFiles));
        }
        if cpu >= limits.cpu_soft {
            return Some(LimitAction::Retire(EndReason::Cpu));
        }
        let is_old = sample.age >= limits.wall_clock.mul_f64(LIFE_FOR_NEW_REQUESTS);
        is_old.then_some(LimitAction::Retire(EndReason::WallClock))
    }

    /// Whether a worker of this age may finish its requests and its background work without being told to end.
    pub(super) fn leaves_alone(&self, reason: EndReason, age: Duration) -> bool {
        reason == EndReason::WallClock && age < self.limits.wall_clock.mul_f64(LIFE_UNTIL_WARNING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(age_s: u64, cpu_ms: u64, memory_mib: u64, responses: u64, is_busy: bool) -> Sample {
        Sample {
            age: Duration::from_secs(age_s),
            usage: Usage {
                cpu: Duration::from_millis(cpu_ms),
                memory_bytes: RUNTIME_BYTES + memory_mib * 1024 * 1024,
            },
            temporary_bytes: 0,
            open_files: OpenFiles::default(),
            responses,
            is_busy,
        }
    }

    fn sample_at_start() -> Sample {
        sample(0, 0, 0, 0, true)
    }

    #[test]
    fn gw_042_processor_time_of_the_start_does_not_count() {
        let mut check = LimitCheck::new(WorkerLimits::default());

        assert_eq!(check.check(sample(1, 5000, 0, 0, true)), None);
        assert_eq!(check.check(sample(1, 5900, 0, 0, true)), None);
    }

    #[test]
    fn gw_042_a_worker_is_retired_below_a_limit_and_killed_at_the_limit() {
        use EndReason::{Cpu, Memory, WallClock};
        let cases = [
            (sample(1, 900, 10, 0, true), None),
            (sample(1, 1000, 10, 0, true), Some(LimitAction::Retire(Cpu))),
            (sample(1, 2000, 10, 0, true), Some(LimitAction::Kill(Cpu))),
            (sample(1, 0, 240, 0, true), Some(LimitAction::Retire(Memory))),
            (sample(1, 0, 257, 0, true), Some(LimitAction::Kill(Memory))),
            (sample(199, 0, 10, 0, true), None),
            (sample(200, 0, 10, 0, true), Some(LimitAction::Retire(WallClock))),
            (sample(400, 0, 10, 0, true), Some(LimitAction::Kill(WallClock))),
        ];
        for (sample, action) in cases {
            let mut check = LimitCheck::new(WorkerLimits::default());
            check.check(sample_at_start());
            assert_eq!(check.check(sample), action, "{sample:?}");
        }
    }

    #[test]
    fn gw_042_an_old_worker_is_told_only_near_its_end() {
        let check = LimitCheck::new(WorkerLimits::default());
        let leaves_alone = |reason, seconds| check.leaves_alone(reason, Duration::from_secs(seconds));

        assert!(leaves_alone(EndReason::WallClock, 359));
        assert!(!leaves_alone(EndReason::WallClock, 360));
        assert!(!leaves_alone(EndReason::Memory, 1));
    }

    #[test]
    fn gw_042_a_worker_with_too_many_open_files_is_replaced() {
        use EndReason::OpenFiles as Reason;
        let open = |number, limit| Sample {
            open_files: OpenFiles { number, limit },
            ..sample_at_start()
        };
        for (number, limit, action) in [
            (300, None, None),
            (3700, Some(1 << 20), Some(LimitAction::Retire(Reason))),
            (4090, Some(1 << 20), Some(LimitAction::Kill(Reason))),
            (925, Some(1024), Some(LimitAction::Retire(Reason))),
            (1020, Some(1024), Some(LimitAction::Kill(Reason))),
        ] {
            let mut check = LimitCheck::new(WorkerLimits::default());
            assert_eq!(check.check(open(number, limit)), action, "{number} of {limit:?}");
        }
    }

    #[test]
    fn gw_042_a_worker_with_too_many_temporary_files_is_killed() {
        let limits = WorkerLimits::default();
        let filled = |temporary_bytes| Sample {
            temporary_bytes,
            ..sample_at_start()
        };

        let at_limit = LimitCheck::new(limits.clone()).check(filled(limits.temporary_bytes));
        let above = LimitCheck::new(limits.clone()).check(filled(limits.temporary_bytes + 1));

        assert_eq!(at_limit, None);
        assert_eq!(above, Some(LimitAction::Kill(EndReason::TemporaryFiles)));
    }

    #[test]
    fn gw_042_processor_time_counts_from_the_last_response() {
        let mut check = LimitCheck::new(WorkerLimits::default());

        assert_eq!(check.check(sample(1, 900, 0, 0, true)), None);
        assert_eq!(check.check(sample(2, 1800, 0, 50, true)), None);
        assert_eq!(check.check(sample(3, 2700, 0, 50, true)), None);
        assert_eq!(check.check(sample(4, 3500, 0, 50, false)), None);
        assert_eq!(
            check.check(sample(5, 4500, 0, 50, true)),
            Some(LimitAction::Retire(EndReason::Cpu))
        );
    }
}
