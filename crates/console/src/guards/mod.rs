//! Checks before a request is served. The listener's guard checks the host and sets the headers of every response; the check
//! of an endpoint (origin, project, sign-in and level) is part of its route.

mod headers;
mod hosts;
mod origin;
mod project;

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, HttpResponse, web};
use selvedge_gateway::RequestId;

use crate::access::Access;
use crate::error::ConsoleError;
use crate::session;
use crate::state::ConsoleState;

pub use hosts::AllowedHosts;

/// The response header with the id under which a request is found in logs and in the audit.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The mark of requests that SQL of any project has asked for (`crates/jobs/src/sender.rs`).
const SENDER: HeaderName = HeaderName::from_static("x-selvedge-sender");

/// Checks a request's host, passes it on, and sets the headers of its response.
pub(crate) async fn guard<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let id = RequestId::from_headers(request.headers());
    request.extensions_mut().insert(id.clone());
    let state = state_of(&request);
    let refusal = if request.headers().contains_key(SENDER) {
        Some(ConsoleError::forbidden("SQL does not call the console"))
    } else if state.config.hosts.allows(&request) {
        None
    } else {
        Some(ConsoleError::new(
            StatusCode::MISDIRECTED_REQUEST,
            "misdirected",
            "The console does not answer to this host name",
        ))
    };
    let mut response = match refusal {
        None => name_request(next.call(request).await?, &id),
        Some(refusal) => request
            .into_response(refusal.respond(Some(id.as_str())))
            .map_into_right_body(),
    };
    // Refusals get the headers, too: a frame around an error page would be as useful to an attacker.
    let headers = response.headers_mut();
    headers::apply(headers);
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        headers.insert(REQUEST_ID, value);
    }
    Ok(response)
}

/// Stands before the handler of an endpoint: checks the calling page, the session and its level, and attaches the session
/// to the request.
pub(crate) async fn admit(
    access: Access,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    if let Err(refusal) = check_caller(access, &request).await {
        return Ok(request.error_response(refusal));
    }
    let mut response = next.call(request).await?;
    headers::forbid_storing(response.headers_mut());
    Ok(response)
}

/// Any other path below `/api/`. The page that asks is checked as for an endpoint, so that foreign pages cannot find out
/// which endpoints exist.
pub(crate) async fn refuse_unknown_endpoint(
    request: HttpRequest,
    state: web::Data<ConsoleState>,
) -> Result<HttpResponse, ConsoleError> {
    origin::check(request.headers(), &state.config.hosts)?;
    origin::console_header(request.headers())?;
    Err(ConsoleError::not_found("There is no such endpoint"))
}

/// Decides whether the caller may use an endpoint, and attaches the session to the request.
async fn check_caller(access: Access, request: &ServiceRequest) -> Result<(), ConsoleError> {
    let state = state_of(request);
    // Before the session is looked up, so that a page of another origin cannot even make the server ask the database.
    origin::check(request.headers(), &state.config.hosts)?;
    let secret = match access {
        Access::Ticket => None,
        _ => Some(origin::console_header(request.headers())?),
    };
    // `GET /api/session` is how a page learns which project this is.
    if access != Access::Open || request.method() != Method::GET {
        // Before the session: a page of another project is told so, and not asked to sign in here.
        project::check(&state, request).await?;
    }
    let id = request.extensions().get::<RequestId>().cloned();
    let id = id.expect("the guard of the listener gives every request an id");
    let found = session::find(&state, request, secret, &id).await;
    match access {
        // A sign-in works whatever became of an older session.
        Access::Open => {
            if let Ok(session) = found {
                request.extensions_mut().insert(session);
            }
        }
        Access::Ticket | Access::From(_) => {
            let session = found?;
            if let Access::From(level) = access {
                session.require(level)?;
            }
            state.sessions.count_request(&session)?;
            request.extensions_mut().insert(session);
        }
    }
    Ok(())
}

fn state_of(request: &ServiceRequest) -> web::Data<ConsoleState> {
    let state = request.app_data::<web::Data<ConsoleState>>();
    state.expect("the listener gives every request the state").clone()
}

/// Writes the request's id into the body of an error.
fn name_request<B: MessageBody + 'static>(
    response: ServiceResponse<B>,
    id: &RequestId,
) -> ServiceResponse<EitherBody<B>> {
    let named = response
        .response()
        .error()
        .and_then(|error| error.as_error::<ConsoleError>())
        .map(|error| error.respond(Some(id.as_str())));
    match named {
        Some(named) => response.into_response(named).map_into_right_body(),
        None => response.map_into_left_body(),
    }
}
