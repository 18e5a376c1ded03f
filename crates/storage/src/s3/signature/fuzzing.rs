//! Entry point of the fuzz target `s3_signature`: the signature of a request's head.

use actix_web::dev::RequestHead;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::http::{Method, Uri};

use super::canonical::{self, PublicAddress};
use super::key::SigningKey;
use super::verify::{find_signing_key, possible_payload_hashes, read_signature};

/// A secret that no input can know, because it is compiled into the target alone.
const SECRET: &str = "a secret of this fuzz target, which no input holds";

/// Checks the signature of a request in HTTP's form: `METHOD /path?query`, then lines of headers.
///
/// # Panics
/// When a signature is accepted that was not made with the secret, a valid one is refused, or one is valid for
/// another request.
pub fn check_signature(input: &str) {
    let Some(mut head) = parse_head(input) else {
        return;
    };
    let query = canonical::parse_query(head.uri.query().unwrap_or_default());
    let Ok(mut presented) = read_signature(&head, &query) else {
        return;
    };
    let public = PublicAddress::default();
    let found = find_signing_key(&head, &query, &presented, &[SECRET], &public);
    assert!(found.is_none(), "a signature that nobody made");

    let key = SigningKey::derive(SECRET, &presented.scope);
    let hashes = possible_payload_hashes(&head, &query, presented.expires_s.is_some());
    let texts =
        canonical::build_canonical_requests(&head, &query, &presented.signed_headers, &hashes[0], &public);
    let Some(text) = texts.first() else {
        // Without a host there is nothing that could be signed.
        return;
    };
    presented.signature = key.sign_request(&presented.timestamp, &presented.scope.text(), text);
    let found = find_signing_key(&head, &query, &presented, &[SECRET], &public);
    assert!(found.is_some(), "a signature of this request");

    head.method = match head.method {
        Method::DELETE => Method::GET,
        _ => Method::DELETE,
    };
    let found = find_signing_key(&head, &query, &presented, &[SECRET], &public);
    assert!(found.is_none(), "a signature of another method");
}

fn parse_head(input: &str) -> Option<RequestHead> {
    let mut lines = input.lines();
    let (method, target) = lines.next()?.split_once(' ')?;
    let mut head = RequestHead::default();
    head.method = Method::from_bytes(method.as_bytes()).ok()?;
    head.uri = target.parse::<Uri>().ok()?;
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        head.headers
            .append(name, HeaderValue::from_str(value.trim()).ok()?);
    }
    Some(head)
}
