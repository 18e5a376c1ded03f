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

/// What somebody presents to prove that a mail reached them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PresentedToken {
    /// The token of a link, exactly as it was mailed: without its mark a PKCE link would work without the verifier.
    Link(String),
    /// The hash of a typed code. Whoever types it needs no mark.
    Code(String),
}

impl PresentedToken {
    /// The stored forms that this token fits.
    pub(crate) fn candidates(&self) -> Vec<String> {
        match self {
            Self::Link(token) => vec![token.clone()],
            Self::Code(hash) => vec![hash.clone(), format!("{PKCE_PREFIX}{hash}")],
        }
    }

    /// Whether it is the stored token. An empty one matches nothing.
    pub(crate) fn matches(&self, stored: &str) -> bool {
        !stored.is_empty()
            && self
                .candidates()
                .iter()
                .fold(false, |found, token| found | equal_secrets(stored, token))
    }
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
    fn a_code_fits_with_and_without_the_mark_a_link_only_as_mailed() {
        let code = OneTimeCode::generate("a@b.c", 6, true);
        let bare = hash("a@b.c", &code.otp);

        assert!(PresentedToken::Code(bare.clone()).matches(&code.hash));
        assert!(PresentedToken::Code(bare.clone()).matches(&bare));
        assert!(PresentedToken::Link(code.hash.clone()).matches(&code.hash));
        assert!(!PresentedToken::Link(bare).matches(&code.hash));
        assert!(!PresentedToken::Link(String::new()).matches(""));
        assert!(!PresentedToken::Code(String::new()).matches(""));
    }
}
