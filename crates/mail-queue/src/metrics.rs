//! Counters of queued mails at `/metrics`.

use std::sync::LazyLock;

use prometheus::{IntCounterVec, Opts};

/// Attempts to send a mail, by outcome: `sent`, `retried`, or `failed` for good. A static, because the registry of the
/// `prometheus` crate accepts each name only once.
pub(crate) static ATTEMPTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    let options = Opts::new(
        "selvedge_mail_queue_attempts_total",
        "Attempts to send a mail that the project has queued, by outcome",
    );
    let attempts = IntCounterVec::new(options, &["outcome"]).expect("a valid metric");
    prometheus::default_registry()
        .register(Box::new(attempts.clone()))
        .expect("registered once");
    attempts
});
