//! Whether the names of the server lead to it.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use selvedge_config::Config;
use tokio::net::lookup_host;

use crate::finding::Finding;

const ADVICE: &str = "give each domain a record (A, or AAAA for IPv6) with an address of this machine on which [selvedge] host listens";
/// How long it may take to resolve all domains.
const RESOLVE_TIME: Duration = Duration::from_secs(10);

/// Examines whether names lead to addresses on which `serve` listens; nothing where it obtains no certificate.
pub(crate) async fn examine_domains(config: &Config) -> Option<Finding> {
    let section = config.acme()?;
    let resolve = async {
        let mut problems = Vec::new();
        for domain in &section.domains {
            let found = lookup_host((domain.as_str(), section.https_port)).await;
            let addresses = found.map(Vec::from_iter).unwrap_or_default();
            problems.extend(find_address_problem(
                domain,
                &addresses,
                config.selvedge.host.as_deref(),
            ));
        }
        problems
    };
    let Ok(problems) = tokio::time::timeout(RESOLVE_TIME, resolve).await else {
        let message = format!("no answer within {} s", RESOLVE_TIME.as_secs());
        return Some(Finding::warning(
            "domains",
            message,
            "look at this machine's resolver",
        ));
    };
    Some(match problems.is_empty() {
        true => Finding::ok(
            "domains",
            format!("{} can be resolved", section.domains.join(", ")),
        ),
        false => Finding::warning("domains", problems.join("; "), ADVICE),
    })
}

/// What is wrong with the addresses of a domain, for a server that listens on `host`.
fn find_address_problem(domain: &str, addresses: &[SocketAddr], host: Option<&str>) -> Option<String> {
    if addresses.is_empty() {
        return Some(format!("{domain} has no address"));
    }
    let host: Option<IpAddr> = host.and_then(|host| host.parse().ok());
    let unserved = |address: &&SocketAddr| match host {
        Some(IpAddr::V4(_)) => address.is_ipv6(),
        // A socket of this program for all addresses of IPv6 takes connections by IPv4 as well.
        Some(IpAddr::V6(host)) => address.is_ipv4() && !host.is_unspecified(),
        None => false,
    };
    let address = addresses.iter().find(unserved)?;
    Some(format!(
        "{domain} leads to {}, where this server does not listen",
        address.ip()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_020_a_domain_with_an_address_that_nobody_listens_on_is_named() {
        let four: SocketAddr = ([192, 0, 2, 1], 443).into();
        let six: SocketAddr = "[2001:db8::1]:443".parse().unwrap();
        let find = |addresses: &[SocketAddr], host| find_address_problem("a.example", addresses, host);

        assert!(find(&[], None).unwrap().contains("no address"));
        assert_eq!(find(&[four, six], None), None);
        assert_eq!(find(&[four], Some("0.0.0.0")), None);
        assert_eq!(find(&[four, six], Some("::")), None);
        assert!(
            find(&[four, six], Some("0.0.0.0"))
                .unwrap()
                .contains("2001:db8::1")
        );
        assert!(
            find(&[four, six], Some("2001:db8::1"))
                .unwrap()
                .contains("192.0.2.1")
        );
    }
}
