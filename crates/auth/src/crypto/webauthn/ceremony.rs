//! A WebAuthn ceremony, which is a registration or a sign-in: its options for the browser, and the verification of the
//! response.
//!
//! The caller stores the ceremony between the two requests and makes sure that each is verified once and in time.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::authenticator::{self, AuthenticatorData};
use super::cose;
use super::error::WebauthnError;
use super::options::{
    AuthenticatorSelection, CreationOptions, CredentialDescriptor, CredentialParameter, RelyingPartyEntity,
    RequestOptions, UserEntity,
};
use crate::crypto::equal_secrets;

/// How long the browser waits for the user, in milliseconds; by default a stored challenge is valid as long.
const TIMEOUT_MS: u32 = 300_000;

/// The specification's limit for a credential id (Level 3, §7.1).
const MAX_ID_BYTES: usize = 1023;

/// Longest list of transports that is stored. The client sends the list, and WebAuthn defines fewer transports than
/// this.
const MAX_TRANSPORTS: usize = 8;

/// The relying party: the site at which users sign in with their credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RelyingParty {
    /// The domain that credentials are bound to.
    pub(crate) id: String,
    /// Name that the browser shows to the user.
    pub(crate) name: String,
    /// Origins whose pages may run a ceremony.
    pub(crate) origins: Vec<String>,
}

/// A ceremony whose response is awaited. It is stored as JSON with its challenge, together with the relying party of
/// its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ceremony {
    /// 32 random bytes in base64url, which the browser includes in the data that the authenticator signs.
    challenge: String,
    relying_party: RelyingParty,
}

/// A registered credential, as stored: a later sign-in is verified with its public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Credential {
    #[serde(with = "base64url")]
    pub(crate) id: Vec<u8>,
    /// The COSE key, byte for byte as the authenticator sent it.
    #[serde(with = "base64url")]
    pub(crate) public_key: Vec<u8>,
    /// The authenticator's signature counter at the last ceremony; 0 when it does not count.
    pub(crate) sign_count: u32,
    /// Model of the authenticator; all zeros when unknown.
    pub(crate) aaguid: Uuid,
    /// How browsers reach the authenticator (`usb`, `internal`, …), for the options of later ceremonies.
    pub(crate) transports: Vec<String>,
    /// Whether the private key may be copied to other devices, as passkeys of a phone are.
    pub(crate) backup_eligible: bool,
    /// Whether such a copy exists.
    pub(crate) backed_up: bool,
}

/// The user who registers a credential: id, and the name that the browser shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registrant<'a> {
    pub(crate) id: Uuid,
    pub(crate) name: &'a str,
}

impl Ceremony {
    /// Starts a ceremony with a random challenge.
    pub(crate) fn new(relying_party: RelyingParty) -> Self {
        let challenge: [u8; 32] = rand::random();
        Self {
            challenge: URL_SAFE_NO_PAD.encode(challenge),
            relying_party,
        }
    }

    /// Builds the options of a registration. Credentials in `known` are excluded, so that a user cannot
    /// register a device twice. A passkey must be discoverable (`residentKey`), because its user signs in
    /// without a name; a second factor need not.
    pub(crate) fn build_creation_options(
        &self,
        user: Registrant<'_>,
        known: &[Credential],
        is_passkey: bool,
    ) -> CreationOptions {
        CreationOptions {
            rp: RelyingPartyEntity {
                name: self.relying_party.name.clone(),
                id: self.relying_party.id.clone(),
            },
            user: UserEntity {
                name: user.name.to_owned(),
                display_name: user.name.to_owned(),
                // Compat: the user handle is the text of the UUID, not its 16 bytes, as in GoTrue.
                id: URL_SAFE_NO_PAD.encode(user.id.to_string()),
            },
            challenge: self.challenge.clone(),
            pub_key_cred_params: cose::ALGORITHMS.map(CredentialParameter::new),
            timeout: TIMEOUT_MS,
            exclude_credentials: build_descriptors(known),
            authenticator_selection: AuthenticatorSelection {
                require_resident_key: is_passkey,
                resident_key: if is_passkey { "required" } else { "preferred" },
                user_verification: "preferred",
            },
            attestation: "none",
        }
    }

    /// Builds the options of a sign-in. Without `known` credentials the browser offers any passkey of the
    /// site.
    pub(crate) fn build_request_options(&self, known: &[Credential]) -> RequestOptions {
        RequestOptions {
            challenge: self.challenge.clone(),
            timeout: TIMEOUT_MS,
            rp_id: self.relying_party.id.clone(),
            user_verification: "preferred",
            allow_credentials: build_descriptors(known),
        }
    }

    /// Verifies the browser's response to [`Self::build_creation_options`] and returns the new credential.
    ///
    /// # Errors
    /// [`WebauthnError`] for the first check of W3C Web Authentication §7.1 that fails.
    pub(crate) fn verify_registration(&self, body: &Value) -> Result<Credential, WebauthnError> {
        let response = &body["response"];
        self.check_client_data(&decode_bytes(&response["clientDataJSON"])?, "webauthn.create")?;
        let data = authenticator::parse_attestation_object(&decode_bytes(&response["attestationObject"])?)?;
        self.check_authenticator(&data)?;
        let attested = data.attested.ok_or(WebauthnError::Malformed)?;
        // The response names the credential twice; two different ids mean that its parts do not belong together.
        if attested.id.len() > MAX_ID_BYTES || attested.id != read_credential_id(body)? {
            return Err(WebauthnError::OtherCredential);
        }
        // A key that cannot be parsed is rejected now, because no later sign-in could succeed with it.
        cose::PublicKey::parse(&attested.public_key)?;
        let transports = response["transports"].as_array().into_iter().flatten();
        Ok(Credential {
            id: attested.id,
            public_key: attested.public_key,
            sign_count: data.sign_count,
            aaguid: attested.aaguid,
            transports: transports
                .filter_map(|transport| transport.as_str().map(str::to_owned))
                .take(MAX_TRANSPORTS)
                .collect(),
            backup_eligible: data.flags.backup_eligible(),
            backed_up: data.flags.backed_up(),
        })
    }

    /// Verifies the browser's response to [`Self::build_request_options`] and returns the credential with its
    /// new counter.
    ///
    /// # Errors
    /// [`WebauthnError`] for the first check of W3C Web Authentication §7.2 that fails.
    pub(crate) fn verify_assertion(
        &self,
        body: &Value,
        credential: &Credential,
    ) -> Result<Credential, WebauthnError> {
        if read_credential_id(body)? != credential.id {
            return Err(WebauthnError::OtherCredential);
        }
        let response = &body["response"];
        let client_data = decode_bytes(&response["clientDataJSON"])?;
        self.check_client_data(&client_data, "webauthn.get")?;
        let raw = decode_bytes(&response["authenticatorData"])?;
        let data = AuthenticatorData::parse(&raw)?;
        self.check_authenticator(&data)?;
        // W3C Web Authentication §6.3.3: the signature covers the authenticator data and the hash of the client data.
        let signed = [raw.as_slice(), &Sha256::digest(&client_data)].concat();
        let key = cose::PublicKey::parse(&credential.public_key)?;
        if !key.verify(&signed, &decode_bytes(&response["signature"])?) {
            return Err(WebauthnError::BadSignature);
        }
        // Passkeys that are synchronised between devices always report 0. Any other counter must grow: one that does
        // not was seen before, so two devices have the same private key.
        let counts = data.sign_count != 0 || credential.sign_count != 0;
        if counts && data.sign_count <= credential.sign_count {
            return Err(WebauthnError::Cloned);
        }
        Ok(Credential {
            sign_count: data.sign_count,
            backed_up: data.flags.backed_up(),
            ..credential.clone()
        })
    }

    /// Checks type, challenge and origin of the client data, which the browser wrote (W3C Web Authentication §5.8.1).
    fn check_client_data(&self, client_data: &[u8], kind: &str) -> Result<(), WebauthnError> {
        let data: Value = serde_json::from_slice(client_data).map_err(|_| WebauthnError::Malformed)?;
        let text = |name: &str| data[name].as_str().unwrap_or_default();
        if text("type") != kind {
            return Err(WebauthnError::WrongType);
        }
        if !equal_secrets(text("challenge").trim_end_matches('='), &self.challenge) {
            return Err(WebauthnError::WrongChallenge);
        }
        // `crossOrigin` means that the page was in a frame of another site, which could hide from users what they agree
        // to.
        let origin = text("origin").trim_end_matches('/');
        let is_ours = |known: &String| known.trim_end_matches('/').eq_ignore_ascii_case(origin);
        if data["crossOrigin"] == true || !self.relying_party.origins.iter().any(is_ours) {
            return Err(WebauthnError::WrongOrigin);
        }
        Ok(())
    }

    /// Checks that the credential belongs to this site and that somebody touched or unlocked the authenticator.
    fn check_authenticator(&self, data: &AuthenticatorData) -> Result<(), WebauthnError> {
        if data.relying_party_hash[..] != Sha256::digest(&self.relying_party.id)[..] {
            return Err(WebauthnError::WrongRelyingParty);
        }
        if !data.flags.user_present() {
            return Err(WebauthnError::NotPresent);
        }
        Ok(())
    }
}

/// Reads the credential id of a browser's response: `rawId`, or `id` when a client leaves `rawId` out.
pub(crate) fn read_credential_id(body: &Value) -> Result<Vec<u8>, WebauthnError> {
    let id = if body["rawId"].is_string() {
        &body["rawId"]
    } else {
        &body["id"]
    };
    decode_bytes(id)
}

/// Reads the user id that the authenticator stored with a passkey; `None` when the response has none or it is not a
/// UUID.
pub(crate) fn read_user_handle(body: &Value) -> Option<Uuid> {
    let handle = decode_bytes(&body["response"]["userHandle"]).ok()?;
    std::str::from_utf8(&handle).ok()?.parse().ok()
}

/// Lists credentials as the browser knows them.
fn build_descriptors(known: &[Credential]) -> Vec<CredentialDescriptor> {
    let descriptor = |credential: &Credential| {
        CredentialDescriptor::new(
            URL_SAFE_NO_PAD.encode(&credential.id),
            credential.transports.clone(),
        )
    };
    known.iter().map(descriptor).collect()
}

/// Decodes bytes in JSON. Compat: besides base64url, plain base64 and padding are accepted, because client libraries
/// differ.
fn decode_bytes(value: &Value) -> Result<Vec<u8>, WebauthnError> {
    let text = value.as_str().ok_or(WebauthnError::Malformed)?;
    let text = text.trim_end_matches('=').replace('+', "-").replace('/', "_");
    URL_SAFE_NO_PAD.decode(text).map_err(|_| WebauthnError::Malformed)
}

/// Serde format of bytes in stored JSON: base64url without padding.
mod base64url {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        URL_SAFE_NO_PAD.decode(text).map_err(D::Error::custom)
    }
}
