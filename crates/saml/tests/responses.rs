//! Responses of the test identity provider, good ones and attacks; `make_responses.py` beside this file has written them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on shall say where")]

use std::collections::HashMap;

use chrono::DateTime;
use selvedge_saml::{
    Claims, IdentityProvider, PrivateKey, ServiceProvider, ServiceProviderOptions, SignaturePolicy,
    UnverifiedResponse, parse_identity_provider, parse_service_addresses,
};
use serde::Deserialize;

/// A response, and whether it signs the user in.
#[derive(Deserialize)]
struct Case {
    name: String,
    accepted: bool,
    xml: String,
}

#[derive(Deserialize)]
struct Data {
    /// The time at which all responses were issued, in Unix seconds.
    now: i64,
    metadata: String,
    keys: HashMap<String, String>,
    cases: Vec<Case>,
}

impl Data {
    fn load() -> Self {
        serde_json::from_str(include_str!("data/responses.json")).unwrap()
    }

    fn provider(&self) -> IdentityProvider {
        parse_identity_provider(self.metadata.as_bytes()).unwrap()
    }

    fn service(&self, allow_encrypted: bool, allow_sha1: bool) -> ServiceProvider {
        ServiceProvider::new(ServiceProviderOptions {
            external_url: "https://project.example/auth/v1".to_owned(),
            certificate_host: "project.example".to_owned(),
            key: PrivateKey::from_base64(&self.keys["sp"]).unwrap(),
            next_key: Some(PrivateKey::from_base64(&self.keys["sp_next"]).unwrap()),
            allow_encrypted,
            policy: SignaturePolicy { allow_sha1 },
        })
    }

    fn xml(&self, name: &str) -> &str {
        &self.cases.iter().find(|case| case.name == name).unwrap().xml
    }

    fn verify(&self, service: &ServiceProvider, xml: &[u8], request: Option<&str>) -> Option<Claims> {
        let now = DateTime::from_timestamp(self.now, 0).unwrap();
        let response = UnverifiedResponse::from_xml(xml).ok()?;
        response.verify(service, &self.provider(), request, now).ok()
    }
}

#[test]
fn saml_010_good_responses_are_accepted_and_attacks_are_not() {
    let data = Data::load();
    let service = data.service(true, false);
    for case in &data.cases {
        let claims = data.verify(&service, case.xml.as_bytes(), Some("id-request"));
        assert_eq!(claims.is_some(), case.accepted, "{}: {claims:?}", case.name);
        if let Some(claims) = claims {
            assert_eq!(claims.name_id.unwrap().value, "user", "{}", case.name);
            assert_eq!(claims.attributes[0].values, ["user@idp.example"], "{}", case.name);
        }
    }
}

#[test]
fn saml_012_a_response_without_a_request_must_not_answer_one() {
    let data = Data::load();
    let service = data.service(true, false);
    assert!(
        data.verify(&service, data.xml("plain").as_bytes(), None)
            .is_none()
    );
    assert!(
        data.verify(&service, data.xml("answers no request").as_bytes(), None)
            .is_some()
    );
}

#[test]
fn saml_009_encrypted_assertions_are_refused_unless_they_are_allowed() {
    let data = Data::load();
    let service = data.service(false, false);
    assert!(
        data.verify(&service, data.xml("encrypted cbc").as_bytes(), Some("id-request"))
            .is_none()
    );
    assert!(
        data.verify(&service, data.xml("plain").as_bytes(), Some("id-request"))
            .is_some()
    );
}

#[test]
fn saml_008_sha1_counts_only_where_it_is_allowed() {
    let data = Data::load();
    let sha1 = data.xml("sha1").as_bytes();
    assert!(
        data.verify(&data.service(true, false), sha1, Some("id-request"))
            .is_none()
    );
    assert!(
        data.verify(&data.service(true, true), sha1, Some("id-request"))
            .is_some()
    );
}

#[test]
fn saml_010_a_changed_byte_never_changes_what_is_claimed() {
    let data = Data::load();
    let service = data.service(true, false);
    let expected = data.verify(&service, data.xml("plain").as_bytes(), Some("id-request"));
    let original = data.xml("plain").as_bytes();
    for position in (0..original.len()).step_by(3) {
        let mut changed = original.to_vec();
        changed[position] ^= if position % 2 == 0 { 0x01 } else { 0x20 };
        let claims = data.verify(&service, &changed, Some("id-request"));
        assert!(claims.is_none() || claims == expected, "byte {position}");
        // A cut document must not make anything panic either.
        assert!(
            data.verify(&service, &original[..position], Some("id-request"))
                .is_none()
        );
    }
}

#[test]
fn saml_001_the_addresses_in_the_metadata_are_those_of_the_service() {
    let service = Data::load().service(true, false);
    let now = DateTime::from_timestamp(1_767_225_600, 0).unwrap();
    let addresses = parse_service_addresses(service.metadata(now, false).as_bytes()).unwrap();
    assert_eq!(addresses.entity_id, service.entity_id);
    assert_eq!(addresses.acs_url, service.acs_url);
}

#[test]
fn saml_014_metadata_with_a_location_that_no_header_can_hold_are_refused() {
    let data = Data::load();
    let location = "https://idp.example/saml/sso";
    assert!(data.metadata.contains(location));
    for bad in [
        "https://idp.example/saml s so",
        "https://idp.example/saml/sso&#10;",
        "javascript:alert(1)",
    ] {
        let metadata = data.metadata.replace(location, bad);
        assert!(
            parse_identity_provider(metadata.as_bytes()).is_err(),
            "{bad} must be refused"
        );
    }
}
