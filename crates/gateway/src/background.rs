//! Threads that compute for long beside threads that answer: the hashing of passwords takes 40 ms of a core, a read a fraction of
//! one. Left alone, the scheduler would share the cores equally among them, and every request would wait for computing.

/// How far a computing thread stands back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandBack {
    /// It runs when a core has nothing else to do, and any other thread that wakes up takes its place at once. On a machine
    /// without an idle moment it hardly moves: somebody must be able to do its work in its place.
    Entirely,
    /// It gets about a quarter of a core that others want, too: what must go on under any load.
    Mostly,
}

/// Makes the calling thread stand back for the rest of its life: an ordinary thread may not take this back.
///
/// Without effect where the system knows no such thing (other systems than Linux, a sandbox that forbids it).
pub fn stand_back(how: StandBack) {
    #[cfg(target_os = "linux")]
    if let Err(error) = linux::stand_back(how) {
        tracing::debug!(?error, ?how, "a thread keeps its priority");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = how;
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
                    super::super::stand_back(how);
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
