//! Names of SAML and of the standards that it builds on.

/// An element's namespace and local name.
pub(crate) type Name = (&'static str, &'static str);

pub(crate) const ASSERTION_NS: &str = "urn:oasis:names:tc:SAML:2.0:assertion";
pub(crate) const PROTOCOL_NS: &str = "urn:oasis:names:tc:SAML:2.0:protocol";
pub(crate) const METADATA_NS: &str = "urn:oasis:names:tc:SAML:2.0:metadata";
pub(crate) const SIGNATURE_NS: &str = "http://www.w3.org/2000/09/xmldsig#";
pub(crate) const ENCRYPTION_NS: &str = "http://www.w3.org/2001/04/xmlenc#";
pub(crate) const ENCRYPTION_11_NS: &str = "http://www.w3.org/2009/xmlenc11#";
pub(crate) const EXCLUSIVE_C14N: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";

pub(crate) const RESPONSE: Name = (PROTOCOL_NS, "Response");
pub(crate) const ASSERTION: Name = (ASSERTION_NS, "Assertion");
pub(crate) const ENCRYPTED_ASSERTION: Name = (ASSERTION_NS, "EncryptedAssertion");
pub(crate) const ISSUER: Name = (ASSERTION_NS, "Issuer");
pub(crate) const SIGNATURE: Name = (SIGNATURE_NS, "Signature");

pub(crate) const REDIRECT_BINDING: &str = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect";
pub(crate) const POST_BINDING: &str = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";
pub(crate) const BEARER: &str = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
pub(crate) const STATUS_SUCCESS: &str = "urn:oasis:names:tc:SAML:2.0:status:Success";
pub(crate) const RSA_SHA256: &str = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
pub(crate) const RSA_OAEP: &str = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p";

/// Formats of a NameID (SAML 2.0 Core §8.3).
pub mod name_id_format {
    /// An e-mail address.
    pub const EMAIL_ADDRESS: &str = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress";
    /// A name that stays the same over sign-ins and reveals nothing about the user.
    pub const PERSISTENT: &str = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
    /// A name that changes with each sign-in.
    pub const TRANSIENT: &str = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";
    /// Whatever identity provider and application have agreed on.
    pub const UNSPECIFIED: &str = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified";
}
