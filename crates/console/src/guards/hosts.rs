//! The hosts to which the console answers (CONSOLE-010).

use actix_web::dev::ServiceRequest;
use actix_web::http::header;
use url::Url;

/// The authorities (`host:port`) to which the console answers, and the origins that its pages have.
///
/// A page on the internet can make its own name lead to 127.0.0.1 (DNS rebinding); for the browser it then has the same
/// origin as this server. The Host header still carries the page's name, and the port keeps other servers of this machine
/// apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHosts {
    authorities: Vec<String>,
    origins: Vec<String>,
}

impl AllowedHosts {
    /// This machine's own names with `port`, and the host of `public_url` where there is one.
    pub fn new(port: u16, public_url: Option<&Url>) -> Self {
        let mut authorities: Vec<String> = ["127.0.0.1", "localhost", "[::1]"]
            .map(|host| format!("{host}:{port}"))
            .into();
        let mut origins: Vec<String> = authorities.iter().map(|host| format!("http://{host}")).collect();
        if let Some(url) = public_url {
            let origin = url.origin().ascii_serialization();
            if let Some((_, authority)) = origin.split_once("://") {
                authorities.push(authority.to_owned());
            }
            origins.push(origin);
        }
        Self { authorities, origins }
    }

    /// Whether a request names one of the hosts, once in its Host header and nowhere another one.
    pub(super) fn allows(&self, request: &ServiceRequest) -> bool {
        let mut hosts = request.headers().get_all(header::HOST);
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return false;
        };
        // An absolute request target (`GET http://…`) takes precedence over the header `Host`, so both must name this
        // console.
        let in_target = request.uri().authority();
        let is_known = |host: &str| {
            self.authorities
                .iter()
                .any(|known| host.eq_ignore_ascii_case(known))
        };
        host.to_str().is_ok_and(is_known) && in_target.is_none_or(|authority| is_known(authority.as_str()))
    }

    /// Whether a page of this origin is the console's own.
    pub(super) fn is_own_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|own| own == origin)
    }
}
