//! One-time tokens of mails and text messages: the token of a link, which nobody can guess, and the code that people type,
//! whose guesses are counted.
//!
//! The two have nothing in common, so that knowing an address and trying codes does not lead to the token of a link. The
//! database holds the token as it is in the link, and the code as a hash with a key that the database does not have. Source:
//! Auth contract §3.4.

use hmac::{Hmac, KeyInit, Mac};
use rand::RngExt;
use selvedge_token::KeyRing;
use sha2::Sha256;
use uuid::Uuid;

use super::equal_secrets;

/// Prefix of a link's token when opening the link returns a code for `grant_type=pkce` instead of a session.
pub(crate) const PKCE_PREFIX: &str = "pkce_";
/// Random bytes of a link's token. In hex they have the length of the original's tokens, for which projects may have made
/// columns.
const TOKEN_BYTES: usize = 28;

/// A new token with a code, for one e-mail address or phone number.
#[derive(Debug, Clone)]
pub(crate) struct OneTimeCode {
    /// The digits that the user types; they are sent but never stored.
    pub(crate) otp: String,
    /// The token in the link, which is also what the database stores. Compat: clients call it `token_hash`.
    pub(crate) hash: String,
}

impl OneTimeCode {
    /// Generates a token, and a code of `length` digits; a length outside of 6 to 10 counts as 6. Codes may start with
    /// zeros.
    pub(crate) fn generate(length: u8, is_pkce: bool) -> Self {
        let digits = if (6..=10).contains(&length) {
            u32::from(length)
        } else {
            6
        };
        let number: u64 = rand::rng().random_range(0..10_u64.pow(digits));
        Self::with_code(format!("{number:0width$}", width = digits as usize), is_pkce)
    }

    /// Generates a token for a code that is given: the project's test code of a phone number.
    pub(crate) fn with_code(otp: String, is_pkce: bool) -> Self {
        let random: [u8; TOKEN_BYTES] = rand::random();
        let prefix = if is_pkce { PKCE_PREFIX } else { "" };
        Self {
            otp,
            hash: format!("{prefix}{}", hex::encode(random)),
        }
    }
}

/// What attempts are counted by, as hashes: the secret with the network that tries it, and the secret.
#[derive(Debug)]
pub(crate) struct AttemptSubject {
    pub(crate) of_network: Vec<u8>,
    pub(crate) of_all: Vec<u8>,
}

/// Hashes codes and phone numbers with a key of the project, so that whoever reads the database cannot try all codes.
pub(crate) struct CodeKey([u8; 32]);

impl CodeKey {
    /// Derives the key from the project's shared secret. All nodes have the same; after a change of the secret, pending codes
    /// are invalid.
    pub(crate) fn derive(keys: &KeyRing) -> Self {
        Self(keys.derive_key("one-time codes"))
    }

    /// The hash of a code for the row that holds it. The row's id is part of it, so that a hash is of no use in another row; the
    /// address is, too, in lowercase, because a user may type it in another case than at the sign-up.
    pub(crate) fn hash_code(&self, secret_id: Uuid, address: &str, otp: &str) -> Vec<u8> {
        let address = address.to_lowercase();
        // Lengths and separators keep apart what belongs to the address and to the code: neither holds a NUL.
        self.hash(&[
            secret_id.as_bytes(),
            b"\0",
            address.as_bytes(),
            b"\0",
            otp.as_bytes(),
        ])
    }

    /// The hash of a phone number, for a row that must not tell the number.
    pub(crate) fn hash_phone(&self, purpose: &str, phone: &str) -> Vec<u8> {
        self.hash(&[purpose.as_bytes(), b"\0", phone.as_bytes()])
    }

    /// The hash of a client's network, for the counts of attempts in the row of a code.
    pub(crate) fn hash_network(&self, network: &str) -> String {
        hex::encode(&self.hash(&[b"network\0", network.as_bytes()])[..16])
    }

    /// What attempts at a secret are counted by; `purpose` says what kind of secret it is.
    pub(crate) fn attempt_subject(&self, purpose: &str, secret: &[u8], network: &str) -> AttemptSubject {
        let purpose = purpose.as_bytes();
        AttemptSubject {
            of_network: self.hash(&[purpose, b"\0", secret, b"\0", network.as_bytes()]),
            of_all: self.hash(&[purpose, b"\0", secret]),
        }
    }

    fn hash(&self, parts: &[&[u8]]) -> Vec<u8> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().to_vec()
    }
}

/// The token of a request to `/verify`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PresentedToken {
    /// The token of a link, which must equal the stored one including a `pkce_` prefix. If the prefix could be left
    /// out, somebody who intercepts a mail could get a session without the PKCE verifier.
    Link(String),
    /// A code that the user typed, with the address that it was sent to.
    Code { address: String, otp: String },
}

impl PresentedToken {
    /// The address that a code was sent to; a link needs none.
    pub(crate) fn address(&self) -> Option<&str> {
        match self {
            Self::Link(_) => None,
            Self::Code { address, .. } => Some(address),
        }
    }
}

/// Whether the token of a link is the stored one. An empty stored token matches nothing: the user has no pending token.
pub(crate) fn matches_stored(token: &str, stored: &str) -> bool {
    !stored.is_empty() && equal_secrets(stored, token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(secret: &str) -> CodeKey {
        CodeKey::derive(&KeyRing::new(secret.as_bytes(), &[]).expect("a usable key"))
    }

    #[test]
    fn codes_have_the_configured_number_of_digits_or_six() {
        for (asked, got) in [(6, 6), (8, 8), (10, 10), (3, 6), (11, 6)] {
            let code = OneTimeCode::generate(asked, false);
            assert_eq!(code.otp.len(), got);
            assert!(code.otp.bytes().all(|byte| byte.is_ascii_digit()));
        }
    }

    #[test]
    fn auth_026_the_token_of_a_link_is_random_and_does_not_follow_from_address_and_code() {
        let (first, second) = (
            OneTimeCode::with_code("123456".to_owned(), false),
            OneTimeCode::with_code("123456".to_owned(), true),
        );

        assert_eq!(first.hash.len(), 56);
        assert!(first.hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(second.hash.strip_prefix(PKCE_PREFIX), Some(first.hash.as_str()));
        assert!(second.hash.starts_with(PKCE_PREFIX));
    }

    #[test]
    fn the_hash_of_a_code_depends_on_key_row_address_and_code() {
        let (key_a, key_b) = (
            key("a secret of at least thirty-two bytes"),
            key("b secret of at least thirty-two bytes"),
        );
        let (row, other_row) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let hash = key_a.hash_code(row, "a@b.c", "123456");

        assert_eq!(hash, key_a.hash_code(row, "A@B.c", "123456"));
        for other in [
            key_b.hash_code(row, "a@b.c", "123456"),
            key_a.hash_code(other_row, "a@b.c", "123456"),
            key_a.hash_code(row, "b@b.c", "123456"),
            key_a.hash_code(row, "a@b.c", "123457"),
            key_a.hash_code(row, "a@b.c1", "23456"),
        ] {
            assert_ne!(hash, other);
        }
    }

    #[test]
    fn an_empty_stored_token_matches_nothing() {
        assert!(matches_stored("abc", "abc"));
        assert!(!matches_stored("", "") && !matches_stored("abc", "pkce_abc"));
    }
}
