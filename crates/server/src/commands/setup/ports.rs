//! Looks before anything is changed whether the server will get its ports.

use anyhow::{Result, anyhow};
use selvedge_config::Config;
use selvedge_ports::{
    API_PORT, HTTP_PORT, HTTPS_PORT, PortChoice, SERVED_CONSOLE_PORT, find_port_holder, reserve_port,
    reserve_public_port,
};

use super::places::SERVER_UNIT;

/// The server of a machine whose certificates it obtains has its API's own port for this machine alone.
const LOOPBACK: &str = "127.0.0.1";
const ALL: &str = "0.0.0.0";

/// Refuses ports that another program has. Those of the server itself, which runs already, are its.
///
/// # Errors
/// The port, and the program that has it.
pub(super) fn check_ports(config: &Config) -> Result<()> {
    let host = config.selvedge.host.as_deref();
    let api_host = match config.acme() {
        Some(_) => LOOPBACK,
        None => host.unwrap_or(ALL),
    };
    check_port(api_host, config.api.port, API_PORT)?;
    if config.console.enabled {
        let bind = config.console.bind;
        check_port(&bind.ip().to_string(), bind.port(), SERVED_CONSOLE_PORT)?;
    }
    let Some(section) = config.acme() else {
        return Ok(());
    };
    for (port, choice) in [(section.https_port, HTTPS_PORT), (section.http_port, HTTP_PORT)] {
        if !is_of_server(port) {
            reserve_public_port(host, port, choice).map_err(say_unchanged)?;
        }
    }
    Ok(())
}

fn check_port(host: &str, port: u16, choice: PortChoice) -> Result<()> {
    if !is_of_server(port) {
        reserve_port(host, port, choice).map_err(say_unchanged)?;
    }
    Ok(())
}

fn say_unchanged(error: anyhow::Error) -> anyhow::Error {
    anyhow!("nothing was changed: {error}")
}

/// Whether the process that listens on a port is of the server's unit.
fn is_of_server(port: u16) -> bool {
    let Some((process, _)) = find_port_holder(port) else {
        return false;
    };
    let group = std::fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
    group.lines().any(|line| is_of_unit(line, SERVER_UNIT))
}

/// Whether a line of `/proc/PID/cgroup` leads to a unit.
fn is_of_unit(line: &str, unit: &str) -> bool {
    line.rsplit(':')
        .next()
        .is_some_and(|path| path.split('/').any(|name| name == unit))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn prod_008_a_port_of_another_program_is_named_with_its_holder() {
        let other = TcpListener::bind((LOOPBACK, 0)).unwrap();
        let port = other.local_addr().unwrap().port();

        let refused = check_port(LOOPBACK, port, API_PORT).unwrap_err().to_string();

        assert!(refused.contains("nothing was changed"), "{refused}");
        assert!(
            refused.contains(&format!("(process {})", std::process::id())),
            "{refused}"
        );
    }

    #[test]
    fn prod_008_ports_of_the_servers_unit_are_its_own() {
        assert!(is_of_unit("0::/selvedge.slice/selvedge.service", SERVER_UNIT));
        assert!(is_of_unit("0::/selvedge.slice/selvedge.service/x", SERVER_UNIT));
        assert!(!is_of_unit("0::/system.slice/my-selvedge.service", SERVER_UNIT));
        assert!(!is_of_unit("0::/user.slice", SERVER_UNIT));
    }
}
