//! Ids of users in each provider's style.
//!
//! An id is derived from person and provider, so that it is always the same.

use sha2::{Digest, Sha256};
use uuid::Uuid;

const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &[u8] = b"ABCDEFGHJKMNPQRSTVWXYZ0123456789";
const MIXED: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The form of a provider's user ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubjectStyle {
    /// A JSON number with so many digits.
    Number(usize),
    /// A string of this many digits.
    Digits(usize),
    /// A UUID.
    Uuid,
    /// A UUID in braces, as Atlassian writes them.
    BracedUuid,
    /// Lower-case letters and digits.
    Lower(usize),
    /// A prefix, then capital letters and digits.
    Prefixed(&'static str, usize),
    /// This many characters of base64url.
    Mixed(usize),
    /// `001234.<32 hex digits>.0042`, as Apple writes them.
    Apple,
}

impl SubjectStyle {
    /// Whether the provider's API returns the id as a number, so that a text cannot be one.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// The id of a person at a provider.
    pub(super) fn make_id(self, provider: &str, person: &str) -> String {
        // A hash, so that the ids of one person at two providers do not resemble each other.
        let digest: [u8; 32] = Sha256::digest(format!("{provider} {person}")).into();
        let pick = |count: usize, alphabet: &[u8]| -> String {
            // Two rounds of the digest cover ids that are longer than it.
            let more: [u8; 32] = Sha256::digest(digest).into();
            digest
                .iter()
                .chain(&more)
                .take(count)
                .map(|byte| char::from(alphabet[usize::from(*byte) % alphabet.len()]))
                .collect()
        };
        match self {
            // The leading 1 keeps the number of digits.
            Self::Number(count) | Self::Digits(count) => format!("1{}", pick(count - 1, b"0123456789")),
            Self::Uuid => make_uuid(digest),
            Self::BracedUuid => format!("{{{}}}", make_uuid(digest)),
            Self::Lower(count) => pick(count, LOWER),
            Self::Prefixed(prefix, count) => format!("{prefix}{}", pick(count, UPPER)),
            Self::Mixed(count) => pick(count, MIXED),
            Self::Apple => format!(
                "00{}.{}.{}",
                pick(4, b"0123456789"),
                hex::encode(&digest[..16]),
                pick(4, b"0123456789")
            ),
        }
    }
}

fn make_uuid(digest: [u8; 32]) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

/// A random text that cannot be guessed, for codes, tokens and pending requests.
pub(super) fn make_secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_of_their_provider_and_stay_the_same() {
        let google = SubjectStyle::Digits(21).make_id("google", "ana");

        assert_eq!(google.len(), 21);
        assert!(google.bytes().all(|byte| byte.is_ascii_digit()));
        assert_eq!(google, SubjectStyle::Digits(21).make_id("google", "ana"));
        assert_ne!(google, SubjectStyle::Digits(21).make_id("google", "ben"));
        assert!(
            SubjectStyle::Number(9)
                .make_id("github", "ana")
                .parse::<u64>()
                .is_ok()
        );
        assert_eq!(SubjectStyle::Apple.make_id("apple", "ana").split('.').count(), 3);
    }
}
