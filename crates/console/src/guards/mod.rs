//! Checks on every request before its endpoint runs: host, origin, sign-in and level. Also sets the headers of every
//! response.

mod headers;
mod hosts;
mod origin;

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};
use selvedge_gateway::RequestId;

use crate::endpoint::Access;
use crate::error::ConsoleError;
use crate::state::ConsoleState;
use crate::{routes, session};

pub use hosts::AllowedHosts;

/// The response header with the id under which a request is found in logs and in the audit.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The prefix of all endpoints. Everything else is the page and its files, which hold nothing of the project.
const API_PREFIX: &str = "/api/";

/// Checks a request, passes it on, and sets the headers of its response.
pub(crate) async fn guard<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let id = RequestId::from_headers(request.headers());
    let is_api = request.path().starts_with(API_PREFIX);
    let mut response = match admit(&request, is_api, &id).await {
        Ok(()) => name_request(next.call(request).await?, &id),
        Err(refusal) => request
            .into_response(refusal.respond(Some(id.as_str())))
            .map_into_right_body(),
    };
    // Refusals get the headers, too: a frame around an error page would be as useful to an attacker.
    let headers = response.headers_mut();
    headers::apply(headers, is_api);
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        headers.insert(REQUEST_ID, value);
    }
    Ok(response)
}

/// Decides whether the request may continue, and attaches the session to it.
async fn admit(request: &ServiceRequest, is_api: bool, id: &RequestId) -> Result<(), ConsoleError> {
    let state = request
        .app_data::<web::Data<ConsoleState>>()
        .expect("the listener gives every request the state");
    if !state.config.hosts.allows(request) {
        return Err(ConsoleError::new(
            StatusCode::MISDIRECTED_REQUEST,
            "misdirected",
            "The console does not answer to this host name",
        ));
    }
    if !is_api {
        return Ok(());
    }
    // Before the session is looked up, so that a page of another origin cannot even make the server ask the database.
    origin::check(request, &state.config.hosts)?;
    let access = request
        .match_pattern()
        .and_then(|pattern| routes::find_access(request.method(), &pattern));
    // Paths that are not in the table are also refused without the header, so that foreign pages cannot find out which
    // endpoints exist.
    let secret = match access {
        Some(Access::Ticket) => None,
        _ => Some(origin::console_header(request)?),
    };
    let access = access.ok_or_else(|| ConsoleError::not_found("There is no such endpoint"))?;
    let found = session::find(state, request, secret, id).await;
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
