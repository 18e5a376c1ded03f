//! The block ciphers of XML Encryption.

use aes::cipher::{BlockCipherDecrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use ring::aead;

const BLOCK: usize = 16;
/// Length of the nonce in front of a GCM ciphertext.
const GCM_NONCE: usize = 12;

/// A cipher by which an assertion may be encrypted. Triple DES is left out, because its blocks are too short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cipher {
    Aes128Cbc,
    Aes192Cbc,
    Aes256Cbc,
    Aes128Gcm,
    Aes256Gcm,
}

impl Cipher {
    /// The cipher of an algorithm URI.
    pub(crate) fn from_uri(uri: &str) -> Option<Self> {
        Some(match uri {
            "http://www.w3.org/2001/04/xmlenc#aes128-cbc" => Self::Aes128Cbc,
            "http://www.w3.org/2001/04/xmlenc#aes192-cbc" => Self::Aes192Cbc,
            "http://www.w3.org/2001/04/xmlenc#aes256-cbc" => Self::Aes256Cbc,
            "http://www.w3.org/2009/xmlenc11#aes128-gcm" => Self::Aes128Gcm,
            "http://www.w3.org/2009/xmlenc11#aes256-gcm" => Self::Aes256Gcm,
            _ => return None,
        })
    }

    /// Decrypts; `None` for any kind of fault.
    pub(crate) fn decrypt(self, key: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Aes128Cbc => decrypt_cbc(&Aes128::new_from_slice(key).ok()?, data),
            Self::Aes192Cbc => decrypt_cbc(&Aes192::new_from_slice(key).ok()?, data),
            Self::Aes256Cbc => decrypt_cbc(&Aes256::new_from_slice(key).ok()?, data),
            Self::Aes128Gcm => decrypt_gcm(&aead::AES_128_GCM, key, data),
            Self::Aes256Gcm => decrypt_gcm(&aead::AES_256_GCM, key, data),
        }
    }
}

/// CBC with the padding of XML Encryption: only the last byte is defined, the number of bytes to drop.
fn decrypt_cbc(cipher: &impl BlockCipherDecrypt, data: &[u8]) -> Option<Vec<u8>> {
    let (vector, blocks) = data.split_at_checked(BLOCK)?;
    // A ciphertext that was cut has a last block that is not whole.
    if blocks.is_empty() || blocks.len() % BLOCK != 0 {
        return None;
    }
    let mut plain = Vec::with_capacity(blocks.len());
    let mut previous = vector;
    for encrypted in blocks.chunks_exact(BLOCK) {
        let mut block = encrypted.try_into().ok()?;
        cipher.decrypt_block(&mut block);
        plain.extend(block.iter().zip(previous).map(|(byte, mask)| byte ^ mask));
        previous = encrypted;
    }
    // The filling bytes are arbitrary in XML Encryption, so a wrong key is noticed here only by chance; what counts is the
    // signature inside.
    let padding = usize::from(*plain.last()?);
    if padding == 0 || padding > BLOCK {
        return None;
    }
    plain.truncate(plain.len() - padding);
    Some(plain)
}

fn decrypt_gcm(algorithm: &'static aead::Algorithm, key: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let key = aead::LessSafeKey::new(aead::UnboundKey::new(algorithm, key).ok()?);
    let (nonce, sealed) = data.split_at_checked(GCM_NONCE)?;
    let nonce = aead::Nonce::try_assume_unique_for_key(nonce).ok()?;
    let mut sealed = sealed.to_vec();
    let plain = key.open_in_place(nonce, aead::Aad::empty(), &mut sealed).ok()?;
    Some(plain.to_vec())
}
