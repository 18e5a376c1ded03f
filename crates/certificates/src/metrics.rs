//! Metrics of the certificate that is served.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
        "When the certificate that is served expires, in seconds since 1970; 0 where there is none yet",
    )
});
static LIFETIME: LazyLock<IntGauge> = LazyLock::new(|| {
    register(
        "selvedge_tls_certificate_lifetime_seconds",
        "For how long the certificate that is served is valid from its beginning",
    )
});
static FAILURES: LazyLock<IntGauge> = LazyLock::new(|| {
    register(
        "selvedge_tls_certificate_renewal_failures",
        "Attempts in a row by which no new certificate was obtained",
    )
});

/// Notes until when the certificate is valid. A time, and not what is left: that stays true when nobody notes anything any more.
pub(crate) fn note_certificate(not_after: SystemTime, lifetime: Duration) {
    let expiry = not_after.duration_since(UNIX_EPOCH).unwrap_or_default();
    EXPIRY.set(i64::try_from(expiry.as_secs()).unwrap_or(i64::MAX));
    LIFETIME.set(i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX));
}

/// Notes that a certificate is wanted, and there is none.
pub(crate) fn note_missing() {
    EXPIRY.set(0);
    LIFETIME.set(0);
}

pub(crate) fn note_failures(failures: u32) {
    FAILURES.set(failures.into());
}
