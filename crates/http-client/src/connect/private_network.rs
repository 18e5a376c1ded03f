//! Addresses that only this machine or its network can reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is this machine's, one of a private network, or one that no server on the internet has. Link-local
/// addresses include 169.254.169.254, where cloud machines can fetch credentials.
#[must_use]
pub fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation()
        // 192.0.0.0/24 is reserved for protocols (RFC 6890), 198.18.0.0/15 for benchmarks (RFC 2544), 240.0.0.0/4 for future
        // use: no server on the internet has such an address.
        || (first, second, third) == (192, 0, 0)
        || (first == 198 && (18..20).contains(&second))
        || first >= 240
        // 0.0.0.0/8 is this machine, and 100.64.0.0/10 the network of a provider behind its translation (RFC 6598).
        || first == 0
        || (first == 100 && (64..128).contains(&second))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    // 64:ff9b::/96 leads to the IPv4 address in its last four bytes (RFC 6052).
    if let [0x64, 0xff9b, 0, 0, 0, 0, high, low] = address.segments() {
        return is_private_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    }
    // 2002::/16 leads to the IPv4 address in its next four bytes (RFC 3056).
    if let [0x2002, high, low, ..] = address.segments() {
        return is_private_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    }
    // Addresses for documentation (RFC 3849), and Teredo, which hides an IPv4 address (RFC 4380).
    if matches!(address.segments(), [0x2001, 0xdb8 | 0, ..]) {
        return true;
    }
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_of_private_networks_are_private() {
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "::1",
            "::",
            "::ffff:10.0.0.1",
            "fd00::1",
            "fe80::1",
            "64:ff9b::a00:1",
            "2002:a00:1::1",
            "2001:db8::1",
            "2001::1",
            "192.0.2.1",
            "198.51.100.1",
            "203.0.113.1",
            "192.0.0.8",
            "198.19.0.1",
            "240.0.0.1",
            "255.255.255.255",
        ] {
            assert!(is_private(address.parse().expect("an address")), "{address}");
        }
        for address in [
            "93.184.215.14",
            "100.128.0.1",
            "198.20.0.1",
            "2606:4700::1",
            "64:ff9b::808:808",
        ] {
            assert!(!is_private(address.parse().expect("an address")), "{address}");
        }
    }
}
