//! Messages to the service manager (systemd, `Type=notify`).

use std::io;
use std::os::unix::net::UnixDatagram;

use selvedge_config::Environment;

/// The variable that names the service manager's socket.
const SOCKET: &str = "NOTIFY_SOCKET";

/// Sends a state such as `READY=1` to the service manager, if there is one.
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
        // `@` stands for a name in Linux' abstract namespace, which systemd uses in containers.
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
