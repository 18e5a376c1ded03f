//! Whether the server is reached by its names: said at the end of `selvedge setup`, and never a reason to fail, as names may follow later.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

use selvedge_http_client::{Call, HttpClient};
use selvedge_terminal::GOOD;
use tokio::net::lookup_host;

use super::answers::Answers;
use super::report::warn;

/// How long the first certificate may take.
const CERTIFICATE_TIME: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(500);
const CALL_TIME: Duration = Duration::from_secs(10);
/// An address for documentation: asking for the way there sends nothing.
const FAR_AWAY: &str = "192.0.2.1:9";

/// Says of each name whether it leads to the server, and prints the DNS record that is missing.
pub(super) async fn examine(answers: &Answers) {
    let mut leads = false;
    for domain in &answers.domains {
        match lookup_host((domain.as_str(), 443)).await.map(Vec::from_iter) {
            Ok(addresses) if !addresses.is_empty() => leads = true,
            _ => warn(&format!(
                "{domain} has no address yet; its DNS needs:  {}\n  the certificate is obtained by itself when it has one",
                dns_record(domain, own_address())
            )),
        }
    }
    let Some(url) = answers.url().filter(|_| leads) else {
        return;
    };
    let url = format!("{url}/health/live");
    let client = HttpClient::new(true);
    let deadline = Instant::now() + CERTIFICATE_TIME;
    loop {
        match client.send(Call::get(&url).timeout(CALL_TIME)).await {
            Ok(answer) if answer.status == 200 => {
                anstream::println!("  {GOOD}answers{GOOD:#}        {url}");
                return;
            }
            Ok(answer) if Instant::now() > deadline => {
                return warn(&format!(
                    "{url} answers {}, which is not this server",
                    answer.status
                ));
            }
            Err(error) if Instant::now() > deadline => {
                return warn(&format!(
                    "{url}: {error}\n  what is wrong:  sudo selvedge-server doctor"
                ));
            }
            _ => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// The line that a zone file needs.
fn dns_record(domain: &str, address: IpAddr) -> String {
    if address.is_loopback() {
        return format!("{domain}. 3600 IN A ADDRESS, where ADDRESS is this machine's");
    }
    let kind = if address.is_ipv4() { "A" } else { "AAAA" };
    format!("{domain}. 3600 IN {kind} {address}")
}

/// The address of this machine on the way to others, which is a private one behind NAT.
pub(super) fn own_address() -> IpAddr {
    let found = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
        socket.connect(FAR_AWAY)?;
        socket.local_addr()
    });
    found.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |address| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_008_a_missing_name_comes_with_its_line_for_dns() {
        let four: IpAddr = "203.0.113.7".parse().unwrap();
        let six: IpAddr = "2001:db8::7".parse().unwrap();

        assert_eq!(dns_record("a.example", four), "a.example. 3600 IN A 203.0.113.7");
        // A machine without a way to others.
        assert!(!dns_record("a.example", Ipv4Addr::LOCALHOST.into()).contains("127.0.0.1"));
        assert_eq!(
            dns_record("a.example", six),
            "a.example. 3600 IN AAAA 2001:db8::7"
        );
    }
}
