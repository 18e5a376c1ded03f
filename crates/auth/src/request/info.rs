//! Facts from the headers and the URL of a request: client address, audience, redirect target and base URL for links.
//! Source: Auth contract §1.2, §3.1, §3.7.

use std::net::IpAddr;

use actix_web::http::header::{self, HeaderName};
use actix_web::{HttpRequest, web};
use selvedge_gateway::{Bearer, Caller};
use selvedge_token::unix_now;
use serde_json::Value;
use url::Url;

use crate::config::ClientAddress;
use crate::state::AuthState;

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
    /// The key that rate limits count by; `None` is never limited.
    limit_key: Option<String>,
}

impl RequestInfo {
    /// Reads headers and URL.
    pub(crate) fn from_request(request: &HttpRequest) -> Self {
        let state = request
            .app_data::<web::Data<AuthState>>()
            .expect("routes are mounted with their state");
        let caller = Caller::extract(request);
        let text = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
        let user_agent = text(header::USER_AGENT).unwrap_or_default();
        let forwarded = read_forwarded_ip(request, state);
        let ip = forwarded.unwrap_or_else(|| caller.remote_ip());
        Self {
            ip: ip.to_string(),
            user_agent: user_agent.chars().take(LONGEST_USER_AGENT).collect(),
            audience: choose_audience(request, &caller, state),
            redirect_to: choose_redirect(request, state),
            external_url: choose_external_url(request, state),
            is_admin: is_admin(&caller, state),
            limit_key: match forwarded {
                // A trusted proxy has named the client, so its address counts instead of the proxy's.
                Some(ip) => Some(group_address(ip)),
                None => choose_limit_key(request, &caller, &state.config.rate_limits.client),
            },
        }
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
            limit_key: None,
        }
    }

    /// The client that rate limits count by; `None` is never limited.
    pub(crate) fn limit_key(&self) -> Option<&str> {
        self.limit_key.as_deref()
    }
}

/// The client address in `sb-forwarded-for`, where a trusted proxy sets it. An invalid value counts as missing.
fn read_forwarded_ip(request: &HttpRequest, state: &AuthState) -> Option<IpAddr> {
    if !state.config.sb_forwarded_for {
        return None;
    }
    let value = request.headers().get("sb-forwarded-for")?.to_str().ok()?;
    value.split(',').next()?.trim().parse().ok()
}

/// The base URL for links: the forwarded host if it is one of the configured hosts, the configured URL otherwise.
fn choose_external_url(request: &HttpRequest, state: &AuthState) -> String {
    let configured = &state.config.external_url;
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let known = header("x-forwarded-host")
        .filter(|host| state.config.external_hosts.iter().any(|known| known == host));
    match (known, Url::parse(configured)) {
        (Some(host), Ok(url)) => {
            // Plain http is accepted for localhost only; links to any other host use https.
            let is_plain = host == "localhost" && header("x-forwarded-proto") == Some("http");
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
/// administrator, else the configured one.
fn choose_audience(request: &HttpRequest, caller: &Caller, state: &AuthState) -> String {
    let header = request
        .headers()
        .get("x-jwt-aud")
        .and_then(|value| value.to_str().ok());
    let claim = match caller.bearer() {
        Bearer::Valid(claims) if !is_admin(caller, state) => claims.get("aud").and_then(Value::as_str),
        _ => None,
    };
    // An empty header or claim means the configured audience.
    let requested = header.or(claim).filter(|audience| !audience.is_empty());
    requested.unwrap_or(&state.config.jwt_audience).to_owned()
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

/// The key of the request in the rate limits. Compat: with a configured header, requests without it are not limited,
/// as with upstream.
fn choose_limit_key(request: &HttpRequest, caller: &Caller, config: &ClientAddress) -> Option<String> {
    match config {
        ClientAddress::Unlimited => None,
        ClientAddress::Peer => Some(group_address(caller.remote_ip())),
        ClientAddress::Header(name) => {
            let value = request.headers().get(name)?.to_str().ok()?;
            value
                .split(',')
                .next()
                .map(|first| first.trim().to_owned())
                .filter(|first| !first.is_empty())
        }
    }
}

/// The network that counts as one client. An IPv6 client usually controls a whole /64, so the limit counts /64
/// networks.
fn group_address(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => ip.to_string(),
            None => format!("{:x?}", &ip.segments()[..4]),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_ipv6_network_share_a_rate_limit() {
        let group = |text: &str| group_address(text.parse().expect("an address"));

        assert_eq!(group("2001:db8:1:2::1"), group("2001:db8:1:2:ffff::9"));
        assert_ne!(group("2001:db8:1:2::1"), group("2001:db8:1:3::1"));
        assert_eq!(group("::ffff:192.0.2.1"), group("192.0.2.1"));
    }
}
