//! Rules about values: passwords, addresses, codes, redirect targets, PKCE. Pure: text in, verdict out.

pub(crate) mod address;
pub(crate) mod counter_token;
pub(crate) mod glob;
pub(crate) mod oauth_client;
pub(crate) mod one_time_code;
pub(crate) mod password;
pub(crate) mod password_hash;
pub(crate) mod pkce;
pub(crate) mod redirect;
pub(crate) mod saml_metadata;
pub(crate) mod totp;
pub(crate) mod wallet_message;
pub(crate) mod webauthn;

/// Compares two secrets in a time that does not tell where they differ.
pub(crate) fn equal_secrets(a: &str, b: &str) -> bool {
    use subtle::ConstantTimeEq;
    a.as_bytes().ct_eq(b.as_bytes()).into()
}
