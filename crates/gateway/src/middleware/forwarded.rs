//! What proxies report about the client: its address, and the scheme and host by which it reached them.
//!
//! Clients can send the same headers. They count only where `trusted_proxies` says that a proxy is in front of the server.

use std::net::{IpAddr, SocketAddr};

use actix_web::HttpRequest;
use actix_web::http::header::{HOST, HeaderMap};

/// The longest part of an entry that is logged.
const MAX_LOGGED: usize = 100;

/// An entry of `X-Forwarded-For` where a trusted proxy writes the client's address, and that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a trusted proxy reported no address in X-Forwarded-For")]
pub struct UnknownAddress {
    /// The entry for the log, cut, with everything escaped that is not printable ASCII.
    pub entry: String,
}

impl UnknownAddress {
    fn new(entry: &[u8]) -> Self {
        let shown = entry.get(..MAX_LOGGED).unwrap_or(entry);
        Self {
            entry: shown.trim_ascii().escape_ascii().to_string(),
        }
    }
}

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
        Some(entry) => parse_address(entry).ok_or_else(|| UnknownAddress::new(entry)),
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
    // The zone of a link-local address (`fe80::1%eth0`) names a network card of the proxy.
    let without_zone = bare.split_once('%').map_or(bare, |(address, _)| address);
    without_zone
        .parse()
        .ok()
        .or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

/// What a header of proxies says about the request: the entry that the outermost of `trusted_proxies` wrote, counted from the end
/// of all its lines; the first one where fewer have written, because proxies may replace the header instead of adding to it.
pub(super) fn read_forwarded<'h>(
    headers: &'h HeaderMap,
    name: &str,
    trusted_proxies: usize,
) -> Option<&'h str> {
    let entries: Vec<&[u8]> = headers
        .get_all(name)
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .collect();
    let from_end = trusted_proxies.min(entries.len());
    let entry = entries.get(entries.len() - from_end).filter(|_| from_end > 0)?;
    let text = std::str::from_utf8(entry).ok()?.trim();
    (!text.is_empty()).then_some(text)
}

/// A parameter of `Forwarded` (RFC 7239) in the element that the outermost of `trusted_proxies` wrote.
fn read_forwarded_parameter(headers: &HeaderMap, name: &str, trusted_proxies: usize) -> Option<String> {
    let lines: Vec<&str> = headers
        .get_all("forwarded")
        .map(|line| line.to_str().unwrap_or_default())
        .collect();
    let text = lines.join(",");
    let elements = split_unquoted(&text, b',');
    let from_end = trusted_proxies.min(elements.len());
    let element = elements.get(elements.len() - from_end).filter(|_| from_end > 0)?;
    split_unquoted(element, b';').into_iter().find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (key.trim().eq_ignore_ascii_case(name) && !value.is_empty()).then(|| value.to_owned())
    })
}

/// The parts of a text between separators that are outside of quotes.
fn split_unquoted(text: &str, separator: u8) -> Vec<&str> {
    let (mut parts, mut start, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if byte == separator && !is_quoted => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Scheme and host, such as `https://api.example.com:8443`, by which the client reached us. Behind trusted proxies
/// `X-Forwarded-*` name them; `Forwarded` does so where no proxy writes `X-Forwarded-For`. Otherwise the connection and `Host` alone
/// count.
pub(super) fn read_public_origin(request: &HttpRequest, trusted_proxies: usize) -> String {
    let headers = request.headers();
    let scheme = if request.app_config().secure() {
        "https"
    } else {
        "http"
    };
    let own_host = headers.get(HOST).and_then(|value| value.to_str().ok());
    let own_host = own_host.unwrap_or_else(|| request.app_config().host());
    if trusted_proxies == 0 {
        return format!("{scheme}://{own_host}");
    }
    // A proxy that writes the one header passes the other on as the client sent it.
    let (proto, host, port) = if headers.contains_key("x-forwarded-for") || !headers.contains_key("forwarded")
    {
        let read = |name| read_forwarded(headers, name, trusted_proxies).map(str::to_owned);
        (
            read("x-forwarded-proto"),
            read("x-forwarded-host"),
            read("x-forwarded-port"),
        )
    } else {
        let read = |name| read_forwarded_parameter(headers, name, trusted_proxies);
        (read("proto"), read("host"), None)
    };
    let scheme = match proto.as_deref() {
        Some(proto) if proto.eq_ignore_ascii_case("https") => "https",
        Some(proto) if proto.eq_ignore_ascii_case("http") => "http",
        _ => scheme,
    };
    let has_host = host.is_some();
    let mut host = host.unwrap_or_else(|| own_host.to_owned());
    if has_host && !host.contains(':') {
        let port = port.filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(port) = port.filter(|port| port != "80" && port != "443") {
            host = format!("{host}:{port}");
        }
    }
    format!("{scheme}://{host}")
}

/// Whether a request says that it came by HTTPS to a proxy, which counts only with `trusted_proxies`.
pub(super) fn claims_https(headers: &HeaderMap) -> bool {
    read_forwarded(headers, "x-forwarded-proto", 1).is_some_and(|proto| proto.eq_ignore_ascii_case("https"))
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
            (vec!["fe80::1%eth0"], 1, "fe80::1"),
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
            assert!(find(&[line], 1).is_err(), "{line:?}");
        }
        let error = find(&[b"1.1.1.1, unix:\xe9"], 1).expect_err("no address");
        assert_eq!(error.entry, "unix:\\xe9");
    }

    fn origin(headers: &[(&str, &str)], trusted_proxies: usize) -> String {
        let mut request = TestRequest::default().insert_header(("host", "inside:5000"));
        for (name, value) in headers {
            request = request.append_header((*name, *value));
        }
        read_public_origin(&request.to_http_request(), trusted_proxies)
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
        let headers = [
            ("forwarded", "host=evil.example;proto=https"),
            ("x-forwarded-host", "api.example.com"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-port", "8443"),
            ("x-forwarded-for", "1.1.1.1"),
        ];

        assert_eq!(origin(&headers, 0), "http://inside:5000");
        assert_eq!(origin(&headers, 1), "https://api.example.com:8443");
    }

    #[test]
    fn host_and_scheme_are_the_entries_of_the_outermost_trusted_proxy() {
        let sent_by_client = [
            ("x-forwarded-host", "evil.example"),
            ("x-forwarded-proto", "gopher"),
        ];
        let added = [
            ("x-forwarded-host", "api.example.com"),
            ("x-forwarded-proto", "https"),
        ];
        let both = [sent_by_client, added].concat();
        for (headers, proxies, expected) in [
            (both.clone(), 1, "https://api.example.com"),
            (
                vec![("x-forwarded-host", "evil.example, api.example.com, inner")],
                2,
                "http://api.example.com",
            ),
            (added.to_vec(), 2, "https://api.example.com"),
            (sent_by_client.to_vec(), 0, "http://inside:5000"),
            (
                vec![(
                    "forwarded",
                    "host=evil.example, for=1.1.1.1;host=\"a,b\", proto=https;Host=\"api.example.com:8443\"",
                )],
                1,
                "https://api.example.com:8443",
            ),
            // Only one kind of header is the proxy's, and the other one the client's.
            (
                vec![("forwarded", "host=evil.example"), ("x-forwarded-for", "1.1.1.1")],
                1,
                "http://inside:5000",
            ),
        ] {
            assert_eq!(origin(&headers, proxies), expected, "{headers:?} {proxies}");
        }
    }
}
