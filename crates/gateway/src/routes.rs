//! Which service a path belongs to, and whether it is open without an API key.

/// A service behind a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    Rest,
    Auth,
    Storage,
    Realtime,
    Functions,
    GraphQl,
    /// Postgres-meta: for `service_role` only.
    Meta,
    /// Paths outside of the services: the site, health, metrics.
    Other,
}

/// Names of the services in metrics and logs, in the order of [`Service`].
pub(crate) const NAMES: [&str; 8] = [
    "rest",
    "auth",
    "storage",
    "realtime",
    "functions",
    "graphql",
    "meta",
    "other",
];

const PREFIXES: [(&str, Service); 7] = [
    ("/rest/v1", Service::Rest),
    ("/auth/v1", Service::Auth),
    ("/storage/v1", Service::Storage),
    ("/realtime/v1", Service::Realtime),
    ("/functions/v1", Service::Functions),
    ("/graphql/v1", Service::GraphQl),
    ("/pg", Service::Meta),
];

/// Paths that browsers and third parties request without a key: links in mails, redirects, public keys, and the OAuth
/// server, whose clients are applications of others.
const KEYLESS_PATHS: [&str; 12] = [
    "/auth/v1/verify",
    "/auth/v1/callback",
    "/auth/v1/authorize",
    "/auth/v1/.well-known/jwks.json",
    "/auth/v1/.well-known/openid-configuration",
    "/auth/v1/.well-known/oauth-authorization-server",
    "/auth/v1/oauth/authorize",
    "/auth/v1/oauth/clients/register",
    "/auth/v1/oauth/token",
    "/auth/v1/oauth/userinfo",
    "/auth/v1/sso/saml/acs",
    "/auth/v1/sso/saml/metadata",
];

impl Service {
    /// The service of a path in the form that the router matches, see [`crate::routed_path`]; otherwise an encoded letter
    /// (`/%72est/v1`) would evade the check for keys.
    pub fn from_path(path: &str) -> Self {
        PREFIXES
            .iter()
            .find(|(prefix, _)| {
                path.strip_prefix(prefix)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
            .map_or(Self::Other, |(_, service)| *service)
    }

    /// The service's name in metrics, logs and traces.
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// Whether a request needs an API key where keys are required. Source: gateway contract §1.
    ///
    /// Storage and functions have public routes and check keys themselves.
    pub(crate) fn needs_key(self, path: &str) -> bool {
        match self {
            Self::Rest | Self::Auth | Self::Realtime | Self::GraphQl | Self::Meta => {
                !KEYLESS_PATHS.contains(&path.strip_suffix('/').unwrap_or(path))
            }
            Self::Storage | Self::Functions | Self::Other => false,
        }
    }

    /// Whether bodies stream, so that a request lasts as long as its client takes to send or read them.
    pub(crate) fn streams(self) -> bool {
        matches!(self, Self::Storage | Self::Functions)
    }

    /// Whether the gateway's time limit applies. Not to services whose bodies stream.
    pub(crate) fn has_time_limit(self) -> bool {
        matches!(self, Self::Rest | Self::Auth | Self::GraphQl | Self::Meta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_001_prefixes_end_at_a_slash() {
        let cases = [
            ("/rest/v1", Service::Rest),
            ("/rest/v1/", Service::Rest),
            ("/rest/v1/items", Service::Rest),
            ("/rest/v12", Service::Other),
            ("/rest", Service::Other),
            ("/pg/tables", Service::Meta),
            ("/pgx", Service::Other),
            ("/", Service::Other),
        ];
        for (path, service) in cases {
            assert_eq!(Service::from_path(path), service, "{path}");
        }
    }

    #[test]
    fn gw_006_only_the_listed_routes_are_open() {
        let cases = [
            ("/auth/v1/verify", false),
            ("/auth/v1/verify/", false),
            ("/auth/v1/verify/x", true),
            ("/auth/v1/user", true),
            ("/rest/v1/", true),
            ("/storage/v1/object/public/a/b", false),
            ("/functions/v1/hello", false),
            ("/realtime/v1/websocket", true),
            ("/pg/tables", true),
            ("/", false),
        ];
        for (path, needs_key) in cases {
            assert_eq!(Service::from_path(path).needs_key(path), needs_key, "{path}");
        }
    }
}
