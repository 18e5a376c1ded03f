//! Who a client is to a limit.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};

/// A client as limits count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClientId {
    /// All connections of one network, see [`network_of`].
    Network(IpAddr),
    /// One connection whose address is not known, as that of a unix socket.
    Connection(u64),
}

impl ClientId {
    /// The client of a connection. Without an address every call returns another client.
    pub fn of_connection(address: Option<IpAddr>) -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

        match address {
            Some(address) => Self::Network(network_of(address)),
            None => Self::Connection(CONNECTIONS.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

/// The address itself, or the /64 network of an IPv6 address, because one IPv6 client usually has all of a /64.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_049_clients_are_counted_by_address_or_ipv6_network() {
        let client = |address: &str| ClientId::of_connection(Some(address.parse().expect("an address")));

        assert_eq!(client("10.0.0.1"), client("::ffff:10.0.0.1"));
        assert_ne!(client("10.0.0.1"), client("10.0.0.2"));
        assert_eq!(client("2001:db8::1"), client("2001:db8::2"));
        assert_ne!(client("2001:db8::1"), client("2001:db8:0:1::1"));
        assert_ne!(ClientId::of_connection(None), ClientId::of_connection(None));
    }
}
