//! The metrics of each replica for `/metrics`.

use std::sync::LazyLock;

use prometheus::core::Collector;
use prometheus::{GaugeVec, IntCounter, IntCounterVec, IntGaugeVec, Opts};

/// The metrics of all replicas, all with the label `replica`.
struct Metrics {
    reads: IntCounterVec,
    available: IntGaugeVec,
    lag_bytes: IntGaugeVec,
    lag_seconds: GaugeVec,
}

/// A static, because the registry of the `prometheus` crate accepts each name only once.
static METRICS: LazyLock<Metrics> = LazyLock::new(|| Metrics {
    reads: register(IntCounterVec::new(
        Opts::new(
            "selvedge_replica_reads_total",
            "Reads sent to a replica: answered there, or then run on the primary because it was behind or failed",
        ),
        &["replica", "outcome"],
    )),
    available: register(IntGaugeVec::new(
        Opts::new("selvedge_replica_available", "Whether a replica gets reads"),
        &["replica"],
    )),
    lag_bytes: register(IntGaugeVec::new(
        Opts::new(
            "selvedge_replica_lag_bytes",
            "WAL of the primary that a replica has not replayed",
        ),
        &["replica"],
    )),
    lag_seconds: register(GaugeVec::new(
        Opts::new(
            "selvedge_replica_lag_seconds",
            "Age of the state that a replica shows",
        ),
        &["replica"],
    )),
});

fn register<C: Collector + Clone + 'static>(metric: Result<C, prometheus::Error>) -> C {
    let metric = metric.expect("a valid metric");
    prometheus::default_registry()
        .register(Box::new(metric.clone()))
        .expect("registered once");
    metric
}

/// The metrics of one replica, looked up once, so that a read costs one addition.
pub(super) struct ReplicaMetrics {
    pub(super) answered: IntCounter,
    /// Number of reads that the replica refused because it had not yet replayed the WAL position that they need.
    pub(super) behind: IntCounter,
    pub(super) failed: IntCounter,
    available: prometheus::IntGauge,
    lag_bytes: prometheus::IntGauge,
    lag_seconds: prometheus::Gauge,
}

impl ReplicaMetrics {
    pub(super) fn new(replica: &str) -> Self {
        let reads = |outcome| METRICS.reads.with_label_values(&[replica, outcome]);
        Self {
            answered: reads("answered"),
            behind: reads("behind"),
            failed: reads("failed"),
            available: METRICS.available.with_label_values(&[replica]),
            lag_bytes: METRICS.lag_bytes.with_label_values(&[replica]),
            lag_seconds: METRICS.lag_seconds.with_label_values(&[replica]),
        }
    }

    pub(super) fn set_available(&self, is_available: bool) {
        self.available.set(i64::from(is_available));
    }

    pub(super) fn set_lag(&self, bytes: u64, seconds: f64) {
        self.lag_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
        self.lag_seconds.set(seconds);
    }
}
