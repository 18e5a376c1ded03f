//! Hashes of passwords: Argon2id in the form `$argon2id$v=19$m=…,t=…,p=…$salt$hash`.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use subtle::ConstantTimeEq as _;

/// The cost of a hash as (KiB of memory, passes, lanes), which is OWASP's first recommendation.
const ARGON2_COST: (u32, u32, u32) = (19_456, 2, 1);
const HASH_BYTES: usize = 32;

/// Hashes a password with a new salt.
pub(super) fn hash(password: &str) -> String {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).expect("the system has randomness");
    let (memory, passes, lanes) = ARGON2_COST;
    format!(
        "$argon2id$v=19$m={memory},t={passes},p={lanes}${}${}",
        STANDARD_NO_PAD.encode(salt),
        STANDARD_NO_PAD.encode(compute(password, &salt, ARGON2_COST).expect("the costs are valid"))
    )
}

/// Whether the password has this hash. Without a hash the same work is done, so that the response time does not reveal which
/// accounts exist.
pub(super) fn verify(password: &str, stored: Option<&str>) -> bool {
    let parsed = stored.and_then(parse);
    // A stored text that cannot be read is treated like an account that does not exist.
    let Some((cost, salt, hash)) = parsed else {
        let _ = compute(password, &[0; 16], ARGON2_COST);
        return false;
    };
    compute(password, &salt, cost).is_some_and(|computed| computed.ct_eq(&hash).into())
}

type Parsed = ((u32, u32, u32), Vec<u8>, Vec<u8>);

fn parse(stored: &str) -> Option<Parsed> {
    let rest = stored.strip_prefix("$argon2id$v=19$")?;
    let mut parts = rest.split('$');
    let mut costs = parts.next()?.split(',');
    let mut cost = |name: &str| costs.next()?.strip_prefix(name)?.parse().ok();
    let cost = (cost("m=")?, cost("t=")?, cost("p=")?);
    let salt = STANDARD_NO_PAD.decode(parts.next()?).ok()?;
    let hash = STANDARD_NO_PAD.decode(parts.next()?).ok()?;
    Some((cost, salt, hash))
}

fn compute(
    password: &str,
    salt: &[u8],
    (memory, passes, lanes): (u32, u32, u32),
) -> Option<[u8; HASH_BYTES]> {
    let params = Params::new(memory, passes, lanes, Some(HASH_BYTES)).ok()?;
    let mut hash = [0; HASH_BYTES];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(password.as_bytes(), salt, &mut hash)
        .ok()?;
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_014_a_hash_accepts_its_password_alone() {
        let stored = hash("correct horse");
        assert!(verify("correct horse", Some(&stored)));
        assert!(!verify("correct horsf", Some(&stored)));
        assert!(!verify("correct horse", None));
        assert!(!verify("correct horse", Some("$argon2id$v=19$m=1")));
        assert_ne!(stored, hash("correct horse"));
    }
}
