//! Threads that compute for long beside threads that answer: the hashing of passwords takes 40 ms of a core, a read a fraction of
//! one. Left alone, the scheduler would share the cores equally among them, and every request would wait for computing.
//!
//! Priorities alone do not help enough. Linux weighs sessions (or control groups) against each other before it looks at threads,
//! and a core on which anything computes, however idly, does not look around for what waits on another: until the next tick, 4 ms
//! later. So computing threads also let go of their cores, every now and then while requests come.

use std::thread;
use std::time::{Duration, Instant};

use crate::metrics;

/// For how long more others are expected after a request has come, and after it has been answered.
const LINGER: Duration = Duration::from_micros(250);
/// For how long others are expected at most: longer than a tick, so that requests that are held up do not look like none.
const MOST_LINGER: Duration = Duration::from_millis(10);

/// How far a computing thread stands back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandBack {
    /// It runs when a core has nothing else to do, and any other thread that wakes up takes its place at once. On a machine
    /// without an idle moment it hardly moves: somebody must be able to do its work in its place.
    Entirely,
    /// It gets about a quarter of a core that others want, too: what must go on under any load.
    Mostly,
}

impl StandBack {
    /// How long a pause is, at least: Linux adds 50 µs. Longer ones where priority does less.
    fn pause(self) -> Duration {
        match self {
            Self::Entirely => Duration::from_micros(10),
            Self::Mostly => Duration::from_micros(100),
        }
    }
}

/// The manners of a thread that computes.
#[derive(Debug)]
pub struct GiveWay {
    pause: Duration,
    /// What had been asked and answered when the thread last looked.
    traffic: u64,
    busy_until: Instant,
}

impl GiveWay {
    /// Makes the calling thread stand back for the rest of its life: an ordinary thread may not take this back.
    ///
    /// Its priority stays where the system knows no such thing (other systems than Linux, a sandbox that forbids it).
    pub fn start(how: StandBack) -> Self {
        #[cfg(target_os = "linux")]
        if let Err(error) = linux::stand_back(how) {
            tracing::debug!(?error, ?how, "a thread keeps its priority");
        }
        Self {
            pause: how.pause(),
            traffic: metrics::traffic(),
            busy_until: Instant::now(),
        }
    }

    /// Lets go of the core for a moment if requests have come or have been answered of late. To be called after every 50 µs
    /// of work or so.
    pub fn pause_if_busy(&mut self) {
        let (traffic, now) = (metrics::traffic(), Instant::now());
        if traffic != self.traffic {
            let since = u32::try_from(traffic.saturating_sub(self.traffic)).unwrap_or(u32::MAX);
            let longer = self.busy_until.max(now) + LINGER.saturating_mul(since);
            self.busy_until = longer.min(now + MOST_LINGER);
            self.traffic = traffic;
        }
        if now < self.busy_until {
            thread::sleep(self.pause);
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use thread_priority::{
        Error, NormalThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
        set_thread_priority_and_policy, thread_native_id,
    };

    use super::StandBack;

    /// A niceness of 5, on the scale of the crate.
    const LOW: u8 = 35;

    pub(super) fn stand_back(how: StandBack) -> Result<(), Error> {
        let (policy, priority) = match how {
            StandBack::Entirely => (NormalThreadSchedulePolicy::Idle, ThreadPriority::Min),
            StandBack::Mostly => {
                let low = ThreadPriorityValue::try_from(LOW).map_err(|_| Error::Priority("out of range"))?;
                (
                    NormalThreadSchedulePolicy::Other,
                    ThreadPriority::Crossplatform(low),
                )
            }
        };
        set_thread_priority_and_policy(thread_native_id(), priority, ThreadSchedulePolicy::Normal(policy))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_thread_stands_back_alone() {
            let policy_of = |how| {
                std::thread::spawn(move || {
                    super::super::GiveWay::start(how);
                    thread_priority::thread_schedule_policy().expect("Linux tells the policy")
                })
                .join()
                .expect("the thread ends")
            };

            let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
            assert_eq!(policy_of(StandBack::Entirely), idle);
            assert_ne!(policy_of(StandBack::Mostly), idle);
            assert_ne!(thread_priority::thread_schedule_policy().ok(), Some(idle));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Service;

    #[test]
    fn a_thread_pauses_after_requests() {
        let mut give_way = GiveWay::start(StandBack::Mostly);
        metrics::observe(Service::Rest, 200, Duration::ZERO);

        let began = Instant::now();
        give_way.pause_if_busy();

        assert!(began.elapsed() >= StandBack::Mostly.pause());
        assert!(give_way.busy_until > began);
    }
}
