//! Traces of requests for OpenTelemetry: one span per request, and below it one per stage and one per SQL statement; and one
//! span per message of a socket.
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

/// Notes the end of a stage, for services that have nothing else to do with the database.
pub use selvedge_postgres::end_traced_stage;
pub use settings::TelemetrySettings;
pub use telemetry::{Telemetry, TelemetryError};
