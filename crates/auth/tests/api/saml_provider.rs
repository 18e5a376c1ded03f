//! A SAML identity provider for tests: metadata, and responses that it signs. It writes canonical XML itself, so that the
//! service's own canonical forms are not part of what they are tested with.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{SecondsFormat, TimeDelta, Utc};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use selvedge_saml::PrivateKey;
use serde_json::Value;

const ASSERTION_NS: &str = "urn:oasis:names:tc:SAML:2.0:assertion";
const PROTOCOL_NS: &str = "urn:oasis:names:tc:SAML:2.0:protocol";
const SIGNATURE_NS: &str = "http://www.w3.org/2000/09/xmldsig#";

/// The entity id of the test's identity provider.
pub(crate) const ENTITY_ID: &str = "https://idp.example/saml";

/// RSA keys, public and for tests only. The file is large, so it is read once.
static KEYS: LazyLock<Value> = LazyLock::new(|| {
    let data: Value = serde_json::from_str(include_str!("../../../saml/tests/data/responses.json")).unwrap();
    data["keys"].clone()
});
/// The key that the provider signs with.
static SIGNING_KEY: LazyLock<RsaKeyPair> =
    LazyLock::new(|| RsaKeyPair::from_der(&STANDARD.decode(read_key("sp_next")).unwrap()).unwrap());

/// One of [`KEYS`].
pub(crate) fn read_key(name: &str) -> String {
    KEYS[name].as_str().unwrap().to_owned()
}

/// What differs between responses.
pub(crate) struct Assertion<'a> {
    /// URL of the service that the response is for, such as `https://sso.example/auth/v1`.
    pub(crate) service: &'a str,
    /// The request that is answered; `None` for none.
    pub(crate) request: Option<&'a str>,
    pub(crate) assertion_id: &'a str,
    pub(crate) name_id: &'a str,
    pub(crate) email: &'a str,
}

/// The metadata of the provider.
pub(crate) fn write_metadata() -> String {
    let certificate = PrivateKey::from_base64(&read_key("sp_next")).unwrap();
    let certificate = STANDARD.encode(certificate.certificate("idp.example", false));
    format!(
        "<EntityDescriptor xmlns=\"urn:oasis:names:tc:SAML:2.0:metadata\" entityID=\"{ENTITY_ID}\"><IDPSSODescriptor \
         protocolSupportEnumeration=\"{PROTOCOL_NS}\"><KeyDescriptor use=\"signing\"><KeyInfo xmlns=\"{SIGNATURE_NS}\">\
         <X509Data><X509Certificate>{certificate}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>\
         <SingleSignOnService Binding=\"urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect\" \
         Location=\"https://idp.example/sso\"/></IDPSSODescriptor></EntityDescriptor>"
    )
}

/// A signed response, as the form field `SAMLResponse`.
pub(crate) fn write_response(assertion: &Assertion<'_>) -> String {
    let now = Utc::now();
    let at = |seconds| (now + TimeDelta::seconds(seconds)).to_rfc3339_opts(SecondsFormat::Secs, true);
    let (issued, until) = (at(0), at(120));
    let Assertion {
        service,
        request,
        assertion_id,
        name_id,
        email,
    } = assertion;
    let answers = request
        .map(|id| format!(" InResponseTo=\"{id}\""))
        .unwrap_or_default();
    let acs = format!("{service}/sso/saml/acs");
    // Attributes are in the order of the canonical form, which is that of their names.
    let body = format!(
        "<saml:Subject><saml:NameID>{name_id}</saml:NameID><saml:SubjectConfirmation \
         Method=\"urn:oasis:names:tc:SAML:2.0:cm:bearer\"><saml:SubjectConfirmationData{answers} NotOnOrAfter=\"{until}\" \
         Recipient=\"{acs}\"></saml:SubjectConfirmationData></saml:SubjectConfirmation></saml:Subject>\
         <saml:Conditions NotOnOrAfter=\"{until}\"><saml:AudienceRestriction><saml:Audience>{service}/sso/saml/metadata\
         </saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AttributeStatement>\
         <saml:Attribute Name=\"email\"><saml:AttributeValue>{email}</saml:AttributeValue></saml:Attribute>\
         </saml:AttributeStatement></saml:Assertion>"
    );
    let head = format!(
        "<saml:Assertion xmlns:saml=\"{ASSERTION_NS}\" ID=\"{assertion_id}\" IssueInstant=\"{issued}\" Version=\"2.0\">\
         <saml:Issuer>{ENTITY_ID}</saml:Issuer>"
    );
    let signature = sign(assertion_id, format!("{head}{body}").as_bytes());
    let response = format!(
        "<samlp:Response xmlns:samlp=\"{PROTOCOL_NS}\" ID=\"r{assertion_id}\" Version=\"2.0\" IssueInstant=\"{issued}\" \
         Destination=\"{acs}\"{answers}><saml:Issuer xmlns:saml=\"{ASSERTION_NS}\">{ENTITY_ID}</saml:Issuer><samlp:Status><samlp:StatusCode \
         Value=\"urn:oasis:names:tc:SAML:2.0:status:Success\"/></samlp:Status>{head}{signature}{body}</samlp:Response>"
    );
    STANDARD.encode(response)
}

fn sign(id: &str, canonical: &[u8]) -> String {
    let digest_value = STANDARD.encode(digest(&SHA256, canonical));
    let info = |namespace: &str| {
        format!(
            "<ds:SignedInfo{namespace}><ds:CanonicalizationMethod Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\">\
             </ds:CanonicalizationMethod><ds:SignatureMethod Algorithm=\"http://www.w3.org/2001/04/xmldsig-more#rsa-sha256\">\
             </ds:SignatureMethod><ds:Reference URI=\"#{id}\"><ds:Transforms><ds:Transform \
             Algorithm=\"{SIGNATURE_NS}enveloped-signature\"></ds:Transform><ds:Transform \
             Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"></ds:Transform></ds:Transforms><ds:DigestMethod \
             Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"></ds:DigestMethod><ds:DigestValue>{digest_value}\
             </ds:DigestValue></ds:Reference></ds:SignedInfo>"
        )
    };
    let namespace = format!(" xmlns:ds=\"{SIGNATURE_NS}\"");
    let mut signature = vec![0; SIGNING_KEY.public().modulus_len()];
    let message = info(&namespace);
    SIGNING_KEY
        .sign(
            &RSA_PKCS1_SHA256,
            &SystemRandom::new(),
            message.as_bytes(),
            &mut signature,
        )
        .unwrap();
    format!(
        "<ds:Signature{namespace}>{}<ds:SignatureValue>{}</ds:SignatureValue></ds:Signature>",
        info(""),
        STANDARD.encode(signature)
    )
}
