//! The middleware around the gateway that makes the span of each request.

use std::time::{Instant, SystemTime};

use actix_web::Error;
use actix_web::HttpMessage as _;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderMap;
use actix_web::middleware::Next;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::Span;
use selvedge_gateway::{Service, TraceId, sent_path};
use selvedge_postgres::trace_request;

use crate::spans::{Clock, export_stages, export_statements};
use crate::telemetry::Telemetry;

impl Telemetry {
    /// Calls the gateway and exports the request's spans, if there is a `telemetry` and the request is sampled. The span ends
    /// with the head of the response, because the client determines how fast the body is streamed.
    ///
    /// # Errors
    /// The error of the gateway, whose status is in the span.
    pub async fn trace_call<B: MessageBody>(
        telemetry: Option<Self>,
        request: ServiceRequest,
        next: Next<B>,
    ) -> Result<ServiceResponse<B>, Error> {
        let Some(telemetry) = telemetry else {
            return next.call(request).await;
        };
        let clock = Clock {
            instant: Instant::now(),
            time: SystemTime::now(),
        };
        let mut span = telemetry.start_span(&request, clock.time);
        if !span.is_recording() {
            return next.call(request).await;
        }
        let service = Service::from_path(request.match_info().as_str());
        let method = request.method().to_string();
        let trace_id = span.span_context().trace_id().to_string();
        request.extensions_mut().insert(TraceId::new(trace_id.as_str()));
        let (outcome, trace) = trace_request(&trace_id, next.call(request)).await;
        match &outcome {
            Ok(response) => describe_response(&mut span, &method, service, response),
            Err(error) => set_status(&mut span, error.as_response_error().status_code().as_u16()),
        }
        let parent = span.span_context().clone();
        export_stages(&telemetry.tracer, &parent, &clock, service, &trace.stages);
        export_statements(&telemetry.tracer, &parent, &clock, &trace.statements);
        // By the same clock as the child spans, so that they lie within this span.
        span.end_with_timestamp(clock.to_time(Instant::now()));
        outcome
    }

    /// Starts the span of a request, below the client's span if the request names one.
    fn start_span(&self, request: &ServiceRequest, started: SystemTime) -> Span {
        let parent =
            TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(request.headers()));
        let service = Service::from_path(request.match_info().as_str());
        let method = request.method().as_str();
        let attributes = vec![
            KeyValue::new("http.request.method", method.to_owned()),
            // The path only: queries carry filters with personal data, one-time codes and keys.
            KeyValue::new("url.path", sent_path(request.uri()).to_owned()),
            KeyValue::new("url.scheme", request.connection_info().scheme().to_owned()),
        ];
        self.tracer
            .span_builder(format!("{method} {}", service.name()))
            .with_kind(SpanKind::Server)
            .with_start_time(started)
            .with_attributes(attributes)
            .start_with_context(&self.tracer, &parent)
    }
}

/// The headers of a request as the propagator reads them.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0
            .keys()
            .map(actix_web::http::header::HeaderName::as_str)
            .collect()
    }
}

/// Adds status, route and request id to the span. If the service has a route pattern, the span's name contains it instead of the
/// service's name, so that requests with different values have one name.
fn describe_response<B>(span: &mut Span, method: &str, service: Service, response: &ServiceResponse<B>) {
    set_status(span, response.status().as_u16());
    let request_id = response.headers().get("x-request-id");
    if let Some(id) = request_id.and_then(|value| value.to_str().ok()) {
        span.set_attribute(KeyValue::new("selvedge.request_id", id.to_owned()));
    }
    span.set_attribute(KeyValue::new("selvedge.service", service.name()));
    if let Some(route) = response.request().match_pattern() {
        span.update_name(format!("{method} {route}"));
        span.set_attribute(KeyValue::new("http.route", route));
    }
}

/// Adds the status, which makes the span an error for faults of the server only: the conventions leave 4xx unset.
fn set_status(span: &mut Span, status: u16) {
    span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
    if status >= 500 {
        span.set_attribute(KeyValue::new("error.type", status.to_string()));
        span.set_status(Status::error(""));
    }
}
