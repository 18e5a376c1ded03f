//! Listeners that the old process has passed on. Each is used where its address would be bound, so that no connection is refused in between.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Mutex, MutexGuard, PoisonError};

static INHERITED: Mutex<Vec<TcpListener>> = Mutex::new(Vec::new());

/// Keeps listeners until their addresses are bound.
pub fn inherit(listeners: Vec<TcpListener>) {
    lock().extend(listeners);
}

/// Closes the listeners whose addresses the configuration does not name any more. Returns their addresses.
pub fn close_unused_ports() -> Vec<SocketAddr> {
    let unused = std::mem::take(&mut *lock());
    unused.iter().filter_map(|port| port.local_addr().ok()).collect()
}

/// Takes the listener at an address.
pub(super) fn take(address: SocketAddr) -> Option<TcpListener> {
    let mut inherited = lock();
    let is_wanted = |port: &TcpListener| port.local_addr().is_ok_and(|own| own == address);
    let index = inherited.iter().position(is_wanted)?;
    Some(inherited.swap_remove(index))
}

fn lock() -> MutexGuard<'static, Vec<TcpListener>> {
    INHERITED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;
    use crate::{API_PORT, bind_port, reserve_port};

    #[test]
    fn prod_004_an_inherited_port_is_taken_once_and_others_are_bound() {
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let addresses = listeners.each_ref().map(|port| port.local_addr().expect("bound"));
        let waiting = TcpStream::connect(addresses[0]).expect("the port listens");
        inherit(listeners.into());

        let taken = reserve_port("127.0.0.1", addresses[0].port(), API_PORT).expect("it is there");
        let unused = close_unused_ports();

        let (_, client) = taken.accept().expect("the connection has waited");
        assert_eq!(client, waiting.local_addr().expect("connected"));
        assert!(unused.contains(&addresses[1]) && !unused.contains(&addresses[0]));
        // Nobody listens there any more.
        bind_port("127.0.0.1", addresses[1].port(), API_PORT).expect("free");
    }
}
