//! Which URLs of providers this server calls. Administrators and discovery documents supply them, so each is checked
//! before it is used.

use crate::http_client::is_private;

/// Whether a URL may be called: https, or plain http where `insecure_providers` is set (development and tests).
pub(crate) fn is_callable(url: &str, insecure: bool) -> bool {
    let Ok(url) = url::Url::parse(url) else {
        return false;
    };
    match url.scheme() {
        "https" => url.host_str().is_some(),
        "http" => insecure && url.host_str().is_some(),
        _ => false,
    }
}

/// Whether a URL names this machine or a private network, as a literal address or as `localhost`; text that is no URL
/// counts as internal.
///
/// A provider that an administrator adds must not be internal, or the server could be made to call what only it can
/// reach (server-side request forgery). What names lead to is checked where the connection is made
/// ([`crate::http_client`]).
pub(crate) fn is_internal(url: &str) -> bool {
    let Ok(url) = url::Url::parse(url) else {
        return true;
    };
    match url.host() {
        None => true,
        Some(url::Host::Domain(name)) => {
            // `localhost.` is the same name in its fully qualified form.
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(url::Host::Ipv4(ip)) => is_private(ip.into()),
        Some(url::Host::Ipv6(ip)) => is_private(ip.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_private_and_unparsable_urls_are_internal() {
        for url in [
            "http://localhost/",
            "https://api.localhost./x",
            "https://127.0.0.1/",
            "https://10.1.2.3",
            "https://169.254.169.254/latest",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00::1]/",
            "not a url",
        ] {
            assert!(is_internal(url), "{url}");
        }
        for url in [
            "https://id.example/",
            "https://93.184.215.14/",
            "https://localhost.example/",
        ] {
            assert!(!is_internal(url), "{url}");
        }
    }
}
