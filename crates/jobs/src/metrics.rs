//! Counters of the workers at `/metrics`.

use std::sync::LazyLock;

use prometheus::{IntCounterVec, IntGauge, Opts, core::Collector};

/// The metrics that the workers export, all with the prefix `selvedge_jobs_`.
pub(crate) struct Metrics {
    /// 1 while this node runs the workers of its database.
    pub(crate) is_leader: IntGauge,
    /// Requests of pg_net in progress.
    pub(crate) net_in_flight: IntGauge,
    /// Requests of pg_net that ended, by outcome: `response`, `timeout` or `error`.
    pub(crate) net_requests: IntCounterVec,
    /// Jobs of pg_cron that run now.
    pub(crate) cron_running: IntGauge,
    /// Runs of jobs whose command has not been sent yet.
    pub(crate) cron_waiting: IntGauge,
    /// When this node sent the command of a job last, in seconds since 1970; 0 when it has not.
    pub(crate) cron_last_start: IntGauge,
    /// Runs of jobs that ended, by outcome: `succeeded` or `failed`.
    pub(crate) cron_runs: IntCounterVec,
}

/// The metrics of this process. A static, because the registry of the `prometheus` crate accepts each name only once.
pub(crate) static METRICS: LazyLock<Metrics> = LazyLock::new(|| Metrics {
    is_leader: register(IntGauge::new(
        "selvedge_jobs_leader",
        "Whether this node runs the workers of pg_net and pg_cron",
    )),
    net_in_flight: register(IntGauge::new(
        "selvedge_jobs_net_requests_in_flight",
        "HTTP requests of pg_net in progress",
    )),
    net_requests: register(IntCounterVec::new(
        Opts::new(
            "selvedge_jobs_net_requests_total",
            "HTTP requests of pg_net that ended, by outcome",
        ),
        &["outcome"],
    )),
    cron_running: register(IntGauge::new(
        "selvedge_jobs_cron_running",
        "Jobs of pg_cron that run now",
    )),
    cron_waiting: register(IntGauge::new(
        "selvedge_jobs_cron_waiting",
        "Runs of jobs of pg_cron that wait for their session, or for an earlier run of the job on a node that ended",
    )),
    cron_last_start: register(IntGauge::new(
        "selvedge_jobs_cron_last_start_timestamp_seconds",
        "When this node began a run of a job of pg_cron last",
    )),
    cron_runs: register(IntCounterVec::new(
        Opts::new(
            "selvedge_jobs_cron_runs_total",
            "Runs of jobs of pg_cron, by outcome",
        ),
        &["outcome"],
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

/// Raises a gauge until it is dropped, however the work that it counts ends.
pub(crate) struct Raised(IntGauge);

impl Raised {
    pub(crate) fn raise(gauge: &IntGauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        self.0.dec();
    }
}
