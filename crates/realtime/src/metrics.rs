//! Counters of the service at `/metrics`.

use std::sync::LazyLock;

use prometheus::{Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, Opts, core::Collector};

/// Upper bounds of the policy check histogram, in seconds.
const CHECK_BUCKETS: [f64; 8] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0];

/// The metrics that the service exports, all with the prefix `selvedge_realtime_`.
pub(crate) struct Metrics {
    /// Number of open WebSockets.
    pub(crate) sockets: IntGauge,
    /// Number of joined channels.
    pub(crate) channels: IntGauge,
    /// Frames received from clients.
    pub(crate) messages_received: IntCounter,
    /// Messages queued for clients, once per receiver.
    pub(crate) messages_delivered: IntCounter,
    /// Messages or sockets dropped, by reason: `malformed`, `deferred`, `unauthorized`, `unchecked`, `too_large`,
    /// `slow_reader`, `broker_away`, `broker_queue` or `too_large_for_broker`.
    pub(crate) drops: IntCounterVec,
    /// Joins refused, by error code.
    pub(crate) refused_joins: IntCounterVec,
    /// Duration of policy checks in seconds, waiting for a connection included.
    pub(crate) policy_checks: Histogram,
    /// Bytes of WAL that the replication stream is behind.
    pub(crate) replication_lag: IntGauge,
    /// Row changes read from the replication stream.
    pub(crate) changes: IntCounter,
    /// Messages sent to the message broker.
    pub(crate) broker_published: IntCounter,
    /// Messages of other nodes received from the message broker.
    pub(crate) broker_received: IntCounter,
    /// Other nodes that this one has heard of lately.
    pub(crate) nodes: IntGauge,
}

/// The metrics of this process. A static, because the registry of the `prometheus` crate accepts each name only once.
pub(crate) static METRICS: LazyLock<Metrics> = LazyLock::new(|| Metrics {
    sockets: register(IntGauge::new("selvedge_realtime_sockets", "Open sockets")),
    channels: register(IntGauge::new("selvedge_realtime_channels", "Joined channels")),
    messages_received: register(IntCounter::new(
        "selvedge_realtime_messages_received_total",
        "Frames received from clients",
    )),
    messages_delivered: register(IntCounter::new(
        "selvedge_realtime_messages_delivered_total",
        "Messages queued for clients",
    )),
    drops: register(IntCounterVec::new(
        Opts::new(
            "selvedge_realtime_drops_total",
            "Messages and sockets dropped, by reason",
        ),
        &["reason"],
    )),
    refused_joins: register(IntCounterVec::new(
        Opts::new(
            "selvedge_realtime_refused_joins_total",
            "Joins refused, by error code",
        ),
        &["code"],
    )),
    policy_checks: register(Histogram::with_opts(
        HistogramOpts::new(
            "selvedge_realtime_policy_check_seconds",
            "Time of one policy check in the database",
        )
        .buckets(CHECK_BUCKETS.to_vec()),
    )),
    replication_lag: register(IntGauge::new(
        "selvedge_realtime_replication_lag_bytes",
        "Bytes of WAL that the replication stream is behind",
    )),
    changes: register(IntCounter::new(
        "selvedge_realtime_changes_total",
        "Row changes read from the replication stream",
    )),
    broker_published: register(IntCounter::new(
        "selvedge_realtime_broker_published_total",
        "Messages sent to the message broker",
    )),
    broker_received: register(IntCounter::new(
        "selvedge_realtime_broker_received_total",
        "Messages of other nodes received from the message broker",
    )),
    nodes: register(IntGauge::new(
        "selvedge_realtime_other_nodes",
        "Other nodes that this one has heard of lately",
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

impl Metrics {
    /// Counts one dropped message or socket. `reason` becomes a label, so it must come from a fixed set.
    pub(crate) fn count_drop(&self, reason: &str) {
        self.drops.with_label_values(&[reason]).inc();
    }
}
