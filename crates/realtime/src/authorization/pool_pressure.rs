//! Refuses policy checks for a while when there are far too few connections for them (realtime contract §10.4).
//!
//! A check that times out while waiting for a connection is a sign of overload, and letting every further join wait as long
//! would only lengthen the queue. When more checks than there are connections have timed out within half a minute, further
//! ones are refused immediately, until there are fewer time-outs in that half minute.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time over which time-outs are counted.
const WINDOW: Duration = Duration::from_secs(30);

/// The times at which checks waited in vain for a connection. Cheap to clone; all clones share them.
#[derive(Debug, Clone)]
pub(super) struct PoolPressure {
    connections: usize,
    time_outs: Arc<Mutex<VecDeque<Instant>>>,
}

impl PoolPressure {
    /// For a pool of this many connections.
    pub(super) fn new(connections: usize) -> Self {
        Self {
            connections,
            time_outs: Arc::default(),
        }
    }

    /// Records that a check did not get a connection in time.
    pub(super) fn note_time_out(&self, now: Instant) {
        let mut time_outs = self.lock();
        forget_old(&mut time_outs, now);
        // One time-out more than the limit is enough to detect the excess, so only the newest are kept.
        if time_outs.len() > self.connections {
            time_outs.pop_front();
        }
        time_outs.push_back(now);
    }

    /// Whether checks are to be refused without waiting.
    pub(super) fn is_exceeded(&self, now: Instant) -> bool {
        let mut time_outs = self.lock();
        forget_old(&mut time_outs, now);
        time_outs.len() > self.connections
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Instant>> {
        self.time_outs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget_old(time_outs: &mut VecDeque<Instant>, now: Instant) {
    while time_outs
        .front()
        .is_some_and(|at| now.duration_since(*at) > WINDOW)
    {
        time_outs.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realtime_051_more_time_outs_than_connections_refuse_checks_for_half_a_minute() {
        let pressure = PoolPressure::new(2);
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);

        pressure.note_time_out(after(0));
        pressure.note_time_out(after(10));
        assert!(!pressure.is_exceeded(after(10)), "as many as connections");
        pressure.note_time_out(after(20));
        assert!(pressure.is_exceeded(after(20)));
        assert!(pressure.is_exceeded(after(30)));
        assert!(!pressure.is_exceeded(after(31)), "the first one is too old");
    }

    #[test]
    fn realtime_051_many_time_outs_are_forgotten_as_soon_as_few() {
        let pressure = PoolPressure::new(1);
        let start = Instant::now();

        for _ in 0..1000 {
            pressure.note_time_out(start);
        }

        assert_eq!(pressure.lock().len(), 2);
        assert!(!pressure.is_exceeded(start + WINDOW + Duration::from_millis(1)));
    }
}
