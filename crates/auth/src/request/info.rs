//! What a request says about itself, whoever sends it: address, audience, where to go afterwards.

use std::future::{Ready, ready};
use std::net::IpAddr;

use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderName};
use actix_web::{FromRequest, HttpRequest, web};
use selvedge_gateway::{Bearer, Caller};
use serde_json::Value;
use url::Url;

use crate::config::ClientAddress;
use crate::error::AuthError;
use crate::limits::Limited;
use crate::state::AuthState;

/// Longest `User-Agent` that a session remembers.
const LONGEST_USER_AGENT: usize = 1024;

/// The circumstances of a request. An extractor that cannot fail.
#[derive(Debug, Clone)]
pub(crate) struct RequestInfo {
    pub(crate) ip: String,
    pub(crate) user_agent: String,
    /// The audience of users that the request is about.
    pub(crate) audience: String,
    /// Where the browser is to go in the end: allowed by the project, in any case.
    pub(crate) redirect_to: String,
    /// This service's own address, as the client knows it.
    pub(crate) external_url: String,
    /// Whether an administrator's token came along: such requests need no captcha.
    pub(crate) is_admin: bool,
    /// What rate limits count by.
    client: Option<String>,
}

impl RequestInfo {
    /// Reads the circumstances.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let state = request
            .app_data::<web::Data<AuthState>>()
            .expect("routes are mounted with their state");
        let caller = Caller::of(request);
        let text = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
        let user_agent = text(header::USER_AGENT).unwrap_or_default();
        let forwarded = forwarded_for(request, state);
        let ip = forwarded.unwrap_or_else(|| caller.remote_ip());
        Self {
            ip: ip.to_string(),
            user_agent: user_agent.chars().take(LONGEST_USER_AGENT).collect(),
            audience: audience(request, &caller, state),
            redirect_to: redirect_to(request, state),
            external_url: external_url(request, state),
            is_admin: is_admin(&caller, state),
            client: match forwarded {
                Some(ip) => Some(network(ip)),
                None => client(request, &caller, &state.config.rate_limits.client),
            },
        }
    }

    /// Counts the request against a limit.
    pub(crate) fn limit(&self, state: &AuthState, what: Limited) -> Result<(), AuthError> {
        state.limits.check(what, self.client.as_deref())
    }
}

impl FromRequest for RequestInfo {
    type Error = AuthError;
    type Future = Ready<Result<Self, AuthError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self::of(request)))
    }
}

/// The client's address in the words of a trusted proxy; a value that is none is as good as missing.
fn forwarded_for(request: &HttpRequest, state: &AuthState) -> Option<IpAddr> {
    if !state.config.sb_forwarded_for {
        return None;
    }
    let value = request.headers().get("sb-forwarded-for")?.to_str().ok()?;
    value.split(',').next()?.trim().parse().ok()
}

/// Where the client reaches this service: under one of the configured further names, or where we always are.
fn external_url(request: &HttpRequest, state: &AuthState) -> String {
    let configured = &state.config.external_url;
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let known = header("x-forwarded-host")
        .filter(|host| state.config.external_hosts.iter().any(|known| known == host));
    match (known, Url::parse(configured)) {
        (Some(host), Ok(url)) => {
            // Only a machine on its own does without encryption.
            let is_plain = host == "localhost" && header("x-forwarded-proto") == Some("http");
            let scheme = if is_plain { "http" } else { "https" };
            format!("{scheme}://{host}{}", url.path().trim_end_matches('/'))
        }
        _ => configured.clone(),
    }
}

fn is_admin(caller: &Caller, state: &AuthState) -> bool {
    let Bearer::Valid(claims) = caller.bearer() else {
        return false;
    };
    let role = claims.role().unwrap_or_default();
    state.config.admin_roles.iter().any(|admin| admin == role)
}

fn audience(request: &HttpRequest, caller: &Caller, state: &AuthState) -> String {
    let header = request
        .headers()
        .get("x-jwt-aud")
        .and_then(|value| value.to_str().ok());
    let claim = match caller.bearer() {
        Bearer::Valid(claims) if !is_admin(caller, state) => claims.get("aud").and_then(Value::as_str),
        _ => None,
    };
    let asked = header.or(claim).filter(|audience| !audience.is_empty());
    asked.unwrap_or(&state.config.jwt_audience).to_owned()
}

/// Header, then query, then the page the request came from; the first that is allowed wins.
fn redirect_to(request: &HttpRequest, state: &AuthState) -> String {
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

fn client(request: &HttpRequest, caller: &Caller, config: &ClientAddress) -> Option<String> {
    match config {
        ClientAddress::Unlimited => None,
        ClientAddress::Peer => Some(network(caller.remote_ip())),
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

/// One subscriber: an IPv4 address, or the /64 in which an IPv6 host picks addresses as it likes.
fn network(ip: IpAddr) -> String {
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
    fn addresses_of_one_ipv6_network_are_one_client() {
        let client = |text: &str| network(text.parse().expect("an address"));

        assert_eq!(client("2001:db8:1:2::1"), client("2001:db8:1:2:ffff::9"));
        assert_ne!(client("2001:db8:1:2::1"), client("2001:db8:1:3::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
    }
}
