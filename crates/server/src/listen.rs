//! Binds the ports early, so that a taken one is reported before anything else is started.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

use anyhow::{Context, Result, anyhow};
use socket2::{Domain, Socket, Type};

/// Connections that may wait to be accepted on a shared port, as many as on one of our own.
const WAITING_CONNECTIONS: i32 = 4096;

/// A port and how to choose another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PortChoice {
    /// What listens there: `API`, `PostgreSQL`, `mail inbox`.
    pub(crate) what: &'static str,
    /// The flag that changes it, if there is one.
    pub(crate) flag: Option<&'static str>,
    /// The setting that changes it: a key of config.toml, or a variable.
    pub(crate) setting: &'static str,
}

impl PortChoice {
    /// How to choose another port.
    fn advice(self) -> String {
        let flag = self.flag.map_or_else(String::new, |flag| format!("{flag} N or "));
        let place = if self.setting.starts_with('[') {
            " in config.toml"
        } else {
            ""
        };
        format!("choose another one with {flag}{} = N{place}", self.setting)
    }
}

/// The API's port.
pub(crate) const API_PORT: PortChoice = PortChoice {
    what: "API",
    flag: Some("--port"),
    setting: "[api] port",
};
/// The embedded database's port.
pub(crate) const DATABASE_PORT: PortChoice = PortChoice {
    what: "PostgreSQL",
    flag: Some("--db-port"),
    setting: "[db] port",
};
/// The inbox's port.
pub(crate) const INBOX_PORT: PortChoice = PortChoice {
    what: "mail inbox",
    flag: Some("--inbox-port"),
    setting: "[inbucket] port",
};
/// The inbox's port for mail of other programs.
pub(crate) const SMTP_PORT: PortChoice = PortChoice {
    what: "SMTP of the mail inbox",
    flag: None,
    setting: "[inbucket] smtp_port",
};

/// Binds `host:port`.
///
/// # Errors
/// A taken port, with who holds it (where the system tells) and how to choose another one.
pub(crate) fn bind(host: &str, port: u16, choice: PortChoice) -> Result<TcpListener> {
    // The standard listener sets SO_REUSEADDR on Unix: a restart does not wait for old connections.
    bind_with(host, port, choice, TcpListener::bind)
}

/// The same on a port that other processes may listen on too, if they allow it as well.
pub(crate) fn bind_shared(host: &str, port: u16, choice: PortChoice) -> Result<TcpListener> {
    bind_with(host, port, choice, |address| {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
        socket.bind(&address.into())?;
        socket.listen(WAITING_CONNECTIONS)?;
        Ok(socket.into())
    })
}

fn bind_with(
    host: &str,
    port: u16,
    choice: PortChoice,
    bind: impl FnOnce(SocketAddr) -> io::Result<TcpListener>,
) -> Result<TcpListener> {
    let address = (host, port)
        .to_socket_addrs()
        .with_context(|| format!("{host} is not an address to listen on"))?
        .next()
        .with_context(|| format!("{host} has no address"))?;
    let listener = bind(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => taken(port, choice),
        ErrorKind::PermissionDenied => anyhow!(
            "port {port} ({}) may not be opened by this user: ports below 1024 need a privilege\n  {}",
            choice.what,
            choice.advice()
        ),
        _ => anyhow!("cannot listen on {host}:{port} ({}): {error}", choice.what),
    })?;
    listener
        .set_nonblocking(true)
        .context("setting the listener up")?;
    Ok(listener)
}

/// The message for a port that somebody else has.
pub(crate) fn taken(port: u16, choice: PortChoice) -> anyhow::Error {
    let holder = holder::of_port(port).map_or_else(
        || "another program listens there".to_owned(),
        |(pid, name)| format!("{name} (process {pid}) listens there"),
    );
    anyhow!(
        "port {port} ({}) is taken: {holder}\n  {}",
        choice.what,
        choice.advice()
    )
}

mod holder {
    //! Who listens on a port, from Linux's `/proc`; elsewhere, or without the right to look: unknown.

    use std::fs;

    /// Process id and name.
    pub(super) fn of_port(port: u16) -> Option<(u32, String)> {
        let socket = format!("socket:[{}]", listening_inode(port)?);
        fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let mut descriptors = fs::read_dir(entry.path().join("fd")).ok()?.flatten();
            descriptors.find(|fd| {
                fs::read_link(fd.path()).is_ok_and(|target| target.as_os_str() == socket.as_str())
            })?;
            let name = fs::read_to_string(entry.path().join("comm")).ok()?;
            Some((pid, name.trim().to_owned()))
        })
    }

    /// Rows of `/proc/net/tcp`: number, local address, remote address, state (0A = listening), …, inode.
    fn listening_inode(port: u16) -> Option<String> {
        let suffix = format!(":{port:04X}");
        ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| {
            fs::read_to_string(table).ok()?.lines().skip(1).find_map(|row| {
                let columns: Vec<&str> = row.split_whitespace().collect();
                let listens = columns.get(1)?.ends_with(&suffix) && *columns.get(3)? == "0A";
                listens
                    .then(|| columns.get(9).map(|inode| (*inode).to_owned()))
                    .flatten()
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_031_a_taken_port_names_itself_its_holder_and_the_way_out() {
        let first = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = first.local_addr().unwrap().port();

        let message = bind("127.0.0.1", port, API_PORT).unwrap_err().to_string();

        assert!(
            message.contains(&format!("port {port} (API) is taken")),
            "{message}"
        );
        assert!(message.contains("--port N or [api] port = N"), "{message}");
        if cfg!(target_os = "linux") {
            assert!(
                message.contains(&format!("(process {})", std::process::id())),
                "{message}"
            );
        }
    }
}
