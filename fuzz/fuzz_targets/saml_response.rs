//! Whatever becomes of a signed response, the only user that it signs in is the one whom the identity provider has named. The
//! input is a document, or else instructions that move, copy, delete and change elements of responses that are part of the
//! crate's tests: among these are good ones, and attacks that wrap a good one.
#![no_main]

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use libfuzzer_sys::fuzz_target;
use selvedge_saml::{
    IdentityProvider, PrivateKey, ServiceProvider, ServiceProviderOptions, SignaturePolicy, UnverifiedResponse,
    parse_identity_provider,
};
use serde::Deserialize;

/// Of the tests' responses, one whose signed assertion names somebody else on purpose.
const NAMES_ANOTHER_USER: &str = "two assertions";

#[derive(Deserialize)]
struct Case {
    name: String,
    xml: String,
}

#[derive(Deserialize)]
struct Data {
    now: i64,
    metadata: String,
    keys: std::collections::HashMap<String, String>,
    cases: Vec<Case>,
}

struct Fixture {
    responses: Vec<String>,
    service: ServiceProvider,
    provider: IdentityProvider,
    now: DateTime<Utc>,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let data: Data = serde_json::from_str(include_str!("../../crates/saml/tests/data/responses.json"))
        .expect("the tests' data can be read");
    let key = |name: &str| PrivateKey::from_base64(&data.keys[name]).expect("a key of the tests");
    let is_used = |case: &Case| case.name != NAMES_ANOTHER_USER;
    Fixture {
        service: ServiceProvider::new(ServiceProviderOptions {
            external_url: "https://project.example/auth/v1".to_owned(),
            certificate_host: "project.example".to_owned(),
            key: key("sp"),
            next_key: Some(key("sp_next")),
            allow_encrypted: true,
            policy: SignaturePolicy { allow_sha1: true },
        }),
        provider: parse_identity_provider(data.metadata.as_bytes()).expect("metadata of the tests"),
        now: DateTime::from_timestamp(data.now, 0).expect("a time"),
        responses: data.cases.into_iter().filter(is_used).map(|case| case.xml).collect(),
    }
});

fuzz_target!(|input: &[u8]| {
    match input.split_first() {
        Some((index, instructions)) if !input.starts_with(b"<") => {
            let responses = &FIXTURE.responses;
            let mut document = responses[usize::from(*index) % responses.len()].clone();
            for instruction in instructions.as_chunks::<4>().0.iter().take(12) {
                change_document(&mut document, *instruction);
            }
            check_document(document.as_bytes());
        }
        _ => check_document(input),
    }
});

/// Verifies a document as the answer to a request, and as one that nobody has asked for.
fn check_document(xml: &[u8]) {
    let Ok(response) = UnverifiedResponse::from_xml(xml) else {
        return;
    };
    let _ = response.claimed_issuer();
    for request in [Some("id-request"), None] {
        let fixture = &*FIXTURE;
        let Ok(claims) = response.verify(&fixture.service, &fixture.provider, request, fixture.now) else {
            continue;
        };
        let name = claims.name_id.expect("every signed assertion has one").value;
        let values: Vec<&String> = claims.attributes.iter().flat_map(|attribute| &attribute.values).collect();
        assert_eq!(name, "user", "{}", String::from_utf8_lossy(xml));
        assert_eq!(values, ["user@idp.example"], "{}", String::from_utf8_lossy(xml));
    }
}

/// An element of a document by the place of its bytes.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    /// End of the start tag.
    content: usize,
    end: usize,
}

/// Applies one instruction: what to do, with which element, at which other one, and a detail. It does nothing when the
/// document has no such elements any more.
fn change_document(document: &mut String, [kind, which, place, detail]: [u8; 4]) {
    let spans = find_elements(document);
    if spans.is_empty() || document.len() > 200_000 {
        return;
    }
    let (from, to) = (
        spans[usize::from(which) % spans.len()],
        spans[usize::from(place) % spans.len()],
    );
    let element = document[from.start..from.end].to_owned();
    match kind % 7 {
        0 => document.insert_str(to.start, &element),
        1 => document.insert_str(to.content, &element),
        2 => document.insert_str(to.end, &element),
        3 => document.replace_range(from.start..from.end, ""),
        4 => document.replace_range(to.start..to.end, &element),
        5 => {
            let names = ["user", "user@idp.example", "ID=\"_", "Destination=", "Signature", "id-request"];
            let name = names[usize::from(detail) % names.len()];
            document.replace_range(from.start..from.end, &element.replace(name, "evil"));
        }
        _ => {
            // The response of another sign-in, from which an attacker may take parts.
            let others = &FIXTURE.responses;
            let other = &others[usize::from(detail) % others.len()];
            let parts = find_elements(other);
            let part = parts[usize::from(which) % parts.len()];
            document.insert_str(to.start, &other[part.start..part.end]);
        }
    }
}

/// The elements in the order of their end tags. It reads tags only, which is enough for documents that the tests'
/// identity provider has written; others are merely cut at places that make no sense.
fn find_elements(document: &str) -> Vec<Span> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = document[from..].find('<').map(|offset| from + offset) {
        let Some(end) = document[start..].find('>').map(|offset| start + offset + 1) else {
            break;
        };
        let tag = &document[start..end];
        if tag.starts_with("</") {
            if let Some((start, content)) = open.pop() {
                found.push(Span { start, content, end });
            }
        } else if !tag.starts_with("<!") && !tag.starts_with("<?") && !tag.ends_with("/>") {
            open.push((start, end));
        }
        from = end;
    }
    found
}
