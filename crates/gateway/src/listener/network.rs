//! The network by which clients are counted.

use std::net::{IpAddr, Ipv6Addr};

/// The address itself, or the /64 network of an IPv6 address, because one IPv6 client usually has all of a /64.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}
