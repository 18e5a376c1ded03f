//! Limits the open connections of each client address.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use super::network::network_of;

/// Counts the connections of a listener by address, for all workers.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionLimit {
    most: Option<usize>,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One counted connection; the count falls when this value is dropped.
#[derive(Debug)]
pub(crate) struct OpenConnection {
    address: IpAddr,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// The address has reached its limit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooManyConnections;

impl ConnectionLimit {
    /// `most` is the limit per address; `None` for no limit.
    pub(crate) fn new(most: Option<usize>) -> Self {
        Self {
            most,
            open: Arc::default(),
        }
    }

    /// Counts a connection. Returns `None` without a limit and for unix sockets, which have no address.
    pub(crate) fn count_connection(
        &self,
        peer: Option<SocketAddr>,
    ) -> Result<Option<OpenConnection>, TooManyConnections> {
        let (Some(most), Some(peer)) = (self.most, peer) else {
            return Ok(None);
        };
        let address = network_of(peer.ip());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(address).or_default();
        if *count >= most {
            return Err(TooManyConnections);
        }
        *count += 1;
        Ok(Some(OpenConnection {
            address,
            open: Arc::clone(&self.open),
        }))
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            // Removed at zero, so that the map does not grow with every address ever seen.
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(address: &str) -> Option<SocketAddr> {
        Some(address.parse().unwrap())
    }

    #[test]
    fn gw_049_refuses_connections_over_the_limit_of_an_address() {
        let connection_limit = ConnectionLimit::new(Some(2));

        let first = connection_limit.count_connection(from("10.0.0.1:1")).unwrap();
        let _second = connection_limit.count_connection(from("10.0.0.1:2")).unwrap();
        assert!(connection_limit.count_connection(from("10.0.0.1:3")).is_err());
        assert!(
            connection_limit
                .count_connection(from("[::ffff:10.0.0.1]:3"))
                .is_err()
        );
        assert!(connection_limit.count_connection(from("10.0.0.2:1")).is_ok());
        drop(first);
        assert!(connection_limit.count_connection(from("10.0.0.1:3")).is_ok());
        assert_eq!(
            connection_limit.open.lock().unwrap().len(),
            1,
            "closed connections are forgotten"
        );
    }

    #[test]
    fn gw_049_counts_ipv6_clients_by_their_64_bit_network() {
        let connection_limit = ConnectionLimit::new(Some(1));

        let _connection = connection_limit
            .count_connection(from("[2001:db8::1]:1"))
            .unwrap();
        assert!(
            connection_limit
                .count_connection(from("[2001:db8::2]:1"))
                .is_err()
        );
        assert!(
            connection_limit
                .count_connection(from("[2001:db8:0:1::1]:1"))
                .is_ok()
        );
    }

    #[test]
    fn without_a_limit_no_connection_is_counted() {
        let connection_limit = ConnectionLimit::new(None);

        assert!(
            connection_limit
                .count_connection(from("10.0.0.1:1"))
                .unwrap()
                .is_none()
        );
        assert!(connection_limit.open.lock().unwrap().is_empty());
    }
}
