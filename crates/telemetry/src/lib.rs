//! Traces of requests for OpenTelemetry: one span per request, and below it one per stage and one per SQL statement.
//!
//! The middleware stands around the gateway. It continues the trace that a client names by `traceparent` (W3C Trace
//! Context), else it begins one, and sends what is sampled to a collector by OTLP (protobuf over HTTP). The names of spans
//! and attributes are those of OpenTelemetry's semantic conventions. Attributes hold paths and SQL texts with placeholders,
//! but no query strings, headers, tokens or values of parameters.
//!
//! Metrics are not sent by OTLP, because `/metrics` serves them in Prometheus' format, which collectors read as well.

mod collector_client;
mod middleware;
mod settings;
mod spans;
mod telemetry;

pub use settings::TelemetrySettings;
pub use telemetry::{Telemetry, TelemetryError};
