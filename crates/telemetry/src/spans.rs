//! The spans below that of a request: its stages and its SQL statements.

use std::borrow::Cow;
use std::time::{Instant, SystemTime};

use opentelemetry::trace::{Span as _, SpanContext, SpanKind, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::SdkTracer;
use selvedge_gateway::Service;
use selvedge_postgres::{TracedStage, TracedStatement};

use crate::telemetry::Telemetry;

/// One moment on the monotonic clock and on the calendar: durations are measured on the first, spans need the second.
pub(crate) struct Clock {
    pub(crate) instant: Instant,
    pub(crate) time: SystemTime,
}

impl Clock {
    /// The time on the calendar at `instant`.
    pub(crate) fn to_time(&self, instant: Instant) -> SystemTime {
        self.time + instant.saturating_duration_since(self.instant)
    }
}

/// Exports a span for each stage. A stage begins where the one before it ends, and the first one with the request.
pub(crate) fn export_stages(
    tracer: &SdkTracer,
    parent: &SpanContext,
    clock: &Clock,
    service: Service,
    stages: &[TracedStage],
) {
    let mut started = clock.instant;
    for stage in stages {
        let times = (clock.to_time(started), clock.to_time(stage.ended));
        export_span(
            tracer,
            Some(parent),
            format!("{} {}", service.name(), stage.name),
            SpanKind::Internal,
            times,
            Vec::new(),
        );
        started = stage.ended;
    }
}

/// Exports a span for each statement. The text has placeholders in place of values.
pub(crate) fn export_statements(
    tracer: &SdkTracer,
    parent: &SpanContext,
    clock: &Clock,
    statements: &[TracedStatement],
) {
    for statement in statements {
        let mut attributes = vec![
            KeyValue::new("db.system.name", "postgresql"),
            KeyValue::new("db.query.text", statement.text.clone()),
        ];
        if let Some(rows) = statement.rows.and_then(|rows| i64::try_from(rows).ok()) {
            attributes.push(KeyValue::new("db.response.returned_rows", rows));
        }
        let ended = clock.to_time(statement.started + statement.duration);
        let times = (clock.to_time(statement.started), ended);
        export_span(
            tracer,
            Some(parent),
            "postgresql",
            SpanKind::Client,
            times,
            attributes,
        );
    }
}

impl Telemetry {
    /// Exports the span of a message that came over a socket at `received` and has been handled now. It is a trace of its own, as
    /// messages have no headers that could name another.
    pub fn export_message(&self, name: &'static str, received: Instant) {
        let ended = SystemTime::now();
        let times = (ended - received.elapsed(), ended);
        export_span(&self.tracer, None, name, SpanKind::Server, times, Vec::new());
    }
}

/// Exports a span, which begins a trace of its own without a `parent`.
fn export_span(
    tracer: &SdkTracer,
    parent: Option<&SpanContext>,
    name: impl Into<Cow<'static, str>>,
    kind: SpanKind,
    (started, ended): (SystemTime, SystemTime),
    attributes: Vec<KeyValue>,
) {
    let context = match parent {
        Some(parent) => Context::new().with_remote_span_context(parent.clone()),
        // Not an invalid context in its place: to a sampler that follows the parent it says that nothing is sampled.
        None => Context::new(),
    };
    tracer
        .span_builder(name)
        .with_kind(kind)
        .with_start_time(started)
        .with_attributes(attributes)
        .start_with_context(tracer, &context)
        .end_with_timestamp(ended);
}
