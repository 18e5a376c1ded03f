//! The canonical request of signature V4: the text that client and server hash.

use actix_web::dev::RequestHead;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode};
use selvedge_gateway::sent_path;

/// All characters but the unreserved ones of RFC 3986.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');
const PATH: &AsciiSet = &UNRESERVED.remove(b'/');

/// A decoded name and value; bytes, because clients may send what is not UTF-8.
pub(super) type Pair = (Vec<u8>, Vec<u8>);

/// The address outside of all proxies, as it is configured.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct PublicAddress {
    /// Host and port; `None` when it is not configured.
    host: Option<String>,
    /// The path below which a proxy serves us and which it removes, without a slash at its end; mostly empty.
    prefix: String,
}

impl PublicAddress {
    /// Reads a URL such as `https://api.example.com/backend`.
    pub(super) fn of_url(url: Option<&str>) -> Self {
        let address = url
            .and_then(|url| url.split_once("://"))
            .map(|(_, address)| address);
        let Some(address) = address else {
            return Self::default();
        };
        let (host, path) = address.split_at(address.find('/').unwrap_or(address.len()));
        Self {
            host: Some(host.to_owned()),
            prefix: path.trim_end_matches('/').to_owned(),
        }
    }
}

/// Decodes a query. A plus stays a plus.
pub(super) fn parse_query(raw: &str) -> Vec<Pair> {
    raw.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text: &str| percent_decode(text.as_bytes()).collect();
            (decode(name), decode(value))
        })
        .collect()
}

/// The first value of a parameter, if it is UTF-8.
pub(super) fn find_value(query: &[Pair], name: &str) -> Option<String> {
    let (_, value) = query.iter().find(|(found, _)| found == name.as_bytes())?;
    String::from_utf8(value.clone()).ok()
}

/// The canonical request in every spelling that the client may have signed.
pub(super) fn build_canonical_requests(
    request: &RequestHead,
    query: &[Pair],
    signed_headers: &[String],
    payload_hash: &str,
    public: &PublicAddress,
) -> Vec<String> {
    let query = canonical_query(query);
    // Trying several spellings weakens nothing: each is a request with the same meaning, and only the owner of the
    // secret can sign one. That holds because nothing of them comes from headers that the signature does not cover: with
    // a prefix of the client's, a URL for one object would open every object whose path follows a prefix.
    let mut texts = Vec::new();
    for host in possible_hosts(request, public) {
        let headers = canonical_headers(request, signed_headers, &host);
        for path in possible_paths(request, public) {
            texts.push(format!(
                "{}\n{path}\n{query}\n{headers}\n{}\n{payload_hash}",
                request.method,
                signed_headers.join(";")
            ));
        }
    }
    texts
}

fn canonical_query(query: &[Pair]) -> String {
    let encode = |bytes: &[u8]| percent_encode(bytes, UNRESERVED).to_string();
    let mut pairs: Vec<_> = query
        .iter()
        .filter(|(name, _)| name != b"X-Amz-Signature")
        .map(|(name, value)| (encode(name), encode(value)))
        .collect();
    // Signature V4 sorts by the encoded names, so pairs are encoded first.
    pairs.sort_unstable();
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

/// The signed headers: values trimmed, runs of spaces collapsed, several headers of one name joined by commas.
fn canonical_headers(request: &RequestHead, signed_headers: &[String], host: &str) -> String {
    let mut text = String::new();
    for name in signed_headers {
        let value = match name.as_str() {
            "host" => host.to_owned(),
            // Some proxies rewrite Accept-Encoding and keep the signed value in this header.
            "accept-encoding" if request.headers().contains_key("x-original-accept-encoding") => {
                join_values(request, "x-original-accept-encoding")
            }
            // Clients sign the length of an empty body, and HTTP libraries then leave the header out.
            "content-length" if !request.headers().contains_key("content-length") => "0".to_owned(),
            name => join_values(request, name),
        };
        text.push_str(&format!("{name}:{value}\n"));
    }
    text
}

fn join_values(request: &RequestHead, name: &str) -> String {
    let values: Vec<String> = request
        .headers()
        .get_all(name)
        .map(|value| {
            let text = String::from_utf8_lossy(value.as_bytes());
            let words: Vec<_> = text.split(' ').filter(|part| !part.is_empty()).collect();
            words.join(" ")
        })
        .collect();
    values.join(",")
}

/// The host as we see it, and the configured one.
fn possible_hosts(request: &RequestHead, public: &PublicAddress) -> Vec<String> {
    let host = request.headers().get("host").and_then(|host| host.to_str().ok());
    let mut hosts: Vec<String> = host.map(str::to_owned).into_iter().collect();
    hosts.extend(
        request
            .uri
            .authority()
            .map(|authority| authority.as_str().to_owned()),
    );
    hosts.extend(public.host.clone());
    hosts.dedup();
    hosts
}

/// The path as it was sent, as S3 itself encodes it, and with the configured prefix that a proxy removes.
fn possible_paths(request: &RequestHead, public: &PublicAddress) -> Vec<String> {
    let raw = sent_path(&request.uri).to_owned();
    let decoded: Vec<u8> = percent_decode(raw.as_bytes()).collect();
    let mut paths = vec![raw.clone(), percent_encode(&decoded, PATH).to_string()];
    if !public.prefix.is_empty() {
        paths.push(format!("{}{raw}", public.prefix));
    }
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn store_097_canonical_queries_are_sorted_and_reencoded() {
        let query = parse_query("prefix=some%2fprefix&b&a=x+y%20z&X-Amz-Signature=gone&a=%C3%A9");

        assert_eq!(
            canonical_query(&query),
            "a=%C3%A9&a=x%2By%20z&b=&prefix=some%2Fprefix"
        );
        assert_eq!(find_value(&query, "prefix").as_deref(), Some("some/prefix"));
    }

    #[test]
    fn store_097_canonical_headers_are_trimmed_and_joined() {
        let request = TestRequest::get()
            .append_header(("x-amz-meta-a", " two   spaces "))
            .append_header(("x-amz-meta-a", "more"))
            .to_http_request();
        let signed = ["host", "x-amz-meta-a", "content-length"].map(str::to_owned);

        let text = canonical_headers(request.head(), &signed, "h:1");

        assert_eq!(text, "host:h:1\nx-amz-meta-a:two spaces,more\ncontent-length:0\n");
    }

    #[test]
    fn store_097_hosts_and_paths_are_tried_as_sent_and_as_configured() {
        let request = TestRequest::get()
            .uri("/s3/b/a%2Bb'c")
            .insert_header(("host", "inside:5000"))
            .to_http_request();
        let public = PublicAddress::of_url(Some("https://outside:8443/storage/v1/"));

        assert_eq!(
            possible_hosts(request.head(), &public),
            ["inside:5000", "outside:8443"]
        );
        assert_eq!(
            possible_paths(request.head(), &public),
            ["/s3/b/a%2Bb'c", "/s3/b/a%2Bb%27c", "/storage/v1/s3/b/a%2Bb'c"]
        );
    }

    #[test]
    fn store_097_headers_of_proxies_change_nothing_that_is_signed() {
        let plain = TestRequest::get()
            .uri("/s3/b/a")
            .insert_header(("host", "inside:5000"));
        let hostile = TestRequest::get()
            .uri("/s3/b/a")
            .insert_header(("host", "inside:5000"))
            .insert_header(("forwarded", "host=outside"))
            .insert_header(("x-forwarded-host", "outside"))
            .insert_header(("x-forwarded-port", "8443"))
            .insert_header(("x-forwarded-prefix", "/storage/v1"))
            .to_http_request();
        let build = |request: &actix_web::HttpRequest| {
            let signed = ["host".to_owned()];
            build_canonical_requests(request.head(), &[], &signed, "hash", &PublicAddress::default())
        };

        assert_eq!(build(&hostile), build(&plain.to_http_request()));
    }
}
