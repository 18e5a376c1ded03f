//! Facts from the headers and the URL of a request: client address, audience, redirect target and base URL for links.
//! Source: Auth contract §1.2, §3.1, §3.7.

use std::net::IpAddr;

use actix_web::http::header::{self, HeaderName};
use actix_web::{HttpRequest, web};
use selvedge_gateway::{Bearer, Caller, read_last_address};
use selvedge_token::unix_now;
use serde_json::Value;
use url::Url;

use super::caller::OTHER_AUDIENCE;
use crate::config::ClientAddress;
use crate::error::AuthError;
use crate::state::AuthState;
use crate::state::client_networks::ClientNetworks;

/// Longest `User-Agent` that a session remembers.
const LONGEST_USER_AGENT: usize = 1024;

/// Client address, audience and redirect target of a request, checked against the configuration.
#[derive(Debug, Clone)]
pub(crate) struct RequestInfo {
    /// The client's address, for sessions, audit entries and hooks.
    pub(crate) ip: String,
    pub(crate) user_agent: String,
    /// The audience whose users the request is about: user look-ups are limited to it.
    pub(crate) audience: String,
    /// Where the browser is sent at the end of a flow; always one of the project's allowed URLs.
    pub(crate) redirect_to: String,
    /// The base URL under which the client reaches this service.
    pub(crate) external_url: String,
    /// Whether the bearer token is an administrator's; such requests need no captcha.
    pub(crate) is_admin: bool,
    /// The networks that rate limits count by; `None` is never limited.
    networks: Option<ClientNetworks>,
}

impl RequestInfo {
    /// Reads headers and URL.
    ///
    /// # Errors
    /// 400 `validation_failed` for an audience that the project does not have.
    pub(crate) fn from_request(request: &HttpRequest) -> Result<Self, AuthError> {
        let state = request
            .app_data::<web::Data<AuthState>>()
            .expect("routes are mounted with their state");
        let caller = Caller::extract(request);
        let text = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
        let user_agent = text(header::USER_AGENT).unwrap_or_default();
        let forwarded = read_forwarded_ip(request, state);
        let ip = forwarded.unwrap_or_else(|| caller.remote_ip());
        Ok(Self {
            ip: ip.to_string(),
            user_agent: user_agent.chars().take(LONGEST_USER_AGENT).collect(),
            audience: choose_audience(request, &caller, state)?,
            redirect_to: choose_redirect(request, state),
            external_url: choose_external_url(request, &caller, state),
            is_admin: is_admin(&caller, state),
            networks: match forwarded {
                // A trusted proxy has named the client, so its address counts instead of the proxy's.
                Some(ip) => Some(ClientNetworks::of(ip)),
                None => choose_networks(request, &caller, &state.config.rate_limits.client),
            },
        })
    }

    /// The facts of work that no client has asked for by HTTP.
    pub(crate) fn without_client(state: &AuthState) -> Self {
        Self {
            ip: String::new(),
            user_agent: String::new(),
            audience: String::new(),
            redirect_to: state.config.site_url.clone(),
            external_url: state.config.external_url.clone(),
            is_admin: true,
            networks: None,
        }
    }

    /// The network that attempts at a code count by: the /48 of an IPv6 client, because its customer has all of it.
    pub(crate) fn attempt_network(&self) -> &str {
        let networks = self.networks.as_ref();
        networks.map_or(&self.ip, |networks| {
            networks.wide().unwrap_or_else(|| networks.narrow())
        })
    }

    /// The network that asks for a code to be sent; `None` for an administrator, who asks for somebody else.
    pub(crate) fn asking_network(&self) -> Option<&str> {
        (!self.is_admin).then(|| self.attempt_network())
    }

    /// The networks that rate limits count by; `None` is never limited.
    pub(crate) fn networks(&self) -> Option<&ClientNetworks> {
        self.networks.as_ref()
    }
}

/// The client address in `sb-forwarded-for`, where a trusted proxy sets it. An invalid value counts as missing.
fn read_forwarded_ip(request: &HttpRequest, state: &AuthState) -> Option<IpAddr> {
    if !state.config.sb_forwarded_for {
        return None;
    }
    read_last_address(request.headers(), "sb-forwarded-for")
}

/// The base URL for links: the host that a trusted proxy reports if it is one of the configured hosts, the configured URL
/// otherwise. Without a trusted proxy anybody can write these headers.
fn choose_external_url(request: &HttpRequest, caller: &Caller, state: &AuthState) -> String {
    let configured = &state.config.external_url;
    let known = caller
        .proxy_header(request, "x-forwarded-host")
        .filter(|host| state.config.external_hosts.iter().any(|known| known == host));
    match (known, Url::parse(configured)) {
        (Some(host), Ok(url)) => {
            // Plain http is accepted for localhost only; links to any other host use https.
            let is_plain =
                host == "localhost" && caller.proxy_header(request, "x-forwarded-proto") == Some("http");
            let scheme = if is_plain { "http" } else { "https" };
            format!("{scheme}://{host}{}", url.path().trim_end_matches('/'))
        }
        _ => configured.clone(),
    }
}

/// Whether the bearer token has one of the roles that administer users.
fn is_admin(caller: &Caller, state: &AuthState) -> bool {
    let Bearer::Valid(claims) = caller.bearer() else {
        return false;
    };
    let role = claims.role().unwrap_or_default();
    // The gateway verifies signatures only; an expired key must not switch the captcha off.
    let is_current = claims.check_time(unix_now(), 0).is_ok();
    is_current && state.config.admin_roles.iter().any(|admin| admin == role)
}

/// The audience of the request: header `X-JWT-AUD`, else the `aud` of the caller's token unless they are an
/// administrator, else the configured one. Only audiences of the project count: an unknown one would tell apart addresses that
/// are registered, and would get into tokens that other services read.
///
/// # Errors
/// 400 `validation_failed` for another audience in the header.
fn choose_audience(request: &HttpRequest, caller: &Caller, state: &AuthState) -> Result<String, AuthError> {
    let header = request
        .headers()
        .get("x-jwt-aud")
        .and_then(|value| value.to_str().ok());
    let claim = match caller.bearer() {
        Bearer::Valid(claims) if !is_admin(caller, state) => claims.get("aud").and_then(Value::as_str),
        _ => None,
    };
    // An empty header or claim means the configured audience.
    let header = header.filter(|audience| !audience.is_empty());
    if header.is_some_and(|audience| !state.config.has_audience(audience)) {
        return Err(AuthError::invalid(match claim {
            Some(_) => OTHER_AUDIENCE,
            None => "X-JWT-AUD names an audience that this project does not have",
        }));
    }
    let claim = claim.filter(|audience| state.config.has_audience(audience));
    let requested = header.or(claim).unwrap_or(&state.config.jwt_audience);
    Ok(requested.to_owned())
}

/// The first allowed URL of: header `redirect_to`, query parameter `redirect_to`, header `Referer`.
fn choose_redirect(request: &HttpRequest, state: &AuthState) -> String {
    let header = |name: &str| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
    };
    let in_query = url::form_urlencoded::parse(request.query_string().as_bytes())
        .find(|(name, _)| name == "redirect_to")
        .map(|(_, value)| value.into_owned());
    let candidates = [header("redirect_to"), in_query, header("referer")];
    state
        .redirects
        .choose(candidates.iter().flatten().map(String::as_str))
}

/// The networks that the request counts for in the rate limits; `None` is never limited, which is so in development only.
fn choose_networks(request: &HttpRequest, caller: &Caller, config: &ClientAddress) -> Option<ClientNetworks> {
    let ip = match config {
        ClientAddress::Unlimited => None,
        ClientAddress::Peer => Some(caller.remote_ip()),
        // In production a request that has not come through the proxy must not be free of limits.
        ClientAddress::Header { name, peer_otherwise } => {
            read_last_address(request.headers(), name).or_else(|| peer_otherwise.then(|| caller.remote_ip()))
        }
    };
    ip.map(ClientNetworks::of)
}
