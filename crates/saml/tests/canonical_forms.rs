//! Canonical forms of random documents are equal to those of libxml2. `make_canonical_forms.py` in this folder has generated
//! them; `CANONICAL_FORMS` names another output file of it.

use selvedge_saml::{CanonicalError, SignatureError};
use serde::Deserialize;

/// A document, and the canonical forms of some of its elements.
#[derive(Deserialize)]
struct Case {
    document: String,
    /// Local name of the element, URI of the form, prefixes to treat inclusively, and the form.
    forms: Vec<(String, String, String, String)>,
}

#[test]
fn saml_008_canonical_forms_are_those_of_libxml2() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/canonical_forms.json");
    let path = std::env::var("CANONICAL_FORMS").unwrap_or_else(|_| default.to_owned());
    let cases: Vec<Case> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(!cases.is_empty());
    for case in &cases {
        for (local, uri, prefixes, expected) in &case.forms {
            let written = selvedge_saml::canonical_form(case.document.as_bytes(), local, uri, prefixes);
            assert_eq!(
                written.as_ref(),
                Ok(expected),
                "{local} by {uri} [{prefixes}] of {}",
                case.document
            );
        }
    }
}

#[test]
fn saml_010_a_canonical_form_is_not_larger_than_a_document_may_be() {
    // The exclusive form shows the declaration at each of the elements, which would make 900 MB of 0.2 MB.
    let uri = "u".repeat(90_000);
    let document = format!("<a xmlns:p='{uri}'>{}</a>", "<p:b/>".repeat(10_000));
    let written = selvedge_saml::canonical_form(
        document.as_bytes(),
        "a",
        "http://www.w3.org/2001/10/xml-exc-c14n#",
        "",
    );
    assert_eq!(written, Err(SignatureError::Canonical(CanonicalError::TooLarge)));
}
