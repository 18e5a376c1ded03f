//! bcrypt in steps of a few rounds: a thread that computes 50 ms without a pause delays the requests that
//! share its core.
//!
//! The cipher and the format are the libraries'; only the loop between them is here. Source: Provos and Mazières, "A
//! Future-Adaptable Password Scheme" (1999); OpenBSD's `$2b$`.

use base64::Engine;
use base64::alphabet::BCRYPT;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use bcrypt::{BcryptError, HashParts};
use blowfish::Blowfish;
use subtle::ConstantTimeEq;

const BASE64: GeneralPurpose = GeneralPurpose::new(&BCRYPT, NO_PAD);
const COSTS: std::ops::RangeInclusive<u32> = 4..=31;
/// bcrypt reads this many bytes of a password and ignores the rest.
const LONGEST_PASSWORD: usize = 72;
/// The text that bcrypt encrypts 64 times; the result is the hash: `OrpheanBeholderScryDoubt`.
const BCRYPT_TEXT: [[u32; 2]; 3] = [
    [0x4f72_7068, 0x6561_6e42],
    [0x6568_6f6c, 0x6465_7253],
    [0x6372_7944, 0x6f75_6274],
];
/// bcrypt stores this many bytes of the 24-byte result.
const HASH_BYTES: usize = 23;

pub(super) type Salt = [u8; 16];

/// A hash that is being computed.
pub(super) struct BcryptRun {
    // Boxed, because the run moves between threads and the cipher's state is 4 KB.
    state: Box<Blowfish>,
    key: Vec<u8>,
    salt: Salt,
    cost: u32,
    rounds_left: u32,
}

impl BcryptRun {
    /// Starts to hash a password with a new salt.
    ///
    /// # Errors
    /// A cost that bcrypt does not know.
    pub(super) fn begin(password: &str, salt: Salt, cost: u32) -> Result<Self, BcryptError> {
        if !COSTS.contains(&cost) {
            return Err(BcryptError::CostNotAllowed(cost));
        }
        // bcrypt also hashes the terminating NUL, unless the password fills all 72 bytes.
        let key: Vec<u8> = password.bytes().chain([0]).take(LONGEST_PASSWORD).collect();
        let mut state = Box::new(Blowfish::bc_init_state());
        state.salted_expand_key(&salt, &key);
        Ok(Self {
            state,
            key,
            salt,
            cost,
            rounds_left: 1 << cost,
        })
    }

    /// Starts to hash a password with the cost and salt of `hash`.
    ///
    /// # Errors
    /// Text that is no bcrypt hash.
    pub(super) fn begin_with_salt_of(hash: &str, password: &str) -> Result<Self, BcryptError> {
        let parts: HashParts = hash.parse()?;
        Self::begin(password, parts.get_salt_raw(), parts.get_cost())
    }

    /// Computes for about 50 µs; false when the hash is complete.
    pub(super) fn step(&mut self) -> bool {
        if self.rounds_left > 0 {
            self.state.bc_expand_key(&self.key);
            self.state.bc_expand_key(&self.salt);
            self.rounds_left -= 1;
        }
        self.rounds_left > 0
    }

    /// The hash as text; computes what is left without further pauses.
    pub(super) fn finish(mut self) -> String {
        while self.step() {}
        let bytes = BCRYPT_TEXT
            .iter()
            .flat_map(|block| (0..64).fold(*block, |block, _| self.state.bc_encrypt(block)));
        let hash: Vec<u8> = bytes.flat_map(u32::to_be_bytes).take(HASH_BYTES).collect();
        format!(
            "$2b${:02}${}{}",
            self.cost,
            BASE64.encode(self.salt),
            BASE64.encode(hash)
        )
    }

    /// Whether `hash` is the hash of the password. The run must have been started with that hash by
    /// [`Self::begin_with_salt_of`].
    pub(super) fn finish_equals(self, hash: &str) -> bool {
        // `$2a$`, `$2b$` and `$2y$` denote the same algorithm, so the prefix is not compared.
        const VERSION: usize = "$2b".len();
        let computed = self.finish();
        let (computed, known) = (computed.as_bytes(), hash.as_bytes());
        computed[VERSION..]
            .ct_eq(known.get(VERSION..).unwrap_or_default())
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_090_hashes_are_those_of_bcrypt() {
        let long = "é".repeat(50);
        for password in ["", "a", "secret", "with\0nul", &long[..70], &long[..72], &long] {
            let run = BcryptRun::begin(password, *b"sixteen of salt!", 5).expect("a cost that is known");
            let hash = run.finish();
            let library =
                bcrypt::hash_with_salt(password, 5, *b"sixteen of salt!").expect("a cost that is known");

            assert_eq!(hash, library.to_string(), "{password:?}");
            for version in ["2a", "2b", "2y"] {
                let stored = hash.replacen("2b", version, 1);
                let verify = |password: &str| {
                    BcryptRun::begin_with_salt_of(&stored, password)
                        .expect("a bcrypt hash")
                        .finish_equals(&stored)
                };
                assert!(verify(password), "{stored} {password:?}");
                assert!(!verify(&format!("x{password}")), "{stored} {password:?}");
            }
        }
    }

    #[test]
    fn unknown_costs_and_texts_are_refused() {
        for cost in [0, 3, 32] {
            assert!(BcryptRun::begin("secret", [0; 16], cost).is_err(), "{cost}");
        }
        for text in [
            "",
            "$2b$05$short",
            "$2b$03$7EqJtq98hPqEX7fNZaFWoOa1zF9j6bSEmhJxKRjcN0mv6LqXD9dZW",
        ] {
            assert!(BcryptRun::begin_with_salt_of(text, "secret").is_err(), "{text}");
        }
    }
}
