//! What the scenarios count, and the figures made of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Width of one counter of [`Latencies`].
const STEP: Duration = Duration::from_micros(50);
/// Longer latencies count as this one: 20 s.
const STEPS: usize = 400_000;

/// A histogram of latencies that all tasks share; a counter for every 50 µs.
#[derive(Clone)]
pub(crate) struct Latencies(Arc<[AtomicU64]>);

impl Latencies {
    pub(crate) fn new() -> Self {
        Self((0..STEPS).map(|_| AtomicU64::new(0)).collect())
    }

    pub(crate) fn record(&self, latency: Duration) {
        let step = usize::try_from(latency.as_nanos() / STEP.as_nanos()).unwrap_or(usize::MAX);
        self.0[step.min(STEPS - 1)].fetch_add(1, Ordering::Relaxed);
    }

    /// The latency in milliseconds that this percentage of the recorded ones does not exceed; 0 without any.
    pub(crate) fn percentile_ms(&self, percent: u64) -> f64 {
        let total: u64 = self.0.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        let mut left = (total * percent).div_ceil(100);
        for (step, count) in (1_u32..).zip(self.0.iter()) {
            let count = count.load(Ordering::Relaxed);
            if left > 0 && count >= left {
                return (STEP * step).as_secs_f64() * 1000.0;
            }
            left -= count;
        }
        0.0
    }
}

/// Messages that one member has received, and the sum of their latencies.
#[derive(Default)]
pub(crate) struct Received {
    count: AtomicU64,
    micros: AtomicU64,
}

impl Received {
    pub(crate) fn record(&self, latency: Duration) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The mean latency in milliseconds.
    pub(crate) fn mean_ms(&self) -> f64 {
        ratio(self.micros.load(Ordering::Relaxed), self.count()) / 1000.0
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run stay far below 2^52")]
pub(crate) fn ratio(count: u64, of: u64) -> f64 {
    count as f64 / of.max(1) as f64
}

pub(crate) fn per_second(count: u64, elapsed: Duration) -> f64 {
    ratio(count, 1) / elapsed.as_secs_f64()
}

pub(crate) fn micros_each(cpu: Duration, count: u64) -> f64 {
    cpu.as_secs_f64() * 1e6 / ratio(count.max(1), 1)
}
