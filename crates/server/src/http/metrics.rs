//! Metrics of the health checks.

use std::sync::LazyLock;

use prometheus::IntGauge;

/// Whether the database accepts writes. Statics, because the registry accepts each name only once.
pub(super) static WRITABLE: LazyLock<IntGauge> = LazyLock::new(|| {
    register(
        "selvedge_database_writable",
        "Whether the database accepts writes: 0 also while it does not answer, and while only a former primary does",
    )
});
/// The room on the disk of the home's database.
pub(crate) static DISK_FREE: LazyLock<IntGauge> = LazyLock::new(|| {
    register(
        "selvedge_disk_free_bytes",
        "Bytes that may still be written on the disk of the home's database",
    )
});
/// The size of that disk.
pub(crate) static DISK_SIZE: LazyLock<IntGauge> = LazyLock::new(|| {
    register(
        "selvedge_disk_size_bytes",
        "Bytes of the file system of the home's database",
    )
});

fn register(name: &str, help: &str) -> IntGauge {
    let gauge = IntGauge::new(name, help).expect("a valid name");
    prometheus::default_registry()
        .register(Box::new(gauge.clone()))
        .expect("registered once");
    gauge
}
