//! Finds the session of a request.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;
use actix_web::http::header::HeaderMap;
use selvedge_gateway::{RequestId, find_client_address};

use super::caller::Session;
use super::cookie;
use super::secret::digest;
use crate::error::ConsoleError;
use crate::state::{ConsoleState, Level};

/// Finds the session of a request by its cookie and the value of the console's header. Without that value (a download with a
/// ticket) the cookie alone is used.
///
/// # Errors 401 without a valid session; 503 when the database does not respond.
pub(crate) async fn find(
    state: &ConsoleState,
    request: &ServiceRequest,
    header_secret: Option<&str>,
    id: &RequestId,
) -> Result<Session, ConsoleError> {
    let config = &state.config;
    // The setting wins over every account, so that a console can be made harmless without touching accounts.
    let cap = if config.read_only {
        Level::Viewer
    } else {
        Level::Admin
    };
    let address = read_client_address(request.headers(), request.peer_addr(), config.trusted_proxies)?;
    if !config.login {
        return Ok(Session {
            account: None,
            level: cap,
            request_id: id.as_str().into(),
            address: address.into(),
            digest: None,
        });
    }
    let cookie_secret =
        cookie::read(request.headers(), config.secure_cookies).ok_or_else(ConsoleError::unauthenticated)?;
    let digest = digest(cookie_secret);
    let (account, level) = state
        .sessions
        .find(&state.database, digest, header_secret)
        .await?
        .ok_or_else(ConsoleError::unauthenticated)?;
    Ok(Session {
        account: Some(account),
        level: level.min(cap),
        request_id: id.as_str().into(),
        address: address.into(),
        digest: Some(digest),
    })
}

/// Returns a session for the audit entries of failed sign-ins. It has the lowest level and is never passed to an endpoint.
pub(super) fn anonymous(state: &ConsoleState, request: &HttpRequest) -> Result<Session, ConsoleError> {
    let proxies = state.config.trusted_proxies;
    let address = read_client_address(request.headers(), request.peer_addr(), proxies)?;
    Ok(Session {
        account: None,
        level: Level::Viewer,
        request_id: RequestId::from_headers(request.headers()).as_str().into(),
        address: address.into(),
        digest: None,
    })
}

/// The client's address: the peer's, or the one that the outermost trusted proxy has written.
///
/// # Errors
/// A bad request when the proxy has written something that is no address.
fn read_client_address(
    headers: &HeaderMap,
    peer: Option<SocketAddr>,
    trusted_proxies: usize,
) -> Result<String, ConsoleError> {
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.ip());
    let address = find_client_address(headers, peer, trusted_proxies);
    let address = address.map_err(|error| {
        tracing::warn!(entry = error.entry, proxy = %peer, "X-Forwarded-For of a trusted proxy has no address");
        ConsoleError::invalid(error.to_string())
    })?;
    Ok(address.to_string())
}
