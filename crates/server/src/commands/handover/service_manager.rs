//! What a service manager is told (systemd, `Type=notify`).

use std::io;
use std::os::unix::net::UnixDatagram;

use crate::config::Environment;

/// The variable with the socket of the service manager.
const SOCKET: &str = "NOTIFY_SOCKET";

/// Tells the service manager a state, such as `READY=1`. Without one nothing happens.
pub(in crate::commands) fn notify_service_manager(state: &str) {
    let environment = Environment::of_process();
    let Some(path) = environment.get(SOCKET).filter(|path| !path.is_empty()) else {
        return;
    };
    if let Err(error) = send(path, state) {
        tracing::warn!(%error, state, "the service manager cannot be told");
    }
}

fn send(path: &str, state: &str) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    match path.strip_prefix('@') {
        // A name in Linux's abstract namespace, as in containers.
        #[cfg(target_os = "linux")]
        Some(name) => {
            use std::os::linux::net::SocketAddrExt as _;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
            socket.send_to_addr(state.as_bytes(), &address)?;
        }
        _ => {
            socket.send_to(state.as_bytes(), path)?;
        }
    }
    Ok(())
}
