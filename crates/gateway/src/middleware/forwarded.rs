//! What proxies report about the client: its address, and the scheme and host by which it reached them.
//!
//! Clients can send the same headers. They count only where `trusted_proxies` says that a proxy is in front of the server.

use std::net::{IpAddr, SocketAddr};

use actix_web::HttpRequest;
use actix_web::http::header::{HOST, HeaderMap};

/// An entry of `X-Forwarded-For` where a trusted proxy writes the client's address, and that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a trusted proxy reported no address in X-Forwarded-For")]
pub struct UnknownAddress;

/// The client's address: `peer`, or the entry of `X-Forwarded-For` that the outermost of `trusted_proxies` wrote. Entries
/// before it come from the client, which can write anything there.
///
/// All lines of the header are one list (RFC 9110 §5.3), read from its end. A request with fewer entries than proxies did
/// not pass all of them, so its peer is the client.
///
/// # Errors
/// When the entry is no address. Taking the proxy's own instead would count all clients as one.
pub fn find_client_address(
    headers: &HeaderMap,
    peer: IpAddr,
    trusted_proxies: usize,
) -> Result<IpAddr, UnknownAddress> {
    let Some(from_end) = trusted_proxies.checked_sub(1) else {
        return Ok(peer);
    };
    match find_entry(headers, "x-forwarded-for", from_end) {
        None => Ok(peer),
        Some(entry) => parse_address(entry).ok_or(UnknownAddress),
    }
}

/// The last address in the lines of a header, for headers of other names that a proxy sets or appends to. `None` where there is
/// no such header, or its last entry is no address.
pub fn read_last_address(headers: &HeaderMap, name: &str) -> Option<IpAddr> {
    find_entry(headers, name, 0).and_then(parse_address)
}

/// The entry of a list at a distance from its end, 0 for the last. All lines of the header are one list.
fn find_entry<'h>(headers: &'h HeaderMap, name: &str, from_end: usize) -> Option<&'h [u8]> {
    // Bytes and not text, because the client may have put bytes into its part of a line that are no text.
    let entries: Vec<&[u8]> = headers
        .get_all(name)
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .collect();
    entries.into_iter().rev().nth(from_end)
}

/// Reads an address, with or without a port and brackets.
fn parse_address(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?.trim();
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    bare.parse()
        .ok()
        .or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

/// Scheme and host, such as `https://api.example.com:8443`, by which the client reached us. `is_proxied` says whether a
/// trusted proxy is in front: then `Forwarded` or `X-Forwarded-*` name them, otherwise the connection and `Host` alone.
pub(super) fn read_public_origin(request: &HttpRequest, is_proxied: bool) -> String {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    if !is_proxied {
        let scheme = if request.app_config().secure() {
            "https"
        } else {
            "http"
        };
        let host = header(HOST.as_str()).unwrap_or_else(|| request.app_config().host());
        return format!("{scheme}://{host}");
    }
    let connection = request.connection_info();
    let (scheme, mut host) = (connection.scheme(), connection.host().to_owned());
    if header("x-forwarded-host").is_some() && !host.contains(':') {
        let port = header("x-forwarded-port").filter(|port| port.bytes().all(|b| b.is_ascii_digit()));
        if let Some(port) = port.filter(|port| !port.is_empty() && *port != "80" && *port != "443") {
            host = format!("{host}:{port}");
        }
    }
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};
    use actix_web::test::TestRequest;

    use super::*;

    const PEER: &str = "192.0.2.1";

    fn find(lines: &[&[u8]], trusted_proxies: usize) -> Result<String, UnknownAddress> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(
                HeaderName::from_static("x-forwarded-for"),
                HeaderValue::from_bytes(line).expect("a header"),
            );
        }
        let peer = PEER.parse().expect("an address");
        find_client_address(&headers, peer, trusted_proxies).map(|address| address.to_string())
    }

    #[test]
    fn the_entry_of_the_outermost_trusted_proxy_is_the_client() {
        for (lines, proxies, expected) in [
            (vec!["1.1.1.1, 2.2.2.2"], 0, PEER),
            (vec!["1.1.1.1, 2.2.2.2"], 1, "2.2.2.2"),
            (vec!["1.1.1.1, 2.2.2.2"], 2, "1.1.1.1"),
            (vec!["1.1.1.1, 2.2.2.2"], 3, PEER),
            (vec![], 1, PEER),
            // The client's own line comes first, whatever it says.
            (vec!["1.1.1.1", "2.2.2.2"], 1, "2.2.2.2"),
            (vec!["nonsense, 9.9.9.9", "2.2.2.2"], 1, "2.2.2.2"),
            (vec!["1.1.1.1, 2.2.2.2:4711"], 1, "2.2.2.2"),
            (vec!["2001:db8::1"], 1, "2001:db8::1"),
            (vec!["[2001:db8::1]"], 1, "2001:db8::1"),
            (vec!["[2001:db8::1]:4711"], 1, "2001:db8::1"),
        ] {
            let lines: Vec<&[u8]> = lines.iter().map(|line: &&str| line.as_bytes()).collect();
            assert_eq!(
                find(&lines, proxies).as_deref(),
                Ok(expected),
                "{lines:?} {proxies}"
            );
        }
        assert_eq!(find(&[b"\xe9, 2.2.2.2"], 1).as_deref(), Ok("2.2.2.2"));
        assert_eq!(find(&[b"\xe9", b"2.2.2.2"], 1).as_deref(), Ok("2.2.2.2"));
    }

    #[test]
    fn an_entry_of_a_trusted_proxy_that_is_no_address_is_an_error() {
        for line in [
            &b"1.1.1.1, unknown"[..],
            b"1.1.1.1,",
            b"1.1.1.1, \xe9",
            b"2.2.2.2.2",
            b"_hidden",
        ] {
            assert_eq!(find(&[line], 1), Err(UnknownAddress), "{line:?}");
        }
    }

    #[test]
    fn auth_119_the_last_address_of_a_header_counts_because_clients_can_write_the_others() {
        let read = |lines: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                let value = HeaderValue::from_bytes(line).expect("a header");
                headers.append(HeaderName::from_static("x-real-ip"), value);
            }
            read_last_address(&headers, "x-real-ip").map(|ip| ip.to_string())
        };

        assert_eq!(read(&[b"192.0.2.1"]).as_deref(), Some("192.0.2.1"));
        assert_eq!(read(&[b"198.51.100.9, 192.0.2.1"]).as_deref(), Some("192.0.2.1"));
        assert_eq!(
            read(&[b"198.51.100.9", b"192.0.2.1:4711"]).as_deref(),
            Some("192.0.2.1")
        );
        // Bytes of the client that are no text do not take the header away.
        assert_eq!(read(&[b"\xe9, 192.0.2.1"]).as_deref(), Some("192.0.2.1"));
        assert_eq!(read(&[b"192.0.2.1, nonsense"]), None);
        assert_eq!(read(&[b""]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn headers_of_proxies_count_only_behind_a_trusted_one() {
        let request = TestRequest::default()
            .insert_header(("host", "inside:5000"))
            .insert_header(("forwarded", "host=evil.example;proto=https"))
            .insert_header(("x-forwarded-host", "api.example.com"))
            .insert_header(("x-forwarded-proto", "https"))
            .insert_header(("x-forwarded-port", "8443"))
            .to_http_request();
        let plain = TestRequest::default()
            .insert_header(("host", "inside:5000"))
            .insert_header(("x-forwarded-host", "api.example.com"))
            .insert_header(("x-forwarded-proto", "https"))
            .insert_header(("x-forwarded-port", "8443"))
            .to_http_request();

        assert_eq!(read_public_origin(&request, false), "http://inside:5000");
        assert_eq!(read_public_origin(&plain, true), "https://api.example.com:8443");
    }
}
