//! The networks that a client's address belongs to. Whoever has an IPv6 address usually has 2^64 of them, and a customer of a
//! provider often a /48, so that limits by address alone would not limit anybody.

use std::net::IpAddr;

/// The networks of a client that limits count by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientNetworks {
    /// The address, of IPv6 the /64, which a client usually controls as a whole.
    narrow: String,
    /// The /48 of an IPv6 client.
    wide: Option<String>,
}

impl ClientNetworks {
    pub(crate) fn of(ip: IpAddr) -> Self {
        let narrow = |ip: String| Self {
            narrow: ip,
            wide: None,
        };
        match ip {
            IpAddr::V4(ip) => narrow(ip.to_string()),
            IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
                Some(ip) => narrow(ip.to_string()),
                None => Self {
                    narrow: format!("{:x?}", &ip.segments()[..4]),
                    wide: Some(format!("{:x?}", &ip.segments()[..3])),
                },
            },
        }
    }

    /// The narrower of the networks, which stands for the client itself.
    pub(crate) fn narrow(&self) -> &str {
        &self.narrow
    }

    /// The /48 of an IPv6 client.
    pub(crate) fn wide(&self) -> Option<&str> {
        self.wide.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ip: &str) -> ClientNetworks {
        ClientNetworks::of(ip.parse().expect("an address"))
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_a_rate_limit() {
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("2001:db8:1:2::1").wide(), of("2001:db8:1:3::1").wide());
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
