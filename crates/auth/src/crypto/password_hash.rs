//! Stored password hashes: bcrypt, which new passwords get, and those of imported users: Argon2 and Firebase's scrypt.
//!
//! Parsing decides whether a hash can be verified at all and at what cost; the work itself runs in [`crate::hasher`].
//! Source: Auth contract §5, AUTH-090.

use aes::Aes256;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use subtle::ConstantTimeEq;

/// Most memory that verifying one hash may take (256 MiB). An imported hash contains its own cost parameters, and a
/// very large one would exhaust the server at every sign-in.
const MAX_MEMORY_BYTES: u64 = 256 << 20;
/// Most Argon2 passes, or scrypt lanes, that verifying one hash may take, so that it does not block a hashing thread
/// for long.
const MAX_PASSES: u32 = 32;

/// Base64 with or without padding: PHC strings have none, Firebase's exports have it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Highest accepted bcrypt cost. It takes 256 times as long as the default cost of 10, about 14 s.
const MAX_BCRYPT_COST: u32 = 18;

/// A stored hash, parsed: a password can be verified against it.
#[derive(Debug, Clone)]
pub(crate) enum PasswordHash {
    /// The hash as stored, in the format `$2b$10$<salt and hash>`.
    Bcrypt(String),
    Imported(ImportedHash),
}

/// The hash of an imported user, in a format that is verified but never written.
#[derive(Debug, Clone)]
pub(crate) enum ImportedHash {
    Argon2(Box<Argon2Hash>),
    FirebaseScrypt(Box<ScryptHash>),
}

/// Argon2i or Argon2id, version 19.
#[derive(Debug, Clone)]
pub(crate) struct Argon2Hash {
    algorithm: Algorithm,
    params: Params,
    salt: Vec<u8>,
    hash: Vec<u8>,
}

/// Firebase's variant of scrypt.
#[derive(Debug, Clone)]
pub(crate) struct ScryptHash {
    params: scrypt::Params,
    /// The user's salt, followed by the Firebase project's salt separator.
    salt: Vec<u8>,
    /// A secret of the Firebase project, the same for all its users.
    signer_key: Vec<u8>,
    hash: Vec<u8>,
}

impl PasswordHash {
    /// Parses a stored hash; `None` when it is of an unknown kind, malformed or too expensive.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (kind, _) = text.strip_prefix('$')?.split_once('$')?;
        match kind {
            // `2x` marks hashes of an implementation that was wrong for non-ASCII passwords; they verify for ASCII
            // ones.
            "2a" | "2b" | "2y" | "2x" => {
                let cost = text.parse::<bcrypt::HashParts>().ok()?.get_cost();
                (cost <= MAX_BCRYPT_COST).then(|| Self::Bcrypt(text.to_owned()))
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
    /// Whether the password matches. Blocks the thread for tens of milliseconds or more, depending on the cost in the
    /// hash.
    pub(crate) fn verify(&self, password: &str) -> bool {
        match self {
            Self::Argon2(hash) => hash.verify(password),
            Self::FirebaseScrypt(hash) => hash.verify(password),
        }
    }
}

impl Argon2Hash {
    /// Parses `$argon2id$v=19$m=65536,t=3,p=4$<salt>$<hash>`.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('$').skip(1);
        let algorithm = if parts.next()? == "argon2i" {
            Algorithm::Argon2i
        } else {
            Algorithm::Argon2id
        };
        // Version 16 computes other hashes and is not supported.
        if parts.next()? != "v=19" {
            return None;
        }
        let settings = parts.next()?;
        let (memory_kib, passes, lanes) = (
            parse_setting(settings, "m")?,
            parse_setting(settings, "t")?,
            parse_setting(settings, "p")?,
        );
        if u64::from(memory_kib) << 10 > MAX_MEMORY_BYTES || passes > MAX_PASSES {
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
    /// Parses `$fbscrypt$v=1,n=14,r=8,p=1,ss=<separator>,sk=<signer key>$<salt>$<hash>`, binary parts in base64.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('$').skip(2);
        let settings = parts.next()?;
        let (log_n, block_size, lanes) = (
            parse_setting(settings, "n")?,
            parse_setting(settings, "r")?,
            parse_setting(settings, "p")?,
        );
        // RFC 7914 §2: scrypt's large array has N = 2^n entries of 128 × r bytes.
        // Shifting 1 cannot lose bits, as shifting 128 would for a large n, whose memory would then count as none.
        let entries = 1_u64.checked_shl(log_n)?;
        let memory_bytes = entries.checked_mul(128)?.checked_mul(u64::from(block_size))?;
        if parse_setting(settings, "v")? != 1 || memory_bytes > MAX_MEMORY_BYTES || lanes > MAX_PASSES {
            return None;
        }
        let mut salt = BASE64.decode(parts.next()?).ok()?;
        salt.extend(
            BASE64
                .decode(find_setting(settings, "ss").unwrap_or_default())
                .ok()?,
        );
        Some(Self {
            params: scrypt::Params::new(u8::try_from(log_n).ok()?, block_size, lanes).ok()?,
            salt,
            signer_key: BASE64.decode(find_setting(settings, "sk")?).ok()?,
            hash: BASE64.decode(parts.next()?).ok()?,
        })
    }

    /// Whether the password matches. Firebase's hash is its signer key, encrypted by AES-256-CTR with the key that
    /// scrypt derives from the password.
    fn verify(&self, password: &str) -> bool {
        let mut key = [0; 32];
        if scrypt::scrypt(password.as_bytes(), &self.salt, &self.params, &mut key).is_err() {
            return false;
        }
        let mut computed = self.signer_key.clone();
        // An all-zero counter block is safe here, because the key differs for each salt and encrypts only one text.
        Ctr128BE::<Aes256>::new(&key.into(), &[0; 16].into()).apply_keystream(&mut computed);
        computed.ct_eq(&self.hash).into()
    }
}

/// Returns the value of `name` in a list `name=value,name=value`. Base64 values may contain `=`.
fn find_setting<'a>(settings: &'a str, name: &str) -> Option<&'a str> {
    settings
        .split(',')
        .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn parse_setting(settings: &str, name: &str) -> Option<u32> {
    find_setting(settings, name)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_090_imported_argon2_and_firebase_hashes_accept_only_their_password() {
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
    fn unknown_and_too_expensive_hashes_are_rejected() {
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
            "$fbscrypt$v=1,n=57,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA",
            "$fbscrypt$v=1,n=63,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA",
            "$fbscrypt$v=1,n=70,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA",
        ] {
            assert!(PasswordHash::parse(hash).is_none(), "{hash}");
        }
    }
}
