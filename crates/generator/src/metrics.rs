//! Counters of generated pictures at `/metrics`.

use std::sync::LazyLock;

use prometheus::{IntCounter, IntCounterVec, IntGauge, Opts, core::Collector};

/// The metrics of this crate, all with the prefix `selvedge_generator_`.
pub(crate) struct Metrics {
    /// Attempts that this node works on.
    pub(crate) running: IntGauge,
    /// Attempts that ended, by outcome: `succeeded`, `sent` (the endpoint accepted the job), `retried`, `failed` or
    /// `gone` (cancelled, deleted or taken over).
    pub(crate) attempts: IntCounterVec,
    /// Calls of generators, by outcome: `accepted`, `refused` (no valid token) or `unusable`.
    pub(crate) callbacks: IntCounterVec,
    /// Leases that expired because a worker died or a picture did not arrive.
    pub(crate) expired_leases: IntCounter,
}

/// The metrics of this process. A static, because the registry of the `prometheus` crate accepts each name only once.
pub(crate) static METRICS: LazyLock<Metrics> = LazyLock::new(|| Metrics {
    running: register(IntGauge::new(
        "selvedge_generator_running",
        "Attempts at generated pictures in progress",
    )),
    attempts: register(IntCounterVec::new(
        Opts::new(
            "selvedge_generator_attempts_total",
            "Attempts at generated pictures, by outcome",
        ),
        &["outcome"],
    )),
    callbacks: register(IntCounterVec::new(
        Opts::new(
            "selvedge_generator_callbacks_total",
            "Calls of generators, by outcome",
        ),
        &["outcome"],
    )),
    expired_leases: register(IntCounter::new(
        "selvedge_generator_expired_leases_total",
        "Jobs whose worker died or whose picture did not arrive",
    )),
});

/// Adds a metric to the default registry, from which `/metrics` is rendered.
fn register<C: Collector + Clone + 'static>(metric: Result<C, prometheus::Error>) -> C {
    let metric = metric.expect("a valid metric");
    prometheus::default_registry()
        .register(Box::new(metric.clone()))
        .expect("registered once");
    metric
}

/// Counts a running attempt until it is dropped, also when the attempt panics.
pub(crate) struct RunningAttempt;

impl RunningAttempt {
    pub(crate) fn count() -> Self {
        METRICS.running.inc();
        Self
    }
}

impl Drop for RunningAttempt {
    fn drop(&mut self) {
        METRICS.running.dec();
    }
}
