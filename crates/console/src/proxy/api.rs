//! Passes a request on to its service, and the response back.

use actix_web::http::Uri;
use actix_web::http::header::{HOST, HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, web};
use selvedge_gateway::sent_path;

use super::target::Target;
use super::{headers, subject};
use crate::audit::{self, AuditEntry};
use crate::error::ConsoleError;
use crate::services::{ThreadApi, api_host};
use crate::session::Session;
use crate::state::{ConsoleState, Level};

/// `/api/proxy/{service}/…`
pub(super) async fn forward(
    state: web::Data<ConsoleState>,
    thread: web::Data<ThreadApi>,
    session: Session,
    request: HttpRequest,
    body: web::Payload,
) -> Result<HttpResponse, ConsoleError> {
    let target = Target::parse(request.match_info().query("service"), sent_path(request.uri()))?;
    if session.level < Level::Admin && !target.is_open_to_viewers() {
        return Err(ConsoleError::forbidden(
            "Viewers may not read this through the services",
        ));
    }
    let path = target.public_path();
    if target.is_audited(request.method()) {
        let action = format!("proxy.{}", request.method().as_str().to_ascii_lowercase());
        let entry = AuditEntry::new(&action, &path).with_result("started");
        audit::record(&state, &session, entry).await?;
    }
    // After the entry of the audit, because a hook of the project may already be asked for the claims.
    let credentials = subject::credentials(&state, &session, request.headers())?;
    let service = thread.get(&state).await?;
    let mut inner = actix_http::Request::with_payload(body.into_inner());
    let head = inner.head_mut();
    head.method = request.method().clone();
    head.uri = inner_uri(&path, request.query_string())?;
    head.peer_addr = request.peer_addr();
    for (name, value) in headers::request(request.headers()) {
        head.headers.append(name, value);
    }
    // The same id in both requests, so that a response leads to its log line.
    let token = credentials.token.map(|token| format!("Bearer {token}"));
    let own = [
        ("host", Some(api_host(&state))),
        ("apikey", Some(credentials.key)),
        ("authorization", token),
        ("x-request-id", Some(session.request_id.to_string())),
        ("x-forwarded-for", Some(session.address.to_string())),
    ];
    for (name, value) in own {
        let value = value.and_then(|value| HeaderValue::from_str(&value).ok());
        if let Some(value) = value {
            head.headers.insert(HeaderName::from_static(name), value);
        }
    }
    // Without a host actix would make up one, and services would write it into addresses.
    debug_assert!(head.headers.contains_key(HOST));
    let answer = service(inner).await;
    Ok(answer.map_or_else(|error| pass_back(error.error_response()), pass_back))
}

/// Copies a service's response with none but the listed headers.
fn pass_back(answer: HttpResponse) -> HttpResponse {
    let location = headers::location(answer.headers());
    // A list of what stays, not of what goes: a header that a service adds later is then left out until somebody adds it here.
    let kept: Vec<_> = headers::response(answer.headers()).collect();
    let mut response = HttpResponse::build(answer.status());
    for header in kept {
        response.append_header(header);
    }
    if let Some(location) = location {
        response.insert_header(("location", location));
    }
    response.body(answer.into_body())
}

fn inner_uri(path: &str, query: &str) -> Result<Uri, ConsoleError> {
    let target = if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    };
    target
        .parse()
        .map_err(|_| ConsoleError::invalid("The address is not valid"))
}
