//! What an authenticator says, in its own binary form.

use ciborium::Value as Cbor;
use uuid::Uuid;

use super::WebauthnError;

/// `authenticatorData`, W3C Web Authentication §6.1.
#[derive(Debug, Clone)]
pub(super) struct AuthenticatorData {
    pub(super) relying_party_hash: [u8; 32],
    pub(super) flags: Flags,
    pub(super) sign_count: u32,
    pub(super) attested: Option<Attested>,
}

/// A new credential inside of it.
#[derive(Debug, Clone)]
pub(super) struct Attested {
    pub(super) aaguid: Uuid,
    pub(super) id: Vec<u8>,
    pub(super) public_key: Vec<u8>,
}

/// The flags byte.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flags(u8);

impl Flags {
    pub(super) fn user_present(self) -> bool {
        self.0 & 0x01 != 0
    }

    pub(super) fn backup_eligible(self) -> bool {
        self.0 & 0x08 != 0
    }

    pub(super) fn backed_up(self) -> bool {
        self.0 & 0x10 != 0
    }

    fn has_attested(self) -> bool {
        self.0 & 0x40 != 0
    }
}

impl AuthenticatorData {
    /// Reads the bytes. Extensions behind them are not looked at.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, WebauthnError> {
        let malformed = || WebauthnError::Malformed;
        let (relying_party_hash, rest) = bytes.split_first_chunk::<32>().ok_or_else(malformed)?;
        let (flags, rest) = rest.split_first().ok_or_else(malformed)?;
        let (sign_count, rest) = rest.split_first_chunk::<4>().ok_or_else(malformed)?;
        let flags = Flags(*flags);
        let attested = if flags.has_attested() {
            Some(Attested::parse(rest)?)
        } else {
            None
        };
        Ok(Self {
            relying_party_hash: *relying_party_hash,
            flags,
            sign_count: u32::from_be_bytes(*sign_count),
            attested,
        })
    }
}

impl Attested {
    fn parse(bytes: &[u8]) -> Result<Self, WebauthnError> {
        let malformed = || WebauthnError::Malformed;
        let (aaguid, rest) = bytes.split_first_chunk::<16>().ok_or_else(malformed)?;
        let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(malformed)?;
        let (id, rest) = rest
            .split_at_checked(usize::from(u16::from_be_bytes(*length)))
            .ok_or_else(malformed)?;
        // The key is one CBOR item; where it ends, extensions may begin.
        let mut unread = rest;
        let _: Cbor = ciborium::from_reader(&mut unread).map_err(|_| WebauthnError::Malformed)?;
        Ok(Self {
            aaguid: Uuid::from_bytes(*aaguid),
            id: id.to_vec(),
            public_key: rest[..rest.len() - unread.len()].to_vec(),
        })
    }
}

/// The authenticator data inside an attestation object.
pub(super) fn data_of_attestation(bytes: &[u8]) -> Result<AuthenticatorData, WebauthnError> {
    let object: Cbor = ciborium::from_reader(bytes).map_err(|_| WebauthnError::Malformed)?;
    let members = object.as_map().ok_or(WebauthnError::Malformed)?;
    let data = members
        .iter()
        .find(|(name, _)| name.as_text() == Some("authData"))
        .and_then(|(_, value)| value.as_bytes())
        .ok_or(WebauthnError::Malformed)?;
    AuthenticatorData::parse(data)
}
