//! The canonical request: the text that both sides hash.

use actix_web::HttpRequest;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode};

/// What RFC 3986 leaves as it is, besides letters and digits.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');
const PATH: &AsciiSet = &UNRESERVED.remove(b'/');

/// A decoded name and value; clients may send bytes that are no text.
pub(super) type Pair = (Vec<u8>, Vec<u8>);

/// Decodes a query. A plus is a plus.
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

/// The first value of a parameter, if it is text.
pub(super) fn value(query: &[Pair], name: &str) -> Option<String> {
    let (_, value) = query.iter().find(|(found, _)| found == name.as_bytes())?;
    String::from_utf8(value.clone()).ok()
}

/// The canonical request in each spelling that the client may have signed.
pub(super) fn requests(
    request: &HttpRequest,
    query: &[Pair],
    signed_headers: &[String],
    payload_hash: &str,
) -> Vec<String> {
    let query = canonical_query(query);
    let mut texts = Vec::new();
    for host in hosts(request) {
        let headers = canonical_headers(request, signed_headers, &host);
        for path in paths(request) {
            texts.push(format!(
                "{}\n{path}\n{query}\n{headers}\n{}\n{payload_hash}",
                request.method(),
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
    pairs.sort_unstable();
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}

/// Trimmed, runs of spaces made one, several headers of a name joined.
fn canonical_headers(request: &HttpRequest, signed_headers: &[String], host: &str) -> String {
    let mut text = String::new();
    for name in signed_headers {
        let value = match name.as_str() {
            "host" => host.to_owned(),
            // A proxy may have had its own idea of encodings.
            "accept-encoding" if request.headers().contains_key("x-original-accept-encoding") => {
                joined(request, "x-original-accept-encoding")
            }
            "content-length" if !request.headers().contains_key("content-length") => "0".to_owned(),
            name => joined(request, name),
        };
        text.push_str(&format!("{name}:{value}\n"));
    }
    text
}

fn joined(request: &HttpRequest, name: &str) -> String {
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

fn hosts(request: &HttpRequest) -> Vec<String> {
    let header = |name: &str| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(|text| text.split(',').next().unwrap_or(text).trim().to_owned())
    };
    let mut hosts: Vec<String> = header("host").into_iter().collect();
    hosts.extend(
        request
            .uri()
            .authority()
            .map(|authority| authority.as_str().to_owned()),
    );
    if let Some(forwarded) = header("x-forwarded-host") {
        if let Some(port) = header("x-forwarded-port").filter(|port| port != "80" && port != "443") {
            hosts.push(format!("{forwarded}:{port}"));
        }
        hosts.push(forwarded);
    }
    hosts.dedup();
    hosts
}

/// As it was sent; as S3 itself would encode it; behind the prefix that a proxy cut off.
fn paths(request: &HttpRequest) -> Vec<String> {
    let raw = request.uri().path().to_owned();
    let decoded: Vec<u8> = percent_decode(raw.as_bytes()).collect();
    let mut paths = vec![raw.clone(), percent_encode(&decoded, PATH).to_string()];
    let prefix = request.headers().get("x-forwarded-prefix");
    if let Some(prefix) = prefix.and_then(|prefix| prefix.to_str().ok()) {
        paths.push(format!("{}{raw}", prefix.trim_end_matches('/')));
    }
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn queries_are_sorted_and_encoded_anew() {
        let query = parse_query("prefix=some%2fprefix&b&a=x+y%20z&X-Amz-Signature=gone&a=%C3%A9");

        assert_eq!(
            canonical_query(&query),
            "a=%C3%A9&a=x%2By%20z&b=&prefix=some%2Fprefix"
        );
        assert_eq!(value(&query, "prefix").as_deref(), Some("some/prefix"));
    }

    #[test]
    fn headers_are_trimmed_and_joined() {
        let request = TestRequest::get()
            .append_header(("x-amz-meta-a", " two   spaces "))
            .append_header(("x-amz-meta-a", "more"))
            .to_http_request();
        let signed = ["host", "x-amz-meta-a", "content-length"].map(str::to_owned);

        let text = canonical_headers(&request, &signed, "h:1");

        assert_eq!(text, "host:h:1\nx-amz-meta-a:two spaces,more\ncontent-length:0\n");
    }

    #[test]
    fn what_a_proxy_changed_is_tried_both_ways() {
        let request = TestRequest::get()
            .uri("/s3/b/a%2Bb'c")
            .insert_header(("host", "inside:5000"))
            .insert_header(("x-forwarded-host", "outside"))
            .insert_header(("x-forwarded-port", "8443"))
            .insert_header(("x-forwarded-prefix", "/storage/v1"))
            .to_http_request();

        assert_eq!(hosts(&request), ["inside:5000", "outside:8443", "outside"]);
        assert_eq!(
            paths(&request),
            ["/s3/b/a%2Bb'c", "/s3/b/a%2Bb%27c", "/storage/v1/s3/b/a%2Bb'c"]
        );
    }
}
