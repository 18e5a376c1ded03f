//! The tracer of the process and its exporter.

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use crate::TelemetrySettings;
use crate::collector_client::CollectorClient;

/// The name of the service in traces, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` names another.
const SERVICE_NAME: &str = "selvedge";

/// Why traces cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The exporter's thread or runtime could not be created.
    #[error("cannot start the exporter of traces: {0}")]
    Runtime(#[from] std::io::Error),
    /// The endpoint or a standard variable is malformed.
    #[error("cannot export traces: {0}")]
    Exporter(#[from] ExporterBuildError),
}

/// Traces the requests of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Telemetry {
    provider: SdkTracerProvider,
    pub(crate) tracer: SdkTracer,
}

impl Telemetry {
    /// Starts the thread that sends spans in batches. Its queue is bounded: while the collector does not respond, further spans
    /// are dropped, and no request waits. Sampling, limits and headers are those of OpenTelemetry's standard variables.
    ///
    /// # Errors
    /// See [`TelemetryError`].
    pub fn start(settings: &TelemetrySettings) -> Result<Self, TelemetryError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(CollectorClient::new()?)
            .with_protocol(Protocol::HttpBinary);
        let exporter = match &settings.endpoint {
            Some(endpoint) => exporter.with_endpoint(format!("{endpoint}/v1/traces")),
            None => exporter,
        };
        let provider = SdkTracerProvider::builder()
            .with_resource(describe_process())
            .with_batch_exporter(exporter.build()?)
            .build();
        let tracer = provider.tracer(env!("CARGO_PKG_NAME"));
        Ok(Self { provider, tracer })
    }

    /// Sends the queued spans and ends the exporter's thread. Blocks for at most five seconds.
    pub fn stop(&self) {
        if let Err(error) = self.provider.shutdown() {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Returns the attributes of this process. Those of the standard variables take precedence over the defaults.
fn describe_process() -> Resource {
    let of_variables = Resource::builder().build();
    let is_named = |name: &'static str| {
        of_variables
            .get(&opentelemetry::Key::from_static_str(name))
            .is_some_and(|value| !value.as_str().starts_with("unknown_service"))
    };
    let mut resource =
        Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if !is_named("service.name") {
        resource = resource.with_service_name(SERVICE_NAME);
    }
    if !is_named("service.instance.id") {
        let id = uuid::Uuid::new_v4().to_string();
        resource = resource.with_attribute(KeyValue::new("service.instance.id", id));
    }
    resource.build()
}
