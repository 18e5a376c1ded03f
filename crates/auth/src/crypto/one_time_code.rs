//! One-time codes, and their hashes: the database stores the hash, and the link in a mail contains it. Source: Auth
//! contract §3.4.

use rand::RngExt;
use sha2::{Digest, Sha224};

use super::equal_secrets;

/// Prefix of a link's token when opening the link returns a code for `grant_type=pkce` instead of a session.
pub(crate) const PKCE_PREFIX: &str = "pkce_";

/// A new code for one e-mail address or phone number.
#[derive(Debug, Clone)]
pub(crate) struct OneTimeCode {
    /// The digits that the user types; they are sent but never stored.
    pub(crate) otp: String,
    /// The token in the link, which is also what the database stores.
    pub(crate) hash: String,
}

impl OneTimeCode {
    /// Generates a code of `length` digits for `address`; a length outside of 6 to 10 counts as 6. Codes may start with
    /// zeros.
    pub(crate) fn generate(address: &str, length: u8, is_pkce: bool) -> Self {
        let digits = if (6..=10).contains(&length) {
            u32::from(length)
        } else {
            6
        };
        let number: u64 = rand::rng().random_range(0..10_u64.pow(digits));
        let otp = format!("{number:0width$}", width = digits as usize);
        let hash = if is_pkce {
            format!("{PKCE_PREFIX}{}", hash_code(address, &otp))
        } else {
            hash_code(address, &otp)
        };
        Self { otp, hash }
    }
}

/// Returns SHA-224 of address and code in lowercase hex. The address is lowercased first, so that a user may type it in
/// another case than at the sign-up.
pub(crate) fn hash_code(address: &str, otp: &str) -> String {
    let digest = Sha224::new()
        .chain_update(address.to_lowercase())
        .chain_update(otp)
        .finalize();
    hex::encode(digest)
}

/// The token of a request to `/verify`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PresentedToken {
    /// The token of a link, which must equal the stored one including a `pkce_` prefix. If the prefix could be left
    /// out, somebody who intercepts a mail could get a session without the PKCE verifier.
    Link(String),
    /// The hash of a code that the user typed; it matches a stored token with and without the prefix, because the user
    /// cannot know which of them is stored.
    Code(String),
}

impl PresentedToken {
    /// Returns the values of a stored token that this one matches.
    pub(crate) fn list_candidates(&self) -> Vec<String> {
        match self {
            Self::Link(token) => vec![token.clone()],
            Self::Code(hash) => vec![hash.clone(), format!("{PKCE_PREFIX}{hash}")],
        }
    }

    /// Whether this token matches the stored one. An empty stored token matches nothing: the user has no pending token.
    pub(crate) fn matches(&self, stored: &str) -> bool {
        !stored.is_empty()
            && self
                .list_candidates()
                .iter()
                // No early return: the time of a comparison does not show which candidate matched.
                .fold(false, |found, token| found | equal_secrets(stored, token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_configured_number_of_digits_or_six() {
        for (asked, got) in [(6, 6), (8, 8), (10, 10), (3, 6), (11, 6)] {
            let code = OneTimeCode::generate("a@b.c", asked, false);
            assert_eq!(code.otp.len(), got);
            assert!(code.otp.bytes().all(|byte| byte.is_ascii_digit()));
        }
    }

    #[test]
    fn the_hash_is_sha224_of_lowercase_address_and_code() {
        assert_eq!(hash_code("A@B.c", "123456"), hash_code("a@b.c", "123456"));
        assert_eq!(hash_code("a@b.c", "123456").len(), 56);
        // Equals the output of `printf 'a@b.c123456' | sha224sum`.
        assert_eq!(
            hash_code("a@b.c", "123456"),
            hex::encode(Sha224::digest(b"a@b.c123456"))
        );
    }

    #[test]
    fn a_typed_code_matches_with_and_without_the_prefix_but_a_link_only_as_mailed() {
        let code = OneTimeCode::generate("a@b.c", 6, true);
        let bare = hash_code("a@b.c", &code.otp);

        assert!(PresentedToken::Code(bare.clone()).matches(&code.hash));
        assert!(PresentedToken::Code(bare.clone()).matches(&bare));
        assert!(PresentedToken::Link(code.hash.clone()).matches(&code.hash));
        assert!(!PresentedToken::Link(bare).matches(&code.hash));
        assert!(!PresentedToken::Link(String::new()).matches(""));
        assert!(!PresentedToken::Code(String::new()).matches(""));
    }
}
