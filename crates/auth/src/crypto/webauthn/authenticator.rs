//! The binary formats of authenticators: authenticator data, and the attestation object that contains it at a
//! registration.

use ciborium::Value as Cbor;
use uuid::Uuid;

use super::error::WebauthnError;

/// Authenticator data (W3C Web Authentication §6.1): 32 bytes hash, 1 byte flags, 4 bytes counter, then a new
/// credential if any.
#[derive(Debug, Clone)]
pub(super) struct AuthenticatorData {
    /// SHA-256 of the relying party's id, which is the site's domain.
    pub(super) relying_party_hash: [u8; 32],
    pub(super) flags: Flags,
    /// Signatures that the authenticator has made so far; 0 when it does not count.
    pub(super) sign_count: u32,
    /// The new credential; only a registration has one.
    pub(super) attested: Option<Attested>,
}

/// Attested credential data (W3C Web Authentication §6.5.1): a new credential inside the authenticator data.
#[derive(Debug, Clone)]
pub(super) struct Attested {
    /// Model of the authenticator; all zeros when it does not report one.
    pub(super) aaguid: Uuid,
    /// Credential id, chosen by the authenticator.
    pub(super) id: Vec<u8>,
    /// The COSE key, undecoded.
    pub(super) public_key: Vec<u8>,
}

/// The flags byte (W3C Web Authentication §6.1): bit 0 user present, 3 backup eligible, 4 backed up, 6 attested
/// credential data included. Bit 2, user verified, is not read, because the options ask for verification only as
/// `preferred`.
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
    /// Parses the bytes. Extension data at the end is ignored.
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
        // The format has no length for the key: it is one CBOR item, and extension data may follow it. Decoding the
        // item finds its end.
        let mut unread = rest;
        let _: Cbor = ciborium::from_reader(&mut unread).map_err(|_| WebauthnError::Malformed)?;
        Ok(Self {
            aaguid: Uuid::from_bytes(*aaguid),
            id: id.to_vec(),
            public_key: rest[..rest.len() - unread.len()].to_vec(),
        })
    }
}

/// Reads the authenticator data of an attestation object (W3C Web Authentication §6.5.4). The attestation statement
/// beside it is ignored, because the options ask for none.
pub(super) fn parse_attestation_object(bytes: &[u8]) -> Result<AuthenticatorData, WebauthnError> {
    let object: Cbor = ciborium::from_reader(bytes).map_err(|_| WebauthnError::Malformed)?;
    let members = object.as_map().ok_or(WebauthnError::Malformed)?;
    let data = members
        .iter()
        .find(|(name, _)| name.as_text() == Some("authData"))
        .and_then(|(_, value)| value.as_bytes())
        .ok_or(WebauthnError::Malformed)?;
    AuthenticatorData::parse(data)
}
