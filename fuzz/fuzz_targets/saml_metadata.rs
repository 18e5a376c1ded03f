//! Metadata of an identity provider: what is accepted sends browsers only to a web address, with a request that the address
//! cannot be mistaken for a part of.
#![no_main]

use std::sync::LazyLock;

use chrono::DateTime;
use libfuzzer_sys::fuzz_target;
use selvedge_saml::{
    PrivateKey, ServiceProvider, ServiceProviderOptions, SignaturePolicy, parse_identity_provider,
};
use serde_json::Value;
use url::Url;

static SERVICE: LazyLock<ServiceProvider> = LazyLock::new(|| {
    let data: Value = serde_json::from_str(include_str!("../../crates/saml/tests/data/responses.json"))
        .expect("the tests' data can be read");
    let key = data["keys"]["sp"].as_str().expect("a key of the tests");
    ServiceProvider::new(ServiceProviderOptions {
        external_url: "https://project.example/auth/v1".to_owned(),
        certificate_host: "project.example".to_owned(),
        key: PrivateKey::from_base64(key).expect("a key of the tests"),
        next_key: None,
        allow_encrypted: false,
        policy: SignaturePolicy::default(),
    })
});

fuzz_target!(|xml: &[u8]| {
    let Ok(provider) = parse_identity_provider(xml) else {
        return;
    };
    assert!(!provider.entity_id.is_empty(), "the entity is known by its name");
    let Some(location) = provider.redirect_location else {
        return;
    };
    let now = DateTime::from_timestamp(1_767_225_600, 0).expect("a time");
    let url = SERVICE.sign_in_url(&location, "id-request", "state", "format", now);
    let (expected, url) = (
        Url::parse(&location).expect("a checked location"),
        Url::parse(&url).expect("the URL of a sign-in"),
    );
    assert!(matches!(url.scheme(), "http" | "https"));
    assert_eq!(url.origin(), expected.origin());
    assert_eq!(url.path(), expected.path());
    let own = url.query_pairs().filter(|(name, _)| name == "RelayState").last();
    assert_eq!(own.expect("a parameter of the request").1, "state");
    assert_eq!(url.fragment(), None, "a fragment would not reach the provider");
});
