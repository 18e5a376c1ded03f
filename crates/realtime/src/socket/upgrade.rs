//! The WebSocket handshake: version, API key and limits are checked, then the socket's task starts (realtime contract
//! §1).

use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use actix_web::http::header::{self, HeaderMap};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, rt};
use percent_encoding::percent_decode_str;
use selvedge_gateway::{
    Bearer, Caller, UpgradeDecision, UpgradeHandler, UpgradeRequest, UpgradedStream, find_client_address,
    json_error_response, routed_path,
};
use selvedge_limits::{ClientId, Share, Shares};
use serde_json::{Map, Value, json};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::session;
use crate::channel::SocketContext;
use crate::fanout::Outbox;
use crate::frame::Version;
use crate::state::{Shared, Worker};
use crate::token::{Token, TokenRefusal};

/// The path of the WebSocket endpoint.
const PATH: &str = "/realtime/v1/websocket";

/// Why a handshake is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UpgradeRefusal {
    UnknownVersion,
    NotAnUpgrade,
    NoSuchPath,
    KeyMissing,
    Token(TokenRefusal),
    TooManySockets,
    TooManyJoins,
    ShuttingDown,
}

impl UpgradeRefusal {
    /// The refusal as an HTTP response with the body `{"error":…}`. Only non-browser clients can read it: a browser
    /// reports nothing but a failed connection.
    fn response(self) -> HttpResponse {
        let (status, text) = match self {
            Self::UnknownVersion => return HttpResponse::Forbidden().finish(),
            Self::NotAnUpgrade => return HttpResponse::BadRequest().finish(),
            Self::NoSuchPath => (StatusCode::NOT_FOUND, "Not found"),
            Self::KeyMissing => (StatusCode::UNAUTHORIZED, "API key is missing"),
            Self::Token(refusal) => (StatusCode::UNAUTHORIZED, refusal.upgrade_text()),
            Self::TooManySockets => (StatusCode::TOO_MANY_REQUESTS, "Too many connected users"),
            Self::TooManyJoins => (StatusCode::TOO_MANY_REQUESTS, "Too many joins per second"),
            Self::ShuttingDown => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Realtime is restarting, please standby",
            ),
        };
        json_error_response(status, json!({ "error": text }))
    }
}

/// Most subscriptions to database changes of one socket.
const MAX_BINDINGS_PER_SOCKET: usize = 1000;

/// A handshake that passed its checks.
struct Handshake {
    version: Version,
    token: Token,
}

/// The handler for the WebSocket handshakes of one worker.
pub(crate) struct Upgrades {
    worker: Rc<Worker>,
}

impl Upgrades {
    pub(crate) fn new(worker: Rc<Worker>) -> Self {
        Self { worker }
    }
}

impl UpgradeHandler for Upgrades {
    fn decide(&self, request: &UpgradeRequest) -> UpgradeDecision {
        let headers = &request.head().headers;
        let accepted = check_handshake(&self.worker.shared, request).and_then(|handshake| {
            let accept = accept_key(request.method(), headers).ok_or(UpgradeRefusal::NotAnUpgrade)?;
            Ok((handshake, accept))
        });
        match accepted {
            Err(refusal) => UpgradeDecision::Refuse(refusal.response()),
            Ok((Handshake { version, token }, accept)) => {
                let shared = &self.worker.shared;
                let client = client_of(shared, request);
                let Ok(share) = shared.socket_shares.take(client, 1) else {
                    return UpgradeDecision::Refuse(UpgradeRefusal::TooManySockets.response());
                };
                let context = Rc::new(SocketContext {
                    worker: Rc::clone(&self.worker),
                    version,
                    token,
                    headers: policy_headers(headers),
                    outbox: Rc::new(Outbox::new(
                        shared.queue_limits(),
                        Rc::clone(&self.worker.wakes),
                        shared.config.memory.clone(),
                        client,
                    )),
                    client,
                    binding_shares: Shares::new(Some(MAX_BINDINGS_PER_SOCKET)),
                });
                let counted = CountedSocket::new(Arc::clone(shared), share);
                UpgradeDecision::Accept {
                    headers: vec![("Sec-WebSocket-Accept", accept)],
                    serve: Box::new(move |stream| start(context, stream, counted)),
                }
            }
        }
    }
}

/// Spawns the socket's task on the current worker thread.
fn start(context: Rc<SocketContext>, stream: UpgradedStream, counted: CountedSocket) {
    rt::spawn(async move {
        session::run(context, stream).await;
        drop(counted);
    });
}

/// Counts a socket against the limit of sockets. A guard, so that the count is also corrected when the task panics or
/// the connection breaks between the decision and the first byte.
struct CountedSocket {
    shared: Arc<Shared>,
    _share: Option<Share>,
}

impl CountedSocket {
    fn new(shared: Arc<Shared>, share: Option<Share>) -> Self {
        shared.sockets.fetch_add(1, Ordering::Relaxed);
        Self {
            shared,
            _share: share,
        }
    }
}

impl Drop for CountedSocket {
    fn drop(&mut self) {
        self.shared.sockets.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The client of a handshake. Where a trusted proxy reports no address, the proxy itself.
fn client_of(shared: &Shared, request: &UpgradeRequest) -> ClientId {
    let peer = request.peer_addr().map(|peer| peer.ip());
    let proxies = shared.config.trusted_proxies;
    // A unix socket has no address, but the proxy behind it may report one.
    let found = find_client_address(
        &request.head().headers,
        peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        proxies,
    );
    let reported = found.ok().filter(|address| !address.is_unspecified());
    ClientId::of_connection(reported.or(peer))
}

/// Answers a request to the WebSocket path that is not an upgrade. Compat: a missing or invalid key is reported first,
/// as upstream does. The gateway has already taken the key from the request and verified it, so its result is used
/// here.
pub(crate) fn refuse_plain_request(request: &HttpRequest) -> HttpResponse {
    let vsn = parameter(request.query_string(), "vsn");
    let refusal = match (
        Version::from_vsn(vsn.as_deref()),
        Caller::extract(request).bearer(),
    ) {
        (None, _) => UpgradeRefusal::UnknownVersion,
        (_, Bearer::None) if Caller::extract(request).api_key().is_none() => UpgradeRefusal::KeyMissing,
        (_, Bearer::Invalid(error)) => UpgradeRefusal::Token(TokenRefusal::from(error)),
        (_, Bearer::None | Bearer::Valid(_)) => UpgradeRefusal::NotAnUpgrade,
    };
    refusal.response()
}

fn check_handshake(shared: &Shared, request: &UpgradeRequest) -> Result<Handshake, UpgradeRefusal> {
    if routed_path(request.uri()) != PATH {
        return Err(UpgradeRefusal::NoSuchPath);
    }
    let query = request.uri().query().unwrap_or_default();
    check_query(shared, &request.head().headers, query)
}

/// Checks version, key and limits. An unknown version is reported before a missing key, and a bad key before a limit.
fn check_query(shared: &Shared, headers: &HeaderMap, query: &str) -> Result<Handshake, UpgradeRefusal> {
    let vsn = parameter(query, "vsn");
    let version = Version::from_vsn(vsn.as_deref()).ok_or(UpgradeRefusal::UnknownVersion)?;
    let key = ["x-api-key", "apikey"].iter().find_map(|name| headers.get(*name));
    let key = match key {
        Some(value) => value.to_str().unwrap_or_default().to_owned(),
        None => parameter(query, "apikey").ok_or(UpgradeRefusal::KeyMissing)?,
    };
    // Compat: whitespace anywhere in the key is removed, as upstream does.
    let key: String = key.chars().filter(|letter| !letter.is_whitespace()).collect();
    let token = shared.verifier.verify(&key).map_err(UpgradeRefusal::Token)?;
    // 503 makes the client retry after the restart, or at another instance.
    if shared.is_shutting_down() {
        return Err(UpgradeRefusal::ShuttingDown);
    }
    // The count is read here and raised later by `CountedSocket`, so simultaneous handshakes on several threads may
    // exceed the limit by a few; the limit protects memory and need not be exact.
    let max_sockets = shared.config.max_sockets;
    if max_sockets > 0 && shared.sockets.load(Ordering::Relaxed) >= max_sockets {
        return Err(UpgradeRefusal::TooManySockets);
    }
    if shared.join_rate.is_exceeded() {
        return Err(UpgradeRefusal::TooManyJoins);
    }
    Ok(Handshake { version, token })
}

/// The first value of a query parameter, percent-decoded.
fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
}

/// The value of `Sec-WebSocket-Accept` (RFC 6455 §4.2.2); `None` when the request is not a handshake of version 13.
fn accept_key(method: &Method, headers: &HeaderMap) -> Option<String> {
    let is_upgrade = headers
        .get(header::CONNECTION)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|options| {
            options
                .split(',')
                .any(|option| option.trim().eq_ignore_ascii_case("upgrade"))
        });
    let is_version_13 = headers
        .get(header::SEC_WEBSOCKET_VERSION)
        .is_some_and(|version| version.as_bytes() == b"13");
    let key = headers.get(header::SEC_WEBSOCKET_KEY)?;
    (method == Method::GET && is_upgrade && is_version_13).then(|| derive_accept_key(key.as_bytes()))
}

/// The headers that policies see in `request.headers`, as a JSON object: those of the handshake whose names begin with
/// `x-`.
fn policy_headers(headers: &HeaderMap) -> Arc<str> {
    let shown: Map<String, Value> = headers
        .iter()
        .filter(|(name, _)| name.as_str().starts_with("x-"))
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.into())))
        .collect();
    Value::Object(shown).to_string().into()
}
