//! Ports of the project that Linux gives to connections of other programs: then a start waits for them.

use std::ops::RangeInclusive;
use std::path::Path;

use selvedge_config::Config;

use crate::finding::Finding;

/// Where Linux says which ports it gives to connections, and which of them it does not.
const SETTINGS: &str = "/proc/sys/net/ipv4";

/// Compares the project's ports with those that the system gives to connections; `None` on other systems.
pub(crate) fn examine_ephemeral_ports(config: &Config) -> Option<Finding> {
    let read = |name: &str| std::fs::read_to_string(Path::new(SETTINGS).join(name)).ok();
    let given = parse_range(&read("ip_local_port_range")?)?;
    let reserved = parse_reserved(&read("ip_local_reserved_ports")?);
    let mut ports = vec![config.api.port];
    if config.selvedge.database_url.is_none() {
        ports.push(config.db.port);
    }
    ports.extend(config.inbox.enabled.then_some(config.inbox.port));
    ports.extend(config.console.enabled_in_start.then_some(config.console.port));
    ports.sort_unstable();
    Some(judge(&ports, &given, &reserved))
}

fn judge(ports: &[u16], given: &RangeInclusive<u16>, reserved: &[RangeInclusive<u16>]) -> Finding {
    let taken: Vec<String> = ports
        .iter()
        .filter(|port| given.contains(port) && !reserved.iter().any(|range| range.contains(port)))
        .map(u16::to_string)
        .collect();
    if taken.is_empty() {
        return Finding::ok(
            "ephemeral_ports",
            "the system gives none of the project's ports to connections of other programs",
        );
    }
    let list = taken.join(",");
    Finding::warning(
        "ephemeral_ports",
        format!(
            "the system may give a connection of any program port {}, and a start then waits until it is free",
            taken.join(" or ")
        ),
        format!(
            "keep them free:  sysctl -w net.ipv4.ip_local_reserved_ports={list}  (with what is reserved already: that replaces it), and the \
             same line in /etc/sysctl.d for the next boot; or choose ports outside of {} to {}",
            given.start(),
            given.end()
        ),
    )
}

/// Reads the first and the last port, which a tab separates.
fn parse_range(text: &str) -> Option<RangeInclusive<u16>> {
    let mut words = text.split_ascii_whitespace();
    Some(words.next()?.parse().ok()?..=words.next()?.parse().ok()?)
}

/// `54320-54329,8080`; what cannot be read reserves nothing.
fn parse_reserved(text: &str) -> Vec<RangeInclusive<u16>> {
    text.trim()
        .split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Status;

    #[test]
    fn ports_of_connections_are_named_unless_they_are_reserved() {
        let given = parse_range("32768\t60999\n").expect("a range");

        for (ports, reserved, named) in [
            (vec![54321, 54322], "", Some("54321 or 54322")),
            (vec![54321, 54322], "8080,54322-54329\n", Some("54321")),
            (vec![54321, 54322], "54320-54329", None),
            (vec![8000, 5432], "", None),
        ] {
            let finding = judge(&ports, &given, &parse_reserved(reserved));
            let expected = named.map_or(Status::Ok, |_| Status::Warning);
            assert_eq!(finding.status, expected, "{ports:?} {reserved:?}");
            assert!(
                finding.message.contains(named.unwrap_or_default()),
                "{}",
                finding.message
            );
        }
    }
}
