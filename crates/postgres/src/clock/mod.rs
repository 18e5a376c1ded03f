//! How much time has passed on a machine that may have been paused meanwhile.

use std::time::{Duration, Instant, SystemTime};

use nix::time::{ClockId, clock_gettime};

/// A moment by three clocks of the machine. That of timers stands still while the machine is suspended, or paused as a virtual one. The second one
/// goes on while it is suspended, but not while a virtual machine is paused from outside. The clock of the system is set right after both, and
/// somebody may also set it back.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    awake: Instant,
    /// The time since the machine was started, where the operating system tells it.
    since_boot: Option<Duration>,
    wall: SystemTime,
}

impl Moment {
    /// This moment.
    pub fn now() -> Self {
        Self {
            awake: Instant::now(),
            since_boot: read_time_since_boot(),
            wall: SystemTime::now(),
        }
    }

    /// The time since then: the longest that one of the clocks tells, because a clock that stood still tells too little.
    pub fn elapsed(self) -> Duration {
        let by_boot = match (read_time_since_boot(), self.since_boot) {
            (Some(now), Some(then)) => now.saturating_sub(then),
            _ => Duration::ZERO,
        };
        // A clock that was set back does not tell how much time has passed.
        let by_wall = self.wall.elapsed().unwrap_or_default();
        self.awake.elapsed().max(by_boot).max(by_wall)
    }

    /// The time since then without that in which the machine did not run.
    pub fn elapsed_awake(self) -> Duration {
        self.awake.elapsed()
    }

    /// What the clock of the system said.
    pub fn wall(self) -> SystemTime {
        self.wall
    }

    /// The moment as it would be if the machine had been paused for this long right after it, and its clock been corrected since. For tests.
    #[must_use]
    pub fn with_pause(self, pause: Duration) -> Self {
        Self {
            wall: self.wall - pause,
            ..self
        }
    }
}

#[cfg(target_os = "linux")]
const SINCE_BOOT: ClockId = ClockId::CLOCK_BOOTTIME;

/// Elsewhere this one goes on while the machine is suspended.
#[cfg(not(target_os = "linux"))]
const SINCE_BOOT: ClockId = ClockId::CLOCK_MONOTONIC;

fn read_time_since_boot() -> Option<Duration> {
    clock_gettime(SINCE_BOOT).ok().map(Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_pause_is_seen_by_a_clock_that_went_on() {
        let now = Moment::now();
        let was_suspended = Moment {
            since_boot: now.since_boot.map(|since| since.saturating_sub(HOUR)),
            // Somebody has set it back.
            wall: now.wall + HOUR,
            ..now
        };
        let suspended_for = now.since_boot.expect("the system tells it").min(HOUR);

        assert!(was_suspended.elapsed() >= suspended_for);
        assert!(now.with_pause(HOUR).elapsed() >= HOUR);
        assert!(now.with_pause(HOUR).elapsed_awake() < HOUR);
    }

    #[test]
    fn a_clock_that_was_set_back_lets_no_time_run_backwards() {
        let now = Moment::now();
        let later = Moment {
            since_boot: now.since_boot.map(|since| since + HOUR),
            wall: now.wall + HOUR,
            ..now
        };

        assert!(later.elapsed() < HOUR);
    }
}
