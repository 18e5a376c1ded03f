//! WebSocket handshakes with a function, and the bytes of a socket afterwards. Source: functions contract §8.

use std::net::IpAddr;
use std::rc::Rc;

use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap};
use actix_web::rt;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Response, StatusCode, body::Incoming};
use hyper_util::rt::TokioIo;
use selvedge_gateway::{
    GatewayError, RequestId, UnknownAddress, UpgradeDecision, UpgradeHandler, UpgradeRequest, UpgradedStream,
    find_client_address, sent_path,
};
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::time::timeout;

use super::authorize::{exchange_key, verify_jwt};
use super::connections::send_upgrade;
use super::forward::{ForwardedRequest, begin_response};
use super::invoke::{explain_failure, extract_slug, join_query, strip_service_prefix};
use super::request_body::RequestBody;
use super::state::WorkerState;
use crate::error::FunctionError;
use crate::worker::Lease;

/// Response headers of a handshake that the client needs (RFC 6455 §4.2.2).
const HANDSHAKE_HEADERS: [&str; 3] = [
    "Sec-WebSocket-Accept",
    "Sec-WebSocket-Protocol",
    "Sec-WebSocket-Extensions",
];

/// The handler of WebSocket handshakes with functions on one thread.
pub(super) struct Upgrades {
    state: Rc<WorkerState>,
}

/// The head of a handshake.
struct Handshake {
    method: Method,
    path: String,
    query: Option<String>,
    headers: HeaderMap,
    remote_ip: Option<IpAddr>,
}

impl Upgrades {
    pub(super) fn new(state: Rc<WorkerState>) -> Self {
        Self { state }
    }
}

impl UpgradeHandler for Upgrades {
    fn decide(&self, request: &UpgradeRequest) -> UpgradeDecision {
        let handshake = Handshake {
            method: request.method().clone(),
            path: strip_service_prefix(sent_path(request.uri())).to_owned(),
            query: request.uri().query().map(str::to_owned),
            headers: request.head().headers.clone(),
            remote_ip: request.peer_addr().map(|peer| peer.ip()),
        };
        let state = Rc::clone(&self.state);
        UpgradeDecision::Later(Box::pin(async move {
            open_socket(&state, &handshake)
                .await
                .unwrap_or_else(|error| UpgradeDecision::Refuse(error.response()))
        }))
    }
}

/// Passes the handshake to the function, which accepts or refuses it.
async fn open_socket(state: &WorkerState, handshake: &Handshake) -> Result<UpgradeDecision, FunctionError> {
    let pool = state
        .shared
        .find_pool(extract_slug(&handshake.path))
        .ok_or(FunctionError::NotFound)?;
    let authorization = exchange_key(&handshake.headers, &state.shared.keys);
    if pool.verifies_jwt() {
        verify_jwt(authorization.as_ref(), &state.shared.keys)?;
    }
    let request_id = RequestId::from_headers(&handshake.headers);
    let Ok(remote_ip) = find_client(state, handshake) else {
        return Ok(UpgradeDecision::Refuse(GatewayError::UnknownAddress.response()));
    };
    let forwarded = ForwardedRequest {
        method: &handshake.method,
        target: &join_query(&handshake.path, handshake.query.as_deref()),
        headers: &handshake.headers,
        authorization: authorization.as_ref(),
        remote_ip,
        request_id: request_id.as_str(),
        is_secure: false,
    };
    let mut request = forwarded
        .build(RequestBody::Empty)
        .ok_or(FunctionError::NotFound)?;
    for name in [header::CONNECTION, header::UPGRADE] {
        let value = handshake.headers.get(&name);
        let value = value.and_then(|value| HeaderValue::from_bytes(value.as_bytes()).ok());
        if let (Ok(name), Some(value)) = (HeaderName::from_bytes(name.as_str().as_bytes()), value) {
            request.headers_mut().insert(name, value);
        }
    }
    let lease = pool.lease().await?;
    let limit = state.shared.launcher().config.limits.idle_response;
    match timeout(limit, send_upgrade(&lease.worker.socket(), request)).await {
        Err(_) => Err(FunctionError::TimedOut),
        Ok(Err(error)) => Err(explain_failure(&lease, &error).await),
        Ok(Ok(response)) => {
            lease.worker.count_response();
            Ok(pass_decision(response, lease))
        }
    }
}

/// The client's address and not that of the proxy in front, as for other requests.
fn find_client(state: &WorkerState, handshake: &Handshake) -> Result<Option<IpAddr>, UnknownAddress> {
    let Some(peer) = handshake.remote_ip else {
        return Ok(None);
    };
    let proxies = state.shared.launcher().config.trusted_proxies;
    find_client_address(&handshake.headers, peer, proxies)
        .map(Some)
        .inspect_err(|error| {
            tracing::warn!(entry = error.entry, proxy = %peer, "X-Forwarded-For of a trusted proxy has no address");
        })
}

/// Accepts when the function has switched protocols; any other response is passed on without its body.
fn pass_decision(response: Response<Incoming>, lease: Lease) -> UpgradeDecision {
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let (head, _) = response.into_parts();
        return UpgradeDecision::Refuse(begin_response(&head).finish());
    }
    let headers = HANDSHAKE_HEADERS
        .into_iter()
        .filter_map(|name| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some((name, value.to_owned()))
        })
        .collect();
    UpgradeDecision::Accept {
        headers,
        serve: Box::new(move |stream| {
            rt::spawn(pass_frames(stream, response, lease));
        }),
    }
}

/// Copies the bytes of a socket in both directions until one side closes it.
async fn pass_frames(mut client: UpgradedStream, response: Response<Incoming>, lease: Lease) {
    let Ok(function) = hyper::upgrade::on(response).await else {
        return;
    };
    let mut function = TokioIo::new(function);
    let early = client.take_unread();
    if function.write_all(&early).await.is_ok() {
        // An error means that one side has left without closing.
        let _ = copy_bidirectional(&mut client, &mut function).await;
    }
    drop(lease);
}
