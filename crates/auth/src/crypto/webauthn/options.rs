//! The options of a WebAuthn ceremony, which the browser gets as JSON. Bytes are base64url without padding,
//! times are in milliseconds. Source: W3C Web Authentication Level 3, §5.4, §5.5.

use serde::Serialize;

/// `PublicKeyCredentialCreationOptions`, for a registration.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreationOptions {
    pub(super) rp: RelyingPartyEntity,
    pub(super) user: UserEntity,
    pub(super) challenge: String,
    pub(super) pub_key_cred_params: [CredentialParameter; 3],
    pub(super) timeout: u32,
    /// Credentials whose authenticators must not register another one.
    pub(super) exclude_credentials: Vec<CredentialDescriptor>,
    pub(super) authenticator_selection: AuthenticatorSelection,
    pub(super) attestation: &'static str,
}

/// `PublicKeyCredentialRequestOptions`, for a sign-in.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestOptions {
    pub(super) challenge: String,
    pub(super) timeout: u32,
    pub(super) rp_id: String,
    pub(super) user_verification: &'static str,
    /// Left out when any passkey of the site is accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) allow_credentials: Vec<CredentialDescriptor>,
}

/// The site, as the browser shows it.
#[derive(Debug, Serialize)]
pub(super) struct RelyingPartyEntity {
    pub(super) name: String,
    pub(super) id: String,
}

/// The user who registers, as the browser shows them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserEntity {
    pub(super) name: String,
    pub(super) display_name: String,
    /// The user handle, which the authenticator stores and returns at a sign-in.
    pub(super) id: String,
}

/// An algorithm that a new credential may have, by its COSE number.
#[derive(Debug, Serialize)]
pub(super) struct CredentialParameter {
    #[serde(rename = "type")]
    kind: &'static str,
    alg: i64,
}

impl CredentialParameter {
    pub(super) fn new(alg: i64) -> Self {
        Self {
            kind: "public-key",
            alg,
        }
    }
}

/// A credential that is registered already.
#[derive(Debug, Serialize)]
pub(super) struct CredentialDescriptor {
    #[serde(rename = "type")]
    kind: &'static str,
    id: String,
    transports: Vec<String>,
}

impl CredentialDescriptor {
    pub(super) fn new(id: String, transports: Vec<String>) -> Self {
        Self {
            kind: "public-key",
            id,
            transports,
        }
    }
}

/// What the authenticator must support.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthenticatorSelection {
    /// Compat: the older form of `residentKey`, which browsers of Level 1 read.
    pub(super) require_resident_key: bool,
    pub(super) resident_key: &'static str,
    pub(super) user_verification: &'static str,
}
