//! Metrics of the certificate that is served.

use std::sync::LazyLock;
use std::time::SystemTime;

use prometheus::IntGauge;

fn register(name: &str, help: &str) -> IntGauge {
    let gauge = IntGauge::new(name, help).expect("a valid name");
    prometheus::default_registry()
        .register(Box::new(gauge.clone()))
        .expect("registered once");
    gauge
}

/// Statics, because the registry accepts each name only once.
static EXPIRY: LazyLock<IntGauge> = LazyLock::new(|| {
    register(
        "selvedge_tls_certificate_expiry_seconds",
        "Seconds until the certificate that is served expires; negative afterwards",
    )
});
static FAILURES: LazyLock<IntGauge> = LazyLock::new(|| {
    register(
        "selvedge_tls_certificate_renewal_failures",
        "Attempts in a row by which no new certificate was obtained",
    )
});

/// Notes how long the certificate is still valid.
pub(crate) fn note_expiry(not_after: SystemTime) {
    let seconds = match not_after.duration_since(SystemTime::now()) {
        Ok(left) => i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        Err(past) => i64::try_from(past.duration().as_secs()).map_or(i64::MIN, |seconds| -seconds),
    };
    EXPIRY.set(seconds);
}

pub(crate) fn note_failures(failures: u32) {
    FAILURES.set(failures.into());
}
