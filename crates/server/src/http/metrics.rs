//! Metrics of the health checks.

use std::sync::LazyLock;

use prometheus::IntGauge;

/// Whether the database accepts writes. A static, because the registry accepts each name only once.
pub(super) static WRITABLE: LazyLock<IntGauge> = LazyLock::new(|| {
    let gauge = IntGauge::new(
        "selvedge_database_writable",
        "Whether the database accepts writes: 0 also while it does not answer, and while only a former primary does",
    );
    let gauge = gauge.expect("a valid name");
    prometheus::default_registry()
        .register(Box::new(gauge.clone()))
        .expect("registered once");
    gauge
});
