//! Metrics of the memory of this process.

use std::sync::LazyLock;

use prometheus::{IntCounter, IntGauge};

struct Metrics {
    limit: IntGauge,
    used: IntGauge,
    refusals: IntCounter,
}

static METRICS: LazyLock<Metrics> = LazyLock::new(|| {
    let metrics = Metrics {
        limit: IntGauge::new("selvedge_memory_limit_bytes", "Memory that this process may use")
            .expect("a valid metric"),
        used: IntGauge::new(
            "selvedge_memory_used_bytes",
            "Memory in use, by the process or its control group, without what the system can drop",
        )
        .expect("a valid metric"),
        refusals: IntCounter::new(
            "selvedge_memory_refusals_total",
            "Responses and bodies that did not fit into the memory that was left",
        )
        .expect("a valid metric"),
    };
    let registry = prometheus::default_registry();
    for collector in [
        Box::new(metrics.limit.clone()) as Box<dyn prometheus::core::Collector>,
        Box::new(metrics.used.clone()),
        Box::new(metrics.refusals.clone()),
    ] {
        registry.register(collector).expect("registered once");
    }
    metrics
});

pub(crate) fn set_limit(bytes: u64) {
    METRICS.limit.set(i64::try_from(bytes).unwrap_or(i64::MAX));
}

pub(crate) fn set_used(bytes: u64) {
    METRICS.used.set(i64::try_from(bytes).unwrap_or(i64::MAX));
}

pub(crate) fn count_refusal() {
    METRICS.refusals.inc();
}
