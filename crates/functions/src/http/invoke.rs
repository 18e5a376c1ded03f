//! `ANY /functions/v1/<slug>[/<rest>]`: calls a function. Source: functions contract §3 to §6.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use actix_web::http::header;
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Payload, ThinData};
use actix_web::{HttpRequest, HttpResponse};
use hyper::Response;
use hyper::body::Incoming;
use selvedge_gateway::{Caller, sent_path};
use selvedge_telemetry::end_traced_stage;
use serde_json::json;
use tokio::time::{Instant, sleep_until, timeout};

use super::authorize::{exchange_key, verify_jwt};
use super::connections::SendError;
use super::forward::{ForwardedRequest, begin_response};
use super::request_body::{Progress, RequestBody};
use super::response_body::{ConnectionLease, HeadBody, ResponseBody};
use super::state::WorkerState;
use crate::error::FunctionError;
use crate::native::NativeRequest;
use crate::worker::{Lease, Worker};

/// The path below which functions are served.
const PREFIX: &str = "/functions/v1";
/// After a worker has closed a connection, its process gets this long to exit, so that the client can be told why it
/// ended.
const END_TIME: Duration = Duration::from_secs(3);

/// Handles one HTTP request to a function: authorizes it, finds a worker, passes the request on and streams the
/// response back.
pub(super) async fn invoke_function(
    request: HttpRequest,
    payload: Payload,
    state: ThinData<Rc<WorkerState>>,
) -> HttpResponse {
    let path = strip_service_prefix(sent_path(request.uri()));
    if path == "/_internal/health" {
        return HttpResponse::Ok().json(json!({ "message": "ok" }));
    }
    let slug = extract_slug(path).to_owned();
    let outcome = if state.shared.find_native(&slug).is_some() {
        call_native(&state, &slug, &request, payload).await
    } else {
        call_project_function(&state, &slug, &request, payload).await
    };
    outcome.unwrap_or_else(|error| error.response())
}

/// `/<slug>[/<rest>]` of a request's path.
pub(super) fn strip_service_prefix(path: &str) -> &str {
    path.strip_prefix(PREFIX).unwrap_or(path)
}

/// Returns the first segment of a function's path; empty when there is none.
pub(super) fn extract_slug(path: &str) -> &str {
    path.trim_start_matches('/').split('/').next().unwrap_or_default()
}

/// Path and query as the function sees them.
pub(super) fn join_query(path: &str, query: Option<&str>) -> String {
    match query.filter(|query| !query.is_empty()) {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

async fn call_native(
    state: &WorkerState,
    slug: &str,
    request: &HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, FunctionError> {
    let function = state.shared.find_native(slug).ok_or(FunctionError::NotFound)?;
    let authorization = exchange_key(request.headers(), &state.shared.keys);
    if function.verify_jwt() && request.method() != Method::OPTIONS {
        verify_jwt(authorization.as_ref(), &state.shared.keys)?;
    }
    end_traced_stage("jwt");
    let mut headers = request.headers().clone();
    if let Some(authorization) = authorization {
        headers.insert(header::AUTHORIZATION, authorization);
    }
    let call = NativeRequest {
        method: request.method().clone(),
        path: strip_service_prefix(sent_path(request.uri())).to_owned(),
        query: request.query_string().to_owned(),
        headers,
        body: payload,
        caller: Caller::extract(request),
    };
    let response = function.call(call).await;
    end_traced_stage("invocation");
    Ok(response)
}

async fn call_project_function(
    state: &WorkerState,
    slug: &str,
    request: &HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, FunctionError> {
    let pool = state.shared.find_pool(slug).ok_or(FunctionError::NotFound)?;
    let authorization = exchange_key(request.headers(), &state.shared.keys);
    if pool.verifies_jwt() && request.method() != Method::OPTIONS {
        verify_jwt(authorization.as_ref(), &state.shared.keys)?;
    }
    end_traced_stage("jwt");
    if state.shared.launcher().config.announces_calls {
        tracing::info!(target: "edge_function::calls", "serving the request with supabase/functions/{slug}");
    }
    let caller = Caller::extract(request);
    let progress: Progress = Rc::new(Cell::new(Instant::now()));
    let body = make_request_body(request, payload, &progress);
    let forwarded = ForwardedRequest {
        method: request.method(),
        target: &join_query(
            strip_service_prefix(sent_path(request.uri())),
            request.uri().query(),
        ),
        headers: request.headers(),
        authorization: authorization.as_ref(),
        remote_ip: Some(caller.remote_ip()),
        request_id: caller.request_id().as_str(),
        is_secure: request.app_config().secure(),
    };
    let forwarded = forwarded.build(body).ok_or(FunctionError::NotFound)?;
    let lease = pool.lease().await?;
    end_traced_stage("worker");
    progress.set(Instant::now());
    let idle_limit = state.shared.launcher().config.limits.idle_response;
    let sent = tokio::select! {
        sent = state.connections.send(&lease.worker, forwarded) => sent,
        () = wait_for_stall(&progress, idle_limit) => return Err(FunctionError::TimedOut),
    };
    end_traced_stage("invocation");
    match sent {
        Ok((response, sender)) => {
            lease.worker.count_response();
            let held = ConnectionLease {
                sender,
                connections: Rc::clone(&state.connections),
                lease,
            };
            Ok(pass_response(request.method(), response, held, idle_limit))
        }
        Err(error) => Err(explain_failure(&lease, &error).await),
    }
}

/// The body for the function. A request with neither length nor chunks has none.
fn make_request_body(request: &HttpRequest, payload: Payload, progress: &Progress) -> RequestBody {
    let headers = request.headers();
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_none_or(|length: u64| length == 0) && !headers.contains_key(header::TRANSFER_ENCODING) {
        return RequestBody::Empty;
    }
    RequestBody::Stream {
        payload,
        length,
        progress: Rc::clone(progress),
    }
}

/// Returns when no piece of the request or response has been passed on for `limit`.
async fn wait_for_stall(progress: &Progress, limit: Duration) {
    loop {
        let deadline = progress.get() + limit;
        if deadline <= Instant::now() {
            return;
        }
        sleep_until(deadline).await;
    }
}

fn pass_response(
    method: &Method,
    response: Response<Incoming>,
    held: ConnectionLease,
    idle_limit: Duration,
) -> HttpResponse {
    let (head, incoming) = response.into_parts();
    let mut response = begin_response(&head);
    let length = head
        .headers
        .get(hyper::header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse().ok());
    // Made for responses without a body, too, because dropping it returns the connection and releases the worker.
    let body = ResponseBody::new(incoming, length, held, idle_limit);
    let status = StatusCode::from_u16(head.status.as_u16()).unwrap_or(StatusCode::OK);
    if method == Method::HEAD {
        return match length {
            Some(length) => response.body(HeadBody(length)),
            None => response.finish(),
        };
    }
    if has_no_body(status) {
        return response.finish();
    }
    response.body(body)
}

/// Statuses that never come with a body.
fn has_no_body(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED
    ) || status.is_informational()
}

/// Returns the error for a request without a response: why the worker ended, if it did.
pub(super) async fn explain_failure(lease: &Lease, error: &SendError) -> FunctionError {
    let worker: &Worker = &lease.worker;
    match timeout(END_TIME, worker.wait_until_ended()).await {
        Ok(end) => FunctionError::from(&end),
        Err(_) => {
            tracing::warn!(target: "edge_function", function = worker.slug, %error, "no response");
            FunctionError::Internal
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_035_the_function_sees_its_name_sub_path_and_query() {
        let cases = [
            ("/functions/v1/hello", None, "hello", "/hello"),
            (
                "/functions/v1/hello/a%20b/",
                Some("x=1"),
                "hello",
                "/hello/a%20b/?x=1",
            ),
            ("/functions/v1", None, "", ""),
            ("/functions/v1/", Some(""), "", "/"),
        ];
        for (path, query, slug, target) in cases {
            let path = strip_service_prefix(path);
            assert_eq!(
                (extract_slug(path), join_query(path, query).as_str()),
                (slug, target)
            );
        }
    }
}
