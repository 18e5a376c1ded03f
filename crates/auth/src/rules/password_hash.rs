//! Stored password hashes: bcrypt, which we write, and what imported users bring along: Argon2 and Firebase's scrypt.
//!
//! Source: Auth contract §5, AUTH-090.

use aes::Aes256;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use subtle::ConstantTimeEq;

/// A hash may cost this much memory at most, whatever an import says.
const MOST_MEMORY_BYTES: u64 = 256 << 20;
/// And run over its memory this often at most.
const MOST_PASSES: u32 = 32;

/// Hashes come with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A bcrypt hash may cost this much at most: 256 times the default, some 14 s.
const MOST_COST: u32 = 18;

/// A hash that a password can be checked against.
#[derive(Debug, Clone)]
pub(crate) enum PasswordHash {
    Bcrypt(String),
    Imported(ImportedHash),
}

/// A hash of a kind that we do not write.
#[derive(Debug, Clone)]
pub(crate) enum ImportedHash {
    Argon2(Box<Argon2Hash>),
    FirebaseScrypt(Box<ScryptHash>),
}

#[derive(Debug, Clone)]
pub(crate) struct Argon2Hash {
    algorithm: Algorithm,
    params: Params,
    salt: Vec<u8>,
    hash: Vec<u8>,
}

#[derive(Debug, Clone)]
pub(crate) struct ScryptHash {
    params: scrypt::Params,
    salt: Vec<u8>,
    signer_key: Vec<u8>,
    hash: Vec<u8>,
}

impl PasswordHash {
    /// Reads a stored hash; `None` for one that we cannot check.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (kind, _) = text.strip_prefix('$')?.split_once('$')?;
        match kind {
            "2a" | "2b" | "2y" | "2x" => {
                let cost = text.parse::<bcrypt::HashParts>().ok()?.get_cost();
                (cost <= MOST_COST).then(|| Self::Bcrypt(text.to_owned()))
            }
            "argon2i" | "argon2id" => {
                let hash = Argon2Hash::parse(text)?;
                Some(Self::Imported(ImportedHash::Argon2(Box::new(hash))))
            }
            "fbscrypt" => {
                let hash = ScryptHash::parse(text)?;
                Some(Self::Imported(ImportedHash::FirebaseScrypt(Box::new(hash))))
            }
            _ => None,
        }
    }
}

impl ImportedHash {
    /// Whether the password is the one behind the hash. Takes tens of milliseconds, by design.
    pub(crate) fn verify(&self, password: &str) -> bool {
        match self {
            Self::Argon2(hash) => hash.verify(password),
            Self::FirebaseScrypt(hash) => hash.verify(password),
        }
    }
}

impl Argon2Hash {
    /// `$argon2id$v=19$m=65536,t=3,p=4$<salt>$<hash>`
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('$').skip(1);
        let algorithm = if parts.next()? == "argon2i" {
            Algorithm::Argon2i
        } else {
            Algorithm::Argon2id
        };
        if parts.next()? != "v=19" {
            return None;
        }
        let settings = parts.next()?;
        let (memory_kib, passes, lanes) = (
            number(settings, "m")?,
            number(settings, "t")?,
            number(settings, "p")?,
        );
        if u64::from(memory_kib) << 10 > MOST_MEMORY_BYTES || passes > MOST_PASSES {
            return None;
        }
        let (salt, hash) = (
            BASE64.decode(parts.next()?).ok()?,
            BASE64.decode(parts.next()?).ok()?,
        );
        let params = Params::new(memory_kib, passes, lanes, Some(hash.len())).ok()?;
        parts.next().is_none().then_some(Self {
            algorithm,
            params,
            salt,
            hash,
        })
    }

    fn verify(&self, password: &str) -> bool {
        let mut computed = vec![0; self.hash.len()];
        Argon2::new(self.algorithm, Version::V0x13, self.params.clone())
            .hash_password_into(password.as_bytes(), &self.salt, &mut computed)
            .is_ok_and(|()| computed.ct_eq(&self.hash).into())
    }
}

impl ScryptHash {
    /// `$fbscrypt$v=1,n=14,r=8,p=1,ss=<separator>,sk=<signer key>$<salt>$<hash>`, binary parts in base64.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('$').skip(2);
        let settings = parts.next()?;
        let (log_n, block_size, lanes) = (
            number(settings, "n")?,
            number(settings, "r")?,
            number(settings, "p")?,
        );
        let memory_bytes = 128_u64.checked_shl(log_n)?.checked_mul(u64::from(block_size))?;
        if number(settings, "v")? != 1 || memory_bytes > MOST_MEMORY_BYTES || lanes > MOST_PASSES {
            return None;
        }
        let mut salt = BASE64.decode(parts.next()?).ok()?;
        salt.extend(BASE64.decode(setting(settings, "ss").unwrap_or_default()).ok()?);
        Some(Self {
            params: scrypt::Params::new(u8::try_from(log_n).ok()?, block_size, lanes).ok()?,
            salt,
            signer_key: BASE64.decode(setting(settings, "sk")?).ok()?,
            hash: BASE64.decode(parts.next()?).ok()?,
        })
    }

    /// Firebase encrypts its signer key with the derived key, and keeps the result.
    fn verify(&self, password: &str) -> bool {
        let mut key = [0; 32];
        if scrypt::scrypt(password.as_bytes(), &self.salt, &self.params, &mut key).is_err() {
            return false;
        }
        let mut computed = self.signer_key.clone();
        Ctr128BE::<Aes256>::new(&key.into(), &[0; 16].into()).apply_keystream(&mut computed);
        computed.ct_eq(&self.hash).into()
    }
}

fn setting<'a>(settings: &'a str, name: &str) -> Option<&'a str> {
    settings
        .split(',')
        .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn number(settings: &str, name: &str) -> Option<u32> {
    setting(settings, name)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_090_imported_hashes_verify() {
        let cases = [
            // The example of firebase/scrypt's README.
            (
                "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
                "user1password",
            ),
            // The examples of the Argon2 reference implementation's README and tests.
            (
                "$argon2i$v=19$m=65536,t=2,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b+dWRWJTmaaJObG",
                "password",
            ),
            (
                "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
                "password",
            ),
        ];
        for (hash, password) in cases {
            let Some(PasswordHash::Imported(parsed)) = PasswordHash::parse(hash) else {
                panic!("{hash} is not read");
            };
            assert!(parsed.verify(password), "{hash}");
            assert!(!parsed.verify("something else"), "{hash}");
        }
    }

    #[test]
    fn unknown_and_unaffordable_hashes_are_refused() {
        for hash in [
            "",
            "plain",
            "$1$abc$def",
            "$2b$10$short",
            "$2y$19$92IXUNpkjO0rOQ5byMi.Ye4oKoEa3Ro9llC/.og/at2.uheWG/igi",
            "$argon2d$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65",
            "$argon2id$v=16$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
            "$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
            "$fbscrypt$v=1,n=30,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA",
            "$fbscrypt$v=1,n=70,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA",
        ] {
            assert!(PasswordHash::parse(hash).is_none(), "{hash}");
        }
    }
}
