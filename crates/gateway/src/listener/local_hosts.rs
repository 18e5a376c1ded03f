//! Host names that lead to this machine only.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Top-level names that no public server can have: they are reserved, or looked up on this machine and its network.
const RESERVED: [&str; 3] = ["localhost", "internal", "test"];

/// The host names to which a server on this machine answers.
///
/// A page on the internet can make the visitor's browser call this machine: its name first leads to its own server and
/// then to 127.0.0.1 (DNS rebinding). For the browser both are one origin, so the page could read every response. The
/// Host header still carries the page's name, which gives it away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalHosts {
    /// Further names, in lower case.
    extra_names: Vec<String>,
}

impl LocalHosts {
    /// Local names and `extra_names`, which are names without a port.
    pub fn new(extra_names: impl IntoIterator<Item = String>) -> Self {
        Self {
            extra_names: extra_names
                .into_iter()
                .map(|name| name.to_ascii_lowercase())
                .collect(),
        }
    }

    /// Whether a request with this Host header is served: for an address, for a name without a dot or with a reserved
    /// ending, and for the names that were added.
    pub(crate) fn is_allowed(&self, host: &str) -> bool {
        let host = host.trim();
        if let Some(address) = host.strip_prefix('[') {
            let address = address.split(']').next().unwrap_or_default();
            return address.parse::<Ipv6Addr>().is_ok();
        }
        let name = host.split(':').next().unwrap_or_default();
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        match name.rsplit_once('.') {
            None => true,
            Some((_, last)) => {
                RESERVED.contains(&last)
                    || name.parse::<Ipv4Addr>().is_ok()
                    || self.extra_names.contains(&name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_049_only_names_of_this_machine_are_local() {
        let hosts = LocalHosts::new(["Demo.ngrok.app".to_owned()]);
        for local in [
            "localhost",
            "LOCALHOST:54321",
            "localhost.",
            "app.localhost:54321",
            "127.0.0.1:54321",
            "[::1]:54321",
            "kong",
            "host.docker.internal:54321",
            "shop.test",
            "demo.ngrok.app",
            "",
        ] {
            assert!(hosts.is_allowed(local), "{local}");
        }
        for foreign in [
            "evil.example",
            "evil.example:54321",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil.example.",
            "demo.ngrok.app.evil.example",
            "[evil.example]",
        ] {
            assert!(!hosts.is_allowed(foreign), "{foreign}");
        }
    }
}
