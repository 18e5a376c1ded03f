//! Metrics of the store of objects.

use std::sync::LazyLock;

use prometheus::IntGauge;

/// Other databases that have left a mark in the store. A static, because the registry accepts each name only once.
pub(super) static OTHER_DATABASES: LazyLock<IntGauge> = LazyLock::new(|| {
    let gauge = IntGauge::new(
        "selvedge_storage_other_databases",
        "Other databases whose marks are in the store of objects: no bytes are removed from it while there are any",
    );
    let gauge = gauge.expect("a valid name");
    prometheus::default_registry()
        .register(Box::new(gauge.clone()))
        .expect("registered once");
    gauge
});
