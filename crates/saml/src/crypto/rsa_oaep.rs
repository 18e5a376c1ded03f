//! RSA-OAEP decryption (RFC 8017 §7.1.2) in constant time.
//!
//! The crate `rsa` leaks its private key by the duration of decryption (RUSTSEC-2023-0071), and everybody may send
//! ciphertexts here. The exponentiation is therefore that of `crypto-bigint`, whose duration does not depend on the numbers,
//! and the padding is checked without branching on the decrypted bytes.

use crypto_bigint::modular::runtime_mod::{DynResidue, DynResidueParams};
use crypto_bigint::{Encoding, U2048, U3072, U4096, Uint};
use ring::digest;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// Digests of OAEP, both for the label and for the mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OaepDigest {
    Sha1,
    Sha256,
}

impl OaepDigest {
    fn algorithm(self) -> &'static digest::Algorithm {
        match self {
            Self::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &digest::SHA256,
        }
    }
}

/// A private key, by the size of its modulus.
pub(crate) enum RsaDecryptor {
    Bits2048(Box<Key<{ U2048::LIMBS }>>),
    Bits3072(Box<Key<{ U3072::LIMBS }>>),
    Bits4096(Box<Key<{ U4096::LIMBS }>>),
}

/// Modulus and private exponent.
pub(crate) struct Key<const LIMBS: usize> {
    modulus: Uint<LIMBS>,
    exponent: Uint<LIMBS>,
}

/// A number of at most `size` bytes with zeros in front.
fn pad_left(digits: &[u8], size: usize) -> Option<Vec<u8>> {
    let missing = size.checked_sub(digits.len())?;
    Some([vec![0; missing], digits.to_vec()].concat())
}

impl<const LIMBS: usize> Key<LIMBS>
where
    Uint<LIMBS>: Encoding,
{
    fn new(modulus: &[u8], exponent: &[u8]) -> Option<Self> {
        let number = |digits: &[u8]| {
            let padded = pad_left(digits, Uint::<LIMBS>::BYTES)?;
            Some(Uint::<LIMBS>::from_be_slice(&padded))
        };
        Some(Self {
            modulus: number(modulus)?,
            exponent: number(exponent)?,
        })
    }

    /// Raises the ciphertext to the private exponent. `None` for one that is not below the modulus.
    fn apply(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        if ciphertext.len() != Uint::<LIMBS>::BYTES {
            return None;
        }
        let number = Uint::<LIMBS>::from_be_slice(ciphertext);
        if number >= self.modulus {
            return None; // Both numbers are public.
        }
        // Montgomery form needs an odd modulus, which was checked when the key was read.
        let params = DynResidueParams::new(&self.modulus);
        let power = DynResidue::new(&number, params).pow(&self.exponent);
        Some(power.retrieve().to_be_bytes().as_ref().to_vec())
    }
}

impl RsaDecryptor {
    /// `None` for a modulus of another size than 2048, 3072 or 4096 bit.
    pub(crate) fn new(modulus: &[u8], exponent: &[u8]) -> Option<Self> {
        if modulus.first().is_none_or(|first| first & 0x80 == 0)
            || modulus.last().is_none_or(|last| last & 1 == 0)
        {
            return None;
        }
        Some(match modulus.len() {
            256 => Self::Bits2048(Box::new(Key::new(modulus, exponent)?)),
            384 => Self::Bits3072(Box::new(Key::new(modulus, exponent)?)),
            512 => Self::Bits4096(Box::new(Key::new(modulus, exponent)?)),
            _ => return None,
        })
    }

    pub(crate) fn decrypt(&self, ciphertext: &[u8], digest: OaepDigest, mask: OaepDigest) -> Option<Vec<u8>> {
        let padded = match self {
            Self::Bits2048(key) => key.apply(ciphertext),
            Self::Bits3072(key) => key.apply(ciphertext),
            Self::Bits4096(key) => key.apply(ciphertext),
        }?;
        remove_padding(padded, digest, mask)
    }
}

/// MGF1: writes the mask of a seed over the bytes.
fn apply_mask(bytes: &mut [u8], seed: &[u8], mask: OaepDigest) {
    let algorithm = mask.algorithm();
    for (counter, block) in (0_u32..).zip(bytes.chunks_mut(algorithm.output_len())) {
        let input = [seed, &counter.to_be_bytes()].concat();
        let hash = digest::digest(algorithm, &input);
        for (byte, masked) in block.iter_mut().zip(hash.as_ref()) {
            *byte ^= masked;
        }
    }
}

/// Undoes the padding for an empty label: a zero byte, the masked seed, and the masked block of label hash, zeros, a one
/// and the message. Every byte is read, whatever the others are.
fn remove_padding(mut padded: Vec<u8>, digest_kind: OaepDigest, mask: OaepDigest) -> Option<Vec<u8>> {
    let label_hash = digest::digest(digest_kind.algorithm(), b"");
    let size = label_hash.as_ref().len();
    let (first, rest) = padded.split_first_mut()?;
    let (seed, block) = rest.split_at_mut_checked(size)?;
    if block.len() <= size {
        return None;
    }
    apply_mask(seed, block, mask);
    apply_mask(block, seed, mask);
    let mut is_good = first.ct_eq(&0) & block[..size].ct_eq(label_hash.as_ref());
    // The message begins after the first byte that is one; before it there may only be zeros.
    let mut is_message = Choice::from(0);
    let mut start = 0_u32;
    for (index, byte) in (0_u32..).zip(block.iter()).skip(size) {
        let is_one = byte.ct_eq(&1);
        let is_separator = is_one & !is_message;
        start.conditional_assign(&(index + 1), is_separator);
        is_good &= is_message | is_one | byte.ct_eq(&0);
        is_message |= is_one;
    }
    is_good &= is_message;
    bool::from(is_good).then(|| block[start as usize..].to_vec())
}
