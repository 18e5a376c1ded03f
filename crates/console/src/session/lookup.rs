//! Finds the session of a request.

use std::net::{IpAddr, SocketAddr};

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;
use actix_web::http::header::HeaderMap;
use selvedge_gateway::RequestId;

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
    let address = client_address(request.headers(), request.peer_addr(), config.trusted_proxies);
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
pub(super) fn anonymous(state: &ConsoleState, request: &HttpRequest) -> Session {
    let proxies = state.config.trusted_proxies;
    Session {
        account: None,
        level: Level::Viewer,
        request_id: RequestId::from_headers(request.headers()).as_str().into(),
        address: client_address(request.headers(), request.peer_addr(), proxies).into(),
        digest: None,
    }
}

/// The client's address: the peer's, or the one that the outermost trusted proxy has written.
fn client_address(headers: &HeaderMap, peer: Option<SocketAddr>, trusted_proxies: usize) -> String {
    let forwarded = || {
        let list = headers.get("x-forwarded-for")?.to_str().ok()?;
        let address = list.rsplit(',').nth(trusted_proxies.checked_sub(1)?)?;
        address.trim().parse::<IpAddr>().ok()
    };
    let address = forwarded().or_else(|| peer.map(|peer| peer.ip()));
    address.map_or_else(|| "127.0.0.1".to_owned(), |address| address.to_string())
}
