//! Low priority for threads that compute for long (hashing a password takes 40 ms of a core) beside threads that serve
//! requests (a read takes a fraction of one). At equal priority every request would wait for them.
//!
//! Priorities alone are not enough. Linux weighs sessions (or control groups) against each other before it compares
//! threads, and a core that runs even an idle-priority thread does not take over what waits on another core until the
//! next tick, up to 4 ms later. So computing threads also sleep for a moment, again and again, while requests arrive.

use std::thread;
use std::time::{Duration, Instant};

use crate::metrics;

/// For each request that arrives or ends, further ones are expected for this much longer.
const BUSY_PER_EVENT: Duration = Duration::from_micros(250);
/// Further requests are expected for at most this long. Longer than a tick (4 ms), because requests that are held up
/// for a tick must not look like no requests.
const MAX_BUSY: Duration = Duration::from_millis(10);

/// The priority of a computing thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComputePriority {
    /// `SCHED_IDLE`: runs only when a core has nothing else to do. On a machine that is never idle it makes hardly any
    /// progress, so another thread must be able to do its work.
    Idle,
    /// Niceness 5: about a quarter of a contended core, for work that must continue under any load.
    Low,
}

impl ComputePriority {
    /// Length of a pause; Linux adds 50 µs of timer slack. Longer where the priority does less.
    fn pause_length(self) -> Duration {
        match self {
            Self::Idle => Duration::from_micros(10),
            Self::Low => Duration::from_micros(100),
        }
    }
}

/// The calling thread, after it was given a low priority.
#[derive(Debug)]
pub struct ComputeThread {
    pause: Duration,
    /// [`metrics::traffic`] when the thread last looked.
    traffic: u64,
    busy_until: Instant,
}

impl ComputeThread {
    /// Lowers the calling thread's priority for good: raising it again takes a privilege.
    ///
    /// On other systems than Linux, and where a sandbox forbids it, the priority stays as it is.
    pub fn start(priority: ComputePriority) -> Self {
        #[cfg(target_os = "linux")]
        if let Err(error) = linux::lower_priority(priority) {
            tracing::debug!(?error, ?priority, "a thread keeps its priority");
        }
        Self {
            pause: priority.pause_length(),
            traffic: metrics::traffic(),
            busy_until: Instant::now(),
        }
    }

    /// Sleeps for a moment if requests have arrived or ended recently. To be called after about every 50 µs of work.
    pub fn pause_if_busy(&mut self) {
        let (traffic, now) = (metrics::traffic(), Instant::now());
        if traffic != self.traffic {
            let since = u32::try_from(traffic.saturating_sub(self.traffic)).unwrap_or(u32::MAX);
            let longer = self.busy_until.max(now) + BUSY_PER_EVENT.saturating_mul(since);
            self.busy_until = longer.min(now + MAX_BUSY);
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

    use super::ComputePriority;

    /// Niceness 5 on the scale of the crate `thread-priority`.
    const LOW: u8 = 35;

    pub(super) fn lower_priority(priority: ComputePriority) -> Result<(), Error> {
        let (policy, level) = match priority {
            ComputePriority::Idle => (NormalThreadSchedulePolicy::Idle, ThreadPriority::Min),
            ComputePriority::Low => {
                let low = ThreadPriorityValue::try_from(LOW).map_err(|_| Error::Priority("out of range"))?;
                (
                    NormalThreadSchedulePolicy::Other,
                    ThreadPriority::Crossplatform(low),
                )
            }
        };
        set_thread_priority_and_policy(thread_native_id(), level, ThreadSchedulePolicy::Normal(policy))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn idle_priority_applies_to_its_own_thread_only() {
            let policy_of = |priority| {
                std::thread::spawn(move || {
                    super::super::ComputeThread::start(priority);
                    thread_priority::thread_schedule_policy().expect("Linux tells the policy")
                })
                .join()
                .expect("the thread ends")
            };

            let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
            assert_eq!(policy_of(ComputePriority::Idle), idle);
            assert_ne!(policy_of(ComputePriority::Low), idle);
            assert_ne!(thread_priority::thread_schedule_policy().ok(), Some(idle));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Service;

    #[test]
    fn a_compute_thread_pauses_after_requests() {
        let mut thread = ComputeThread::start(ComputePriority::Low);
        metrics::observe(Service::Rest, 200, Duration::ZERO);

        let began = Instant::now();
        thread.pause_if_busy();

        assert!(began.elapsed() >= ComputePriority::Low.pause_length());
        assert!(thread.busy_until > began);
    }
}
