//! Recovery codes: random text that a user writes down, and its Argon2id hash. Source: AUTH-200, AUTH-202.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use uuid::Uuid;

use super::password_hash::PasswordHash;

/// The letters of codes: 32, so that a byte picks one without a preference.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Shortest and longest code that any configuration makes.
const LENGTHS: std::ops::RangeInclusive<usize> = 13..=32;
/// Memory of a hash in KiB, passes and lanes, as the original's.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 1;
const LANES: u32 = 1;

/// Draws codes of this many letters.
pub(crate) fn generate(count: usize, length: usize) -> Vec<String> {
    let draw = |_| {
        let letters = (0..length).map(|_| ALPHABET[usize::from(rand::random::<u8>() % 32)]);
        letters.map(char::from).collect()
    };
    (0..count).map(draw).collect()
}

/// A code as it is compared: people group the letters, and write them in capitals.
pub(crate) fn normalize(code: &str) -> String {
    code.chars()
        .filter(|letter| !letter.is_whitespace() && *letter != '-')
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a normalised text can be a code at all. Other text is wrong without any computation.
pub(crate) fn is_possible(code: &str) -> bool {
    LENGTHS.contains(&code.len()) && code.bytes().all(|letter| ALPHABET.contains(&letter))
}

/// Hashes a code, as text in PHC form. Takes milliseconds.
///
/// # Errors
/// Never with these parameters, but Argon2 says so only at run time.
pub(crate) fn hash(code: &str) -> Result<String, argon2::Error> {
    let salt: [u8; 16] = rand::random();
    let mut hash = [0; 32];
    let params = Params::new(MEMORY_KIB, PASSES, LANES, Some(hash.len()))?;
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params).hash_password_into(
        code.as_bytes(),
        &salt,
        &mut hash,
    )?;
    Ok(format!(
        "$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${}${}",
        STANDARD_NO_PAD.encode(salt),
        STANDARD_NO_PAD.encode(hash)
    ))
}

/// The id of the first hash that belongs to the code.
pub(crate) fn find_match(code: &str, hashes: &[(Uuid, String)]) -> Option<Uuid> {
    let belongs = |hash: &str| match PasswordHash::parse(hash) {
        Some(PasswordHash::Imported(hash)) => hash.verify(code),
        _ => false,
    };
    let found = hashes.iter().find(|(_, hash)| belongs(hash));
    found.map(|(id, _)| *id)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn auth_202_codes_are_compared_without_spaces_dashes_and_capitals() {
        for written in [
            "abcdefghijklm234",
            "ABCD-EFGH-IJKL-M234",
            " abcd\u{a0}efgh\tijkl\u{2003}m234\n",
        ] {
            assert_eq!(normalize(written), "abcdefghijklm234", "{written:?}");
        }
        assert_eq!(normalize(" - \t"), "");
        assert!(is_possible("abcdefghijklm234"));
        for other in [
            "abcdefghijkl",
            "abcdefghijklm231",
            "abcdefghijklmé23",
            &"a".repeat(33),
        ] {
            assert!(!is_possible(other), "{other}");
        }
    }

    #[test]
    fn auth_200_drawn_codes_differ_and_use_every_letter() {
        let codes = generate(200, 16);

        assert!(codes.iter().all(|code| code.len() == 16 && is_possible(code)));
        assert_eq!(codes.iter().collect::<HashSet<_>>().len(), 200);
        let letters: HashSet<char> = codes.iter().flat_map(|code| code.chars()).collect();
        assert_eq!(letters.len(), 32);
    }

    #[test]
    fn auth_200_a_hash_has_its_parameters_and_belongs_to_one_code() {
        let hashes: Vec<(Uuid, String)> = ["abcdefghijklm234", "abcdefghijklm235"]
            .map(|code| (Uuid::new_v4(), hash(code).expect("a hash")))
            .into();

        assert!(hashes[0].1.starts_with("$argon2id$v=19$m=19456,t=1,p=1$"));
        assert_eq!(find_match("abcdefghijklm235", &hashes), Some(hashes[1].0));
        assert_eq!(find_match("abcdefghijklm236", &hashes), None);
    }
}
