//! Where clients reach the service: the document's `schemes`, `host` and `basePath`.

/// Where clients reach the service.
pub(super) struct Address {
    pub(super) scheme: String,
    pub(super) host: String,
    pub(super) path: String,
}

impl Address {
    /// From `openapi-server-proxy-uri` if that is set, else from the client's `Host` header and the service's prefix.
    pub(super) fn new(proxy: Option<&str>, host: &str, prefix: &str) -> Self {
        let own = || Self {
            scheme: "http".to_owned(),
            host: host.to_owned(),
            path: if prefix.is_empty() {
                "/".to_owned()
            } else {
                prefix.to_owned()
            },
        };
        let Some((scheme, rest)) = proxy.and_then(|uri| uri.split_once("://")) else {
            return own();
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let port = if host.contains(':') {
            ""
        } else if scheme == "https" {
            ":443"
        } else {
            ":80"
        };
        Self {
            scheme: scheme.to_ascii_lowercase(),
            host: format!("{host}{port}"),
            path: if path.is_empty() {
                "/".to_owned()
            } else {
                path.to_owned()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_118_a_proxy_uri_gives_scheme_host_and_path() {
        let address = Address::new(Some("https://api.example.com/rest"), "x", "/rest/v1");

        assert_eq!(
            (
                address.scheme.as_str(),
                address.host.as_str(),
                address.path.as_str()
            ),
            ("https", "api.example.com:443", "/rest")
        );
    }
}
