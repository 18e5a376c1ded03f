//! WebAuthn, as far as a relying party without attestation needs it: registering a credential, and having it prove itself.
//!
//! In: what a browser sends, and what we asked for. Out: a credential, or the reason why it is none. Statements about who built an
//! authenticator are not read: we ask for none, and trust none. Source: W3C Web Authentication Level 3, §7; Auth contract §2.12, §2.13.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::equal_secrets;

mod authenticator;
mod cose;

use authenticator::AuthenticatorData;

/// How long a browser may take.
const TIMEOUT_MS: u32 = 300_000;
const LONGEST_ID_BYTES: usize = 1023;

/// Why a credential is not accepted. For logs and for people who build clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WebauthnError {
    #[error("the credential cannot be read")]
    Malformed,
    #[error("the answer is to another kind of question")]
    WrongType,
    #[error("the answer is to another challenge")]
    WrongChallenge,
    #[error("the ceremony took place on another site")]
    WrongOrigin,
    #[error("the credential belongs to another site")]
    WrongRelyingParty,
    #[error("nobody was present")]
    NotPresent,
    #[error("the key is of a kind we do not know")]
    UnknownKey,
    #[error("the credential is another one")]
    OtherCredential,
    #[error("the signature is wrong")]
    BadSignature,
    #[error("the counter has not moved: the authenticator may be a copy")]
    Cloned,
}

/// The site that credentials are for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RelyingParty {
    /// A domain.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) origins: Vec<String>,
}

/// A ceremony that has begun; kept until its answer comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ceremony {
    challenge: String,
    relying_party: RelyingParty,
}

/// A credential of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Credential {
    #[serde(with = "base64url")]
    pub(crate) id: Vec<u8>,
    /// COSE, as the authenticator gave it.
    #[serde(with = "base64url")]
    pub(crate) public_key: Vec<u8>,
    pub(crate) sign_count: u32,
    pub(crate) aaguid: Uuid,
    pub(crate) transports: Vec<String>,
    pub(crate) backup_eligible: bool,
    pub(crate) backed_up: bool,
}

/// Who registers a credential.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registrant<'a> {
    pub(crate) id: Uuid,
    pub(crate) name: &'a str,
}

impl Ceremony {
    /// Begins a ceremony.
    pub(crate) fn new(relying_party: RelyingParty) -> Self {
        let challenge: [u8; 32] = rand::random();
        Self {
            challenge: URL_SAFE_NO_PAD.encode(challenge),
            relying_party,
        }
    }

    /// `PublicKeyCredentialCreationOptions`
    pub(crate) fn creation_options(
        &self,
        user: Registrant<'_>,
        known: &[Credential],
        is_passkey: bool,
    ) -> Value {
        let residence = if is_passkey { "required" } else { "preferred" };
        json!({
            "rp": {"name": self.relying_party.name, "id": self.relying_party.id},
            "user": {
                "name": user.name,
                "displayName": user.name,
                "id": URL_SAFE_NO_PAD.encode(user.id.to_string()),
            },
            "challenge": self.challenge,
            "pubKeyCredParams": cose::ALGORITHMS.map(|alg| json!({"type": "public-key", "alg": alg})),
            "timeout": TIMEOUT_MS,
            "excludeCredentials": descriptors(known),
            "authenticatorSelection": {
                "requireResidentKey": is_passkey,
                "residentKey": residence,
                "userVerification": "preferred",
            },
            "attestation": "none",
        })
    }

    /// `PublicKeyCredentialRequestOptions`; no known credentials mean any of this site.
    pub(crate) fn request_options(&self, known: &[Credential]) -> Value {
        let mut options = json!({
            "challenge": self.challenge,
            "timeout": TIMEOUT_MS,
            "rpId": self.relying_party.id,
            "userVerification": "preferred",
        });
        if !known.is_empty() {
            options["allowCredentials"] = descriptors(known);
        }
        options
    }

    /// Checks the answer to [`Self::creation_options`].
    ///
    /// # Errors
    /// [`WebauthnError`]
    pub(crate) fn register(&self, answer: &Value) -> Result<Credential, WebauthnError> {
        let response = &answer["response"];
        self.check_client_data(&bytes(&response["clientDataJSON"])?, "webauthn.create")?;
        let data = authenticator::data_of_attestation(&bytes(&response["attestationObject"])?)?;
        self.check_authenticator(&data)?;
        let attested = data.attested.ok_or(WebauthnError::Malformed)?;
        if attested.id.len() > LONGEST_ID_BYTES || attested.id != id_of(answer)? {
            return Err(WebauthnError::OtherCredential);
        }
        cose::PublicKey::parse(&attested.public_key)?;
        let transports = response["transports"].as_array().into_iter().flatten();
        Ok(Credential {
            id: attested.id,
            public_key: attested.public_key,
            sign_count: data.sign_count,
            aaguid: attested.aaguid,
            transports: transports
                .filter_map(|transport| transport.as_str().map(str::to_owned))
                .take(8)
                .collect(),
            backup_eligible: data.flags.backup_eligible(),
            backed_up: data.flags.backed_up(),
        })
    }

    /// Checks the answer to [`Self::request_options`]; the credential with its counter moved.
    ///
    /// # Errors
    /// [`WebauthnError`]
    pub(crate) fn authenticate(
        &self,
        answer: &Value,
        credential: &Credential,
    ) -> Result<Credential, WebauthnError> {
        if id_of(answer)? != credential.id {
            return Err(WebauthnError::OtherCredential);
        }
        let response = &answer["response"];
        let client_data = bytes(&response["clientDataJSON"])?;
        self.check_client_data(&client_data, "webauthn.get")?;
        let raw = bytes(&response["authenticatorData"])?;
        let data = AuthenticatorData::parse(&raw)?;
        self.check_authenticator(&data)?;
        let signed = [raw.as_slice(), &Sha256::digest(&client_data)].concat();
        let key = cose::PublicKey::parse(&credential.public_key)?;
        if !key.verify(&signed, &bytes(&response["signature"])?) {
            return Err(WebauthnError::BadSignature);
        }
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

    fn check_client_data(&self, client_data: &[u8], kind: &str) -> Result<(), WebauthnError> {
        let data: Value = serde_json::from_slice(client_data).map_err(|_| WebauthnError::Malformed)?;
        let text = |name: &str| data[name].as_str().unwrap_or_default();
        if text("type") != kind {
            return Err(WebauthnError::WrongType);
        }
        if !equal_secrets(text("challenge").trim_end_matches('='), &self.challenge) {
            return Err(WebauthnError::WrongChallenge);
        }
        let origin = text("origin").trim_end_matches('/');
        let is_ours = |known: &String| known.trim_end_matches('/').eq_ignore_ascii_case(origin);
        if data["crossOrigin"] == true || !self.relying_party.origins.iter().any(is_ours) {
            return Err(WebauthnError::WrongOrigin);
        }
        Ok(())
    }

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

/// The id of the credential that an answer is about.
pub(crate) fn id_of(answer: &Value) -> Result<Vec<u8>, WebauthnError> {
    let id = if answer["rawId"].is_string() {
        &answer["rawId"]
    } else {
        &answer["id"]
    };
    bytes(id)
}

/// Whose passkey it is, as the authenticator remembers.
pub(crate) fn user_of(answer: &Value) -> Option<Uuid> {
    let handle = bytes(&answer["response"]["userHandle"]).ok()?;
    std::str::from_utf8(&handle).ok()?.parse().ok()
}

fn descriptors(known: &[Credential]) -> Value {
    let descriptor = |credential: &Credential| {
        json!({
            "type": "public-key",
            "id": URL_SAFE_NO_PAD.encode(&credential.id),
            "transports": credential.transports,
        })
    };
    known.iter().map(descriptor).collect()
}

/// Bytes as clients write them: base 64 with the alphabet of URLs, padded or not.
fn bytes(value: &Value) -> Result<Vec<u8>, WebauthnError> {
    let text = value.as_str().ok_or(WebauthnError::Malformed)?;
    let text = text.trim_end_matches('=').replace('+', "-").replace('/', "_");
    URL_SAFE_NO_PAD.decode(text).map_err(|_| WebauthnError::Malformed)
}

/// Bytes inside our own JSON.
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
