//! How many connections each address has open, where that has a limit.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts the connections of a listener by address, for all workers.
#[derive(Debug, Clone)]
pub(crate) struct Visitors {
    most: Option<usize>,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One connection; it is counted as long as this value lives.
#[derive(Debug)]
pub(crate) struct Visit {
    address: IpAddr,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// An address has as many connections as it may have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl Visitors {
    /// At most so many connections of one address; any number if `None`.
    pub(crate) fn new(most: Option<usize>) -> Self {
        Self {
            most,
            open: Arc::default(),
        }
    }

    /// Counts a connection. Nothing is counted without a limit, nor for sockets in the file system.
    pub(crate) fn enter(&self, peer: Option<SocketAddr>) -> Result<Option<Visit>, TooMany> {
        let (Some(most), Some(peer)) = (self.most, peer) else {
            return Ok(None);
        };
        let address = household(peer.ip());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(address).or_default();
        if *count >= most {
            return Err(TooMany);
        }
        *count += 1;
        Ok(Some(Visit {
            address,
            open: Arc::clone(&self.open),
        }))
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

/// Whoever has one address of IPv6 has the 2^64 around it.
fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(address: &str) -> Option<SocketAddr> {
        Some(address.parse().unwrap())
    }

    #[test]
    fn gw_049_an_address_has_no_more_connections_than_it_may() {
        let visitors = Visitors::new(Some(2));

        let first = visitors.enter(from("10.0.0.1:1")).unwrap();
        let _second = visitors.enter(from("10.0.0.1:2")).unwrap();
        assert!(visitors.enter(from("10.0.0.1:3")).is_err());
        assert!(visitors.enter(from("[::ffff:10.0.0.1]:3")).is_err());
        assert!(visitors.enter(from("10.0.0.2:1")).is_ok());
        drop(first);
        assert!(visitors.enter(from("10.0.0.1:3")).is_ok());
        assert_eq!(visitors.open.lock().unwrap().len(), 1, "who left is forgotten");
    }

    #[test]
    fn gw_049_neighbours_in_ipv6_are_one() {
        let visitors = Visitors::new(Some(1));

        let _visit = visitors.enter(from("[2001:db8::1]:1")).unwrap();
        assert!(visitors.enter(from("[2001:db8::2]:1")).is_err());
        assert!(visitors.enter(from("[2001:db8:0:1::1]:1")).is_ok());
    }

    #[test]
    fn without_a_limit_nobody_is_counted() {
        let visitors = Visitors::new(None);

        assert!(visitors.enter(from("10.0.0.1:1")).unwrap().is_none());
        assert!(visitors.open.lock().unwrap().is_empty());
    }
}
