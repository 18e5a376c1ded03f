//! Traces by OTLP, as a collector gets them: the binary sends them, and the test decodes the protobuf messages.

use std::sync::{Arc, Mutex};

use actix_web::{App, HttpResponse, HttpServer, web};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AttributeValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

use crate::realtime::Socket;
use crate::support::{Project, Running};

/// The trace and the span of a client, as `traceparent` names them.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN: &str = "00f067aa0ba902b7";
/// A trace that the client does not sample.
const UNSAMPLED_TRACE: &str = "5bf92f3577b34da6a3ce929d0e0e4736";

const MIGRATION: &str = "
    create table public.notes (id int, body text);
    create function public.name_session() returns text language plpgsql volatile as $$
    begin
      perform pg_sleep(0.06);
      return current_setting('application_name');
    end $$;
";

/// The spans that a collector has received.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Span>>>);

impl Collector {
    /// Listens on a port of the system's choice, which is returned.
    fn listen(&self) -> u16 {
        let state = web::Data::new(self.clone());
        let app = move || {
            App::new()
                .app_data(state.clone())
                .route("/v1/traces", web::post().to(receive_spans))
        };
        let server = HttpServer::new(app)
            .workers(1)
            .bind(("127.0.0.1", 0))
            .expect("a port");
        let port = server.addrs()[0].port();
        actix_web::rt::spawn(server.run());
        port
    }

    fn spans(&self) -> Vec<Span> {
        self.0.lock().expect("no test panicked").clone()
    }
}

async fn receive_spans(collector: web::Data<Collector>, body: web::Bytes) -> HttpResponse {
    let message = ExportTraceServiceRequest::decode(body).expect("a message of OTLP");
    let of_resources = message.resource_spans.into_iter();
    let of_scopes = of_resources.flat_map(|resource| resource.scope_spans);
    let spans = of_scopes.flat_map(|scope| scope.spans);
    collector.0.lock().expect("no test panicked").extend(spans);
    HttpResponse::Ok().content_type("application/x-protobuf").finish()
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of an attribute, or its number as text.
fn attribute(span: &Span, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        AttributeValue::StringValue(text) => Some(text.clone()),
        AttributeValue::IntValue(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Sends a GET whose client takes part in a trace, and returns the body.
async fn get_traced(running: &Running, path: &str, traceparent: Option<String>) -> String {
    let mut request = reqwest::Client::new().get(running.url(path));
    if let Some(traceparent) = traceparent {
        request = request.header("traceparent", traceparent);
    }
    let response = request.send().await.expect("a response");
    response.text().await.expect("a body")
}

/// Sends a POST with the anon key.
async fn post_traced(running: &Running, path: &str, body: &'static str) {
    let key = selvedge_token::development::anon_key();
    let request = reqwest::Client::new()
        .post(running.url(path))
        .header("apikey", &key)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .body(body);
    request.send().await.expect("a response");
}

/// The spans below that of the request to a path.
fn children_of<'s>(spans: &'s [Span], path: &str) -> Vec<&'s Span> {
    let server = spans
        .iter()
        .find(|span| attribute(span, "url.path").as_deref() == Some(path));
    let server = server.unwrap_or_else(|| panic!("{path} has no span"));
    spans
        .iter()
        .filter(|span| span.parent_span_id == server.span_id)
        .collect()
}

/// Starts a project that sends its spans to the collector when it stops, and not before.
async fn start_traced(project: &Project, collector: &Collector) -> Running {
    project.write("migrations/20240101000000_notes.sql", MIGRATION);
    let endpoint = format!("http://127.0.0.1:{}", collector.listen());
    let variables = [
        ("SELVEDGE_TELEMETRY_ENDPOINT", endpoint.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "600000"),
        ("SELVEDGE_ACCESS_LOG", "true"),
        ("SELVEDGE_LOG", "info"),
        ("SELVEDGE_LIMITS_SLOW_QUERY", "50ms"),
        // With it there is a function that needs no Deno.
        ("SELVEDGE_IMPORT_HOSTS", "shop.test"),
    ];
    let running = project.spawn(&project.start_arguments(), &variables);
    running.wait_until_ready().await;
    running
}

#[actix_web::rt::test(system = "selvedge_testing::System")]
async fn traces_continue_that_of_the_client_down_to_the_sql_without_values() {
    let (project, collector) = (Project::new(), Collector::default());
    let running = start_traced(&project, &collector).await;
    let sampled = || Some(format!("00-{TRACE}-{CLIENT_SPAN}-01"));
    let unsampled = || Some(format!("00-{UNSAMPLED_TRACE}-{CLIENT_SPAN}-00"));

    get_traced(&running, "/rest/v1/notes?body=eq.very-private&apikey=", sampled()).await;
    get_traced(&running, "/storage/v1/bucket", None).await;
    post_traced(
        &running,
        "/auth/v1/signup",
        r#"{"email":"very-private@example.com","password":"very-private-1"}"#,
    )
    .await;
    post_traced(&running, "/functions/v1/fetch-farfetch", "{}").await;
    let mut socket = Socket::open(&running, &selvedge_token::development::anon_key()).await;
    for event in ["phx_join", "phx_leave", "very-private"] {
        socket.send(event, serde_json::json!({})).await;
        while socket.next().await.0 != "phx_reply" {}
    }
    drop(socket);
    get_traced(&running, "/auth/v1/health", Some("of a broken client".to_owned())).await;
    let named = get_traced(&running, "/rest/v1/rpc/name_session", sampled()).await;
    let unnamed = get_traced(&running, "/rest/v1/rpc/name_session", unsampled()).await;
    let log = running.stop();

    // PostgreSQL shows the trace while it runs the transaction, and not afterwards.
    assert_eq!(named, format!("\"selvedge trace_id={TRACE}\""));
    assert!(!unnamed.contains("trace_id"), "{unnamed}");
    for message in ["slow query", "request"] {
        let has_trace = |line: &&str| line.contains(message) && line.contains(TRACE);
        assert!(log.lines().any(|line| has_trace(&line)), "{message}: {log}");
    }
    let spans = collector.spans();
    expect_rest_trace(&spans);
    let of_auth = children_of(&spans, "/auth/v1/signup");
    let inserts_user = |span: &&&Span| {
        attribute(span, "db.query.text")
            .is_some_and(|text| text.contains("auth.users") && text.contains("$1"))
    };
    assert!(of_auth.iter().any(|span| inserts_user(&span)), "{of_auth:?}");
    let of_function = children_of(&spans, "/functions/v1/fetch-farfetch");
    for stage in ["functions jwt", "functions invocation"] {
        assert!(
            of_function.iter().any(|span| span.name == stage),
            "{of_function:?}"
        );
    }
    for path in ["/storage/v1/bucket", "/auth/v1/health"] {
        let span = spans
            .iter()
            .find(|span| attribute(span, "url.path").as_deref() == Some(path));
        let span = span.unwrap_or_else(|| panic!("{path} has no span"));
        assert!(span.parent_span_id.is_empty() && to_hex(&span.trace_id) != TRACE);
    }
    for name in ["realtime phx_join", "realtime phx_leave", "realtime message"] {
        let span = spans.iter().find(|span| span.name == name);
        assert!(span.is_some_and(|span| span.parent_span_id.is_empty()), "{name}");
    }
    let everything = format!("{spans:?}");
    assert!(
        !everything.contains("very-private") && !everything.contains("apikey"),
        "{everything}"
    );
    assert!(spans.iter().all(|span| to_hex(&span.trace_id) != UNSAMPLED_TRACE));
}

/// The read has a span below the client's, and below that one for each stage and for the statement.
fn expect_rest_trace(spans: &[Span]) {
    let server = spans
        .iter()
        .find(|span| attribute(span, "url.path").as_deref() == Some("/rest/v1/notes"))
        .expect("a span of the request");
    assert_eq!(to_hex(&server.trace_id), TRACE);
    assert_eq!(to_hex(&server.parent_span_id), CLIENT_SPAN);
    assert_eq!(attribute(server, "http.request.method").as_deref(), Some("GET"));
    assert_eq!(
        attribute(server, "http.response.status_code").as_deref(),
        Some("200")
    );
    assert!(attribute(server, "selvedge.request_id").is_some());
    let children: Vec<_> = spans
        .iter()
        .filter(|span| span.parent_span_id == server.span_id)
        .collect();
    for name in [
        "rest jwt",
        "rest parse",
        "rest plan",
        "rest transaction",
        "rest response",
    ] {
        assert!(children.iter().any(|span| span.name == name), "{name} is missing");
    }
    let statement = children.iter().find(|span| span.name == "postgresql");
    let statement = statement.expect("a span of the statement");
    let text = attribute(statement, "db.query.text").expect("the text");
    assert!(text.contains("notes") && text.contains("$1"), "{text}");
    for child in &children {
        let is_inside = child.start_time_unix_nano >= server.start_time_unix_nano
            && child.end_time_unix_nano <= server.end_time_unix_nano;
        assert!(is_inside && child.trace_id == server.trace_id, "{child:?}");
    }
}
