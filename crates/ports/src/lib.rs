//! Binds ports. The commands bind before they start anything else, so that a port in use is reported immediately.
//!
//! In: an address, and how its port is chosen. Out: a listener, one that the process before has passed on where there is one, or an error
//! that names the process that has the port and the setting that changes it. Who accepts connections is left to the callers.

mod inherited;
mod port_holder;

pub use inherited::{close_unused_ports, inherit};
pub use port_holder::find_port_holder;

use std::io::{self, ErrorKind};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use selvedge_terminal::print_note;
#[cfg(target_os = "linux")]
use socket2::SockFilter;
use socket2::{Domain, SockRef, Socket, Type};

/// Length of the kernel's queue of connections that wait to be accepted.
const LISTEN_BACKLOG: i32 = 4096;

/// All addresses of this machine, of each kind.
const ALL_IPV4: &str = "0.0.0.0";
const ALL_IPV6: &str = "::";

/// How long a busy port is tried again.
const PORT_PATIENCE: Duration = Duration::from_secs(1);

/// How long a port is tried again that a connection has taken. The system keeps a port for 60 s after the end of one.
const CONNECTION_PATIENCE: Duration = Duration::from_secs(70);

/// The purpose of a port and how to choose another one, for error messages.
#[derive(Debug, Clone, Copy)]
pub struct PortChoice {
    /// What listens on it: `API`, `PostgreSQL`, `mail inbox`.
    pub what: &'static str,
    /// The flag that changes it, if there is one.
    pub flag: Option<&'static str>,
    /// The setting that changes it: a key of config.toml, or a variable.
    pub setting: &'static str,
}

impl PortChoice {
    /// Returns the sentence that says how to choose another port.
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
pub const API_PORT: PortChoice = PortChoice {
    what: "API",
    flag: Some("--port"),
    setting: "[api] port",
};
/// The embedded database's port.
pub const DATABASE_PORT: PortChoice = PortChoice {
    what: "PostgreSQL",
    flag: Some("--db-port"),
    setting: "[db] port",
};
/// The inbox's port.
pub const INBOX_PORT: PortChoice = PortChoice {
    what: "mail inbox",
    flag: Some("--inbox-port"),
    setting: "[local_smtp] port",
};
/// The console's port in `start`.
pub const CONSOLE_PORT: PortChoice = PortChoice {
    what: "console",
    flag: Some("--studio-port"),
    setting: "[studio] port",
};
/// The console's port in `serve`.
pub const SERVED_CONSOLE_PORT: PortChoice = PortChoice {
    what: "console",
    flag: None,
    setting: "[selvedge.console] bind",
};
/// The port of HTTPS in `serve` with certificates that it obtains.
pub const HTTPS_PORT: PortChoice = PortChoice {
    what: "HTTPS",
    flag: None,
    setting: "[selvedge.tls] https_port",
};
/// The port beside it that answers challenges.
pub const HTTP_PORT: PortChoice = PortChoice {
    what: "HTTP",
    flag: None,
    setting: "[selvedge.tls] http_port",
};
/// The port by which people reach the database of a home.
pub const GATE_PORT: PortChoice = PortChoice {
    what: "the database's gate",
    flag: None,
    setting: "[selvedge.database_gate] port",
};
/// The port on which the inbox accepts mail by SMTP.
pub const SMTP_PORT: PortChoice = PortChoice {
    what: "SMTP of the mail inbox",
    flag: Some("--smtp-port"),
    setting: "[local_smtp] smtp_port",
};

/// Binds `host:port`.
///
/// # Errors
/// When the port is in use: the message names the process (if the operating system reveals it) and how to choose
/// another port.
pub fn bind_port(host: &str, port: u16, choice: PortChoice) -> Result<TcpListener> {
    // On Unix the standard library sets SO_REUSEADDR, so a restart works while old connections are in TIME_WAIT.
    bind_with(host, port, choice, TcpListener::bind)
}

/// Binds `host:port` without listening yet, see [`accept_connections`].
///
/// # Errors
/// As [`bind_port`].
pub fn reserve_port(host: &str, port: u16, choice: PortChoice) -> Result<TcpListener> {
    bind_with(host, port, choice, |address| {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        Ok(socket.into())
    })
}

/// Binds a port for the public as [`reserve_port`] does: on `host`, else on all addresses. Sockets for IPv4 and IPv6 are apart, so that a client's
/// address has the same form everywhere; a machine without IPv6 has one.
///
/// # Errors
/// As [`bind_port`].
pub fn reserve_public_port(host: Option<&str>, port: u16, choice: PortChoice) -> Result<Vec<TcpListener>> {
    if let Some(host) = host {
        return Ok(vec![reserve_port(host, port, choice)?]);
    }
    let mut listeners = vec![reserve_port(ALL_IPV4, port, choice)?];
    if has_ipv6() {
        listeners.push(bind_with(ALL_IPV6, port, choice, bind_ipv6)?);
    }
    Ok(listeners)
}

fn bind_ipv6(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV6, Type::STREAM, None)?;
    socket.set_only_v6(true)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Whether this machine has addresses of IPv6.
fn has_ipv6() -> bool {
    bind_ipv6(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))).is_ok()
}

/// Listens on a port that [`reserve_port`] bound. Until then connections are refused, so that a load balancer uses another node
/// instead of waiting for a start that may fail.
///
/// # Errors
/// When another process listens on the port by now.
pub fn accept_connections(listener: &TcpListener, choice: PortChoice) -> Result<()> {
    SockRef::from(listener)
        .listen(LISTEN_BACKLOG)
        .with_context(|| format!("cannot accept connections ({})", choice.what))
}

/// Lets nobody open a further connection, while those that the system has opened are still accepted. They are then refused when the
/// listener closes.
///
/// Closing a listener resets the connections that wait to be accepted, and a worker that stops drops those that it has not looked at
/// yet. Whoever has sent a write on one cannot know whether it was made. So, before that, a filter drops the packets that open
/// connections; the other side repeats them after a second, and finds the listener closed.
#[cfg(target_os = "linux")]
pub fn refuse_new_connections(listener: &TcpListener) -> io::Result<()> {
    // The program gets each packet from its TCP header on, whose byte 13 has the flags. Only the first packet of a connection has no
    // ACK. Opcodes of classic BPF: load a byte, jump if a bit is set, return the number of bytes that pass.
    const LOAD_BYTE: u16 = 0x30;
    const JUMP_IF_SET: u16 = 0x45;
    const RETURN: u16 = 0x06;
    const FLAGS: u32 = 13;
    const ACK: u32 = 0x10;
    SockRef::from(listener).attach_filter(&[
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS),
        SockFilter::new(JUMP_IF_SET, 0, 1, ACK),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
        SockFilter::new(RETURN, 0, 0, 0),
    ])
}

/// Other systems have no such filter.
#[cfg(not(target_os = "linux"))]
pub fn refuse_new_connections(_listener: &TcpListener) -> io::Result<()> {
    Ok(())
}

/// Binds `host:port` without retries: for optional listeners of `start`.
///
/// # Errors
/// As [`bind_port`].
pub fn bind_port_at_once(host: &str, port: u16, choice: PortChoice) -> Result<TcpListener> {
    let listener = TcpListener::bind((host, port)).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => port_taken(port, choice),
        _ => anyhow!("cannot listen on {host}:{port} ({}): {error}", choice.what),
    })?;
    listener
        .set_nonblocking(true)
        .context("setting the listener up")?;
    Ok(listener)
}

/// Binds `host:port` with SO_REUSEPORT: other processes that set it too may listen on the same port.
pub fn bind_shared(host: &str, port: u16, choice: PortChoice) -> Result<TcpListener> {
    bind_with(host, port, choice, |address| {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
        socket.bind(&address.into())?;
        socket.listen(LISTEN_BACKLOG)?;
        Ok(socket.into())
    })
}

/// Finds a port that nothing uses, for a program that binds it itself.
///
/// # Errors
/// A machine without a free port.
pub fn find_free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no port is free")?;
    Ok(listener.local_addr()?.port())
}

fn bind_with(
    host: &str,
    port: u16,
    choice: PortChoice,
    bind: impl Fn(SocketAddr) -> io::Result<TcpListener>,
) -> Result<TcpListener> {
    let address = (host, port)
        .to_socket_addrs()
        .with_context(|| format!("{host} is not an address to listen on"))?
        // A name with several addresses is bound at the first; `start` binds ::1 itself, next to 127.0.0.1.
        .next()
        .with_context(|| format!("{host} has no address"))?;
    if let Some(listener) = inherited::take(address) {
        return Ok(listener);
    }
    let listener = bind_with_patience(address, choice, bind).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => port_taken(port, choice),
        ErrorKind::PermissionDenied => anyhow!(
            "port {port} ({}) may not be opened by this user: ports below 1024 need a privilege\n  {}",
            choice.what,
            choice.advice()
        ),
        _ => anyhow!("cannot listen on {host}:{port} ({}): {error}", choice.what),
    })?;
    // tokio requires this of standard listeners that it takes over.
    listener
        .set_nonblocking(true)
        .context("setting the listener up")?;
    Ok(listener)
}

/// Tries a busy port again: for a moment, as its last owner may be ending, and longer while a connection has it.
fn bind_with_patience(
    address: SocketAddr,
    choice: PortChoice,
    bind: impl Fn(SocketAddr) -> io::Result<TcpListener>,
) -> io::Result<TcpListener> {
    let begin = Instant::now();
    let mut is_said = false;
    loop {
        let error = match bind(address) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => error,
            outcome => return outcome,
        };
        let waited = begin.elapsed();
        if waited > PORT_PATIENCE {
            // Whether a program listens is asked again each time: then there is nothing to wait for.
            if waited > CONNECTION_PATIENCE || port_holder::is_listening(address.port()) != Some(false) {
                return Err(error);
            }
            if !is_said {
                say_connection_has_port(address.port(), choice);
                is_said = true;
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until no connection has a port that another program is going to bind. Returns at once when somebody listens on it, which that
/// program reports.
pub async fn wait_until_no_connection_has(port: u16, choice: PortChoice) {
    let begin = Instant::now();
    let mut is_said = false;
    while port_holder::is_listening(port) == Some(false) && begin.elapsed() < CONNECTION_PATIENCE {
        match TcpListener::bind(("127.0.0.1", port)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            _ => return,
        }
        if begin.elapsed() > PORT_PATIENCE && !is_said {
            say_connection_has_port(port, choice);
            is_said = true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Programs get ports for their connections from the same range as the Supabase CLI's ports are in.
fn say_connection_has_port(port: u16, choice: PortChoice) {
    print_note(&format!(
        "port {port} ({}) belongs to a connection of another program, or of one that has ended; waiting up to {} s for it\n  to keep such \
         ports free on Linux:  sysctl -w net.ipv4.ip_local_reserved_ports=54320-54329",
        choice.what,
        CONNECTION_PATIENCE.as_secs()
    ));
}

/// The error for a port that another process listens on.
pub fn port_taken(port: u16, choice: PortChoice) -> anyhow::Error {
    let holder = find_port_holder(port).map_or_else(
        || match port_holder::is_listening(port) {
            // Connections to other servers take ports, too, and no list of servers shows them.
            Some(false) => {
                "no program listens there, but a connection has this port; it becomes free with that"
                    .to_owned()
            }
            _ => "another program listens there".to_owned(),
        },
        |(pid, name)| format!("{name} (process {pid}) listens there"),
    );
    anyhow!(
        "port {port} ({}) is taken: {holder}\n  {}",
        choice.what,
        choice.advice()
    )
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn gw_031_a_port_that_becomes_free_in_a_moment_is_bound() {
        let first = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = first.local_addr().unwrap().port();
        let owner = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            drop(first);
        });

        assert!(bind_port("127.0.0.1", port, API_PORT).is_ok());
        owner.join().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn gw_031_a_port_that_a_connection_has_is_bound_when_the_connection_has_ended() {
        let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let client = TcpStream::connect(server.local_addr().unwrap()).unwrap();
        let port = client.local_addr().unwrap().port();
        let (accepted, _) = server.accept().unwrap();
        let ends = std::thread::spawn(move || {
            std::thread::sleep(PORT_PATIENCE + Duration::from_millis(500));
            // Who closes first keeps its port for a minute.
            drop(accepted);
            std::thread::sleep(Duration::from_millis(100));
            drop(client);
        });

        assert!(bind_port("127.0.0.1", port, DATABASE_PORT).is_ok());
        ends.join().unwrap();
    }

    #[test]
    fn a_reserved_port_refuses_connections_until_accept_connections() {
        let listener = reserve_port("127.0.0.1", 0, API_PORT).unwrap();
        let address = listener.local_addr().unwrap();
        assert!(TcpStream::connect(address).is_err());

        accept_connections(&listener, API_PORT).unwrap();

        assert!(TcpStream::connect(address).is_ok());
    }

    #[test]
    fn prod_020_a_public_port_is_reached_by_ipv4_and_by_ipv6() {
        let port = reserve_port(ALL_IPV4, 0, HTTPS_PORT)
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let listeners = reserve_public_port(None, port, HTTPS_PORT).unwrap();
        for listener in &listeners {
            accept_connections(listener, HTTPS_PORT).unwrap();
        }

        let mut reached = vec![TcpStream::connect(("127.0.0.1", port)).is_ok()];
        if has_ipv6() {
            reached.push(TcpStream::connect(("::1", port)).is_ok());
        }

        assert_eq!(reached, vec![true; listeners.len()]);
        drop(listeners);
        let named = reserve_public_port(Some("127.0.0.1"), port, HTTPS_PORT).unwrap();
        assert_eq!(named.len(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_listener_that_refuses_new_connections_still_serves_those_that_were_opened_before() {
        use std::io::{Read, Write};

        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let mut early = TcpStream::connect(address).unwrap();

        refuse_new_connections(&listener).unwrap();

        // The packet is dropped, and would be repeated after a second.
        assert!(TcpStream::connect_timeout(&address, Duration::from_millis(300)).is_err());
        let (mut accepted, _) = listener.accept().unwrap();
        early.write_all(b"request").unwrap();
        let mut received = [0; 7];
        accepted.read_exact(&mut received).unwrap();
        accepted.write_all(b"response").unwrap();
        drop((listener, accepted));
        let mut response = String::new();
        early.read_to_string(&mut response).unwrap();
        assert_eq!((&received, response.as_str()), (b"request", "response"));
        assert!(TcpStream::connect(address).is_err());
    }

    #[test]
    fn gw_031_a_port_in_use_is_reported_with_its_process_and_the_flag_that_changes_it() {
        let first = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = first.local_addr().unwrap().port();

        let message = bind_port("127.0.0.1", port, API_PORT).unwrap_err().to_string();

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
