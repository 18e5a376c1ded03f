//! One-time codes and the hashes under which they are kept and mailed. Source: Auth contract §3.4.

use rand::RngExt;
use sha2::{Digest, Sha224};

use super::equal_secrets;

/// Marks the token of a link that ends in a PKCE exchange.
pub(crate) const PKCE_PREFIX: &str = "pkce_";

/// A fresh code for one address.
#[derive(Debug, Clone)]
pub(crate) struct OneTimeCode {
    /// What a person types.
    pub(crate) otp: String,
    /// What the link carries and the database keeps.
    pub(crate) hash: String,
}

impl OneTimeCode {
    /// Draws `length` digits for `address`; a length outside 6 to 10 counts as 6.
    pub(crate) fn generate(address: &str, length: u8, is_pkce: bool) -> Self {
        let digits = if (6..=10).contains(&length) {
            u32::from(length)
        } else {
            6
        };
        let number: u64 = rand::rng().random_range(0..10_u64.pow(digits));
        let otp = format!("{number:0width$}", width = digits as usize);
        let hash = if is_pkce {
            format!("{PKCE_PREFIX}{}", hash(address, &otp))
        } else {
            hash(address, &otp)
        };
        Self { otp, hash }
    }
}

/// SHA-224 of address and code in lowercase hex. The address is lowercased, so that its spelling does not matter.
pub(crate) fn hash(address: &str, otp: &str) -> String {
    let digest = Sha224::new()
        .chain_update(address.to_lowercase())
        .chain_update(otp)
        .finalize();
    hex::encode(digest)
}

/// Whether `stored` is the given hash, with or without the PKCE mark. An empty token matches nothing.
pub(crate) fn matches(stored: &str, presented: &str) -> bool {
    let bare = stored.strip_prefix(PKCE_PREFIX).unwrap_or(stored);
    !presented.is_empty()
        && !stored.is_empty()
        && (equal_secrets(stored, presented) | equal_secrets(bare, presented))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_asked_number_of_digits() {
        for (asked, got) in [(6, 6), (8, 8), (10, 10), (3, 6), (11, 6)] {
            let code = OneTimeCode::generate("a@b.c", asked, false);
            assert_eq!(code.otp.len(), got);
            assert!(code.otp.bytes().all(|byte| byte.is_ascii_digit()));
        }
    }

    #[test]
    fn the_hash_is_sha224_of_lowercase_address_and_code() {
        assert_eq!(hash("A@B.c", "123456"), hash("a@b.c", "123456"));
        assert_eq!(hash("a@b.c", "123456").len(), 56);
        // printf 'a@b.c123456' | sha224sum
        assert_eq!(
            hash("a@b.c", "123456"),
            hex::encode(Sha224::digest(b"a@b.c123456"))
        );
    }

    #[test]
    fn a_stored_token_matches_with_and_without_its_mark() {
        let code = OneTimeCode::generate("a@b.c", 6, true);

        assert!(matches(&code.hash, &code.hash));
        assert!(matches(&code.hash, &hash("a@b.c", &code.otp)));
        assert!(!matches("", ""));
        assert!(!matches(PKCE_PREFIX, ""));
        assert!(!matches(&hash("a@b.c", "1"), &hash("a@b.c", "2")));
    }
}
