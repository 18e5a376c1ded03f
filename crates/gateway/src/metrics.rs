//! Metrics of all requests, and the text of `/metrics`.

use std::sync::LazyLock;
use std::time::Duration;

use prometheus::core::Metric as _;
use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, TextEncoder,
};

use crate::Service;
use crate::routes::NAMES;

/// Upper bounds of the histogram in seconds, from the read of a single row to a statement that reaches its timeout.
const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 3.0, 10.0];

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

struct Metrics {
    /// One counter per service and status class, looked up once, so that a request costs one addition.
    requests: Vec<[IntCounter; 5]>,
    durations: Vec<Histogram>,
    in_flight: IntGauge,
}

static METRICS: LazyLock<Metrics> = LazyLock::new(|| {
    let requests = IntCounterVec::new(
        Opts::new(
            "selvedge_http_requests_total",
            "Requests answered, by service and status class",
        ),
        &["service", "status"],
    )
    .expect("a valid metric");
    let durations = HistogramVec::new(
        HistogramOpts::new(
            "selvedge_http_request_duration_seconds",
            "Time from request to answer, by service",
        )
        .buckets(BUCKETS.to_vec()),
        &["service"],
    )
    .expect("a valid metric");
    let in_flight =
        IntGauge::new("selvedge_http_requests_in_flight", "Requests being answered").expect("a valid metric");
    let registry = prometheus::default_registry();
    for collector in [
        Box::new(requests.clone()) as Box<dyn prometheus::core::Collector>,
        Box::new(durations.clone()),
        Box::new(in_flight.clone()),
    ] {
        registry.register(collector).expect("registered once");
    }
    Metrics {
        requests: NAMES
            .map(|name| CLASSES.map(|class| requests.with_label_values(&[name, class])))
            .to_vec(),
        durations: NAMES.map(|name| durations.with_label_values(&[name])).to_vec(),
        in_flight,
    }
});

/// Counts a request as in flight until it is dropped.
pub(crate) struct InFlight;

impl InFlight {
    pub(crate) fn start() -> Self {
        METRICS.in_flight.inc();
        Self
    }
}

/// The requests that are being answered.
pub(crate) fn in_flight() -> i64 {
    METRICS.in_flight.get()
}

impl Drop for InFlight {
    fn drop(&mut self) {
        METRICS.in_flight.dec();
    }
}

/// Counts a response and records its duration.
pub(crate) fn observe(service: Service, status: u16, elapsed: Duration) {
    let class = usize::from((status / 100).clamp(1, 5)) - 1;
    METRICS.requests[service as usize][class].inc();
    METRICS.durations[service as usize].observe(elapsed.as_secs_f64());
}

/// Counts of all requests since the start, for rates and percentiles between two moments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestCounts {
    /// Requests by service, in the order of [`service_names`], and by class of the status (1xx to 5xx).
    pub by_service: Vec<[u64; 5]>,
    /// Requests that took at most so many seconds, over all services; the last bound is infinite.
    pub durations: Vec<(f64, u64)>,
}

/// Names of the services in the order of [`RequestCounts::by_service`].
pub fn service_names() -> &'static [&'static str] {
    &NAMES
}

/// Reads the counters of all requests: the same ones that `/metrics` shows.
pub fn request_counts() -> RequestCounts {
    let metrics = &*METRICS;
    let mut durations: Vec<(f64, u64)> = BUCKETS
        .iter()
        .map(|bound| (*bound, 0))
        .chain([(f64::INFINITY, 0)])
        .collect();
    for histogram in &metrics.durations {
        let metric = histogram.metric();
        let found = metric.get_histogram();
        for ((_, count), bucket) in durations.iter_mut().zip(found.get_bucket()) {
            *count += bucket.cumulative_count();
        }
        // The histogram leaves the infinite bucket out, whose count is that of all samples.
        if let Some((_, count)) = durations.last_mut() {
            *count += found.get_sample_count();
        }
    }
    RequestCounts {
        by_service: metrics
            .requests
            .iter()
            .map(|classes| classes.each_ref().map(IntCounter::get))
            .collect(),
        durations,
    }
}

/// A number that changes whenever a request arrives or ends.
pub(crate) fn traffic() -> u64 {
    let answered: u64 = METRICS.requests.iter().flatten().map(IntCounter::get).sum();
    // started + finished = in_flight + 2 × finished, so the sum changes whenever a request starts or ends.
    (2 * answered).wrapping_add_signed(METRICS.in_flight.get())
}

/// All metrics of the process in the text format that Prometheus scrapes.
pub fn render_prometheus() -> String {
    let mut text = Vec::new();
    if let Err(error) = TextEncoder::new().encode(&prometheus::gather(), &mut text) {
        tracing::warn!(%error, "metrics cannot be rendered");
    }
    String::from_utf8_lossy(&text).into_owned()
}
