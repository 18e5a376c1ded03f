//! Encrypted assertions: an `EncryptedKey` that only the service provider can decrypt, and the data encrypted with it. All
//! errors have the same outcome, because a sender who could distinguish them could decrypt what others sent. Source: XML
//! Encryption 1.1.

use crate::base64_text::decode_base64;
use crate::crypto::{Cipher, OaepDigest, PrivateKey};
use crate::names::{ENCRYPTION_11_NS, ENCRYPTION_NS, RSA_OAEP, SIGNATURE_NS};
use crate::xml::{Document, ElementId};

const fn xenc(local: &'static str) -> (&'static str, &'static str) {
    (ENCRYPTION_NS, local)
}

/// Decrypts the content of an `EncryptedAssertion` with the first of the keys that can; `None` for any fault.
pub(crate) fn decrypt_assertion(
    document: &Document,
    encrypted: ElementId,
    keys: &[&PrivateKey],
) -> Option<Vec<u8>> {
    let data = document.only_child(encrypted, xenc("EncryptedData"))?;
    let cipher = Cipher::from_uri(read_algorithm(document, data)?)?;
    let ciphertext = read_cipher_value(document, data)?;
    let key = find_encrypted_key(document, encrypted, data)?;
    let (digest, mask) = read_padding(document, key)?;
    let wrapped = read_cipher_value(document, key)?;
    // Which key was meant is not said reliably, so each is tried; there are at most two.
    keys.iter().find_map(|private| {
        let secret = private.decrypt(&wrapped, digest, mask)?;
        cipher.decrypt(&secret, &ciphertext)
    })
}

/// Finds the encrypted key, which is within the data's `KeyInfo` or next to the data.
fn find_encrypted_key(document: &Document, encrypted: ElementId, data: ElementId) -> Option<ElementId> {
    let info = document.child(data, (SIGNATURE_NS, "KeyInfo"));
    let inside = info.and_then(|info| document.only_child(info, xenc("EncryptedKey")));
    inside.or_else(|| document.only_child(encrypted, xenc("EncryptedKey")))
}

fn read_algorithm(document: &Document, id: ElementId) -> Option<&str> {
    let method = document.only_child(id, xenc("EncryptionMethod"))?;
    document.attribute(method, "Algorithm")
}

fn read_cipher_value(document: &Document, id: ElementId) -> Option<Vec<u8>> {
    let data = document.only_child(id, xenc("CipherData"))?;
    decode_base64(&document.text(document.only_child(data, xenc("CipherValue"))?))
}

/// The digests of the OAEP padding: for the label and for the mask.
fn read_padding(document: &Document, key: ElementId) -> Option<(OaepDigest, OaepDigest)> {
    let method = document.only_child(key, xenc("EncryptionMethod"))?;
    let digest = match document.child(method, (SIGNATURE_NS, "DigestMethod")) {
        // The default of XML Encryption. OAEP needs no collision resistance, so SHA-1 is no weakness here.
        None => OaepDigest::Sha1,
        Some(id) => match document.attribute(id, "Algorithm")? {
            "http://www.w3.org/2000/09/xmldsig#sha1" => OaepDigest::Sha1,
            "http://www.w3.org/2001/04/xmlenc#sha256" => OaepDigest::Sha256,
            _ => return None,
        },
    };
    let mask = match document.attribute(method, "Algorithm")? {
        RSA_OAEP => OaepDigest::Sha1, // Its mask is fixed by its name.
        "http://www.w3.org/2009/xmlenc11#rsa-oaep" => {
            match document.child(method, (ENCRYPTION_11_NS, "MGF")) {
                None => OaepDigest::Sha1,
                Some(id) => match document.attribute(id, "Algorithm")? {
                    "http://www.w3.org/2009/xmlenc11#mgf1sha1" => OaepDigest::Sha1,
                    "http://www.w3.org/2009/xmlenc11#mgf1sha256" => OaepDigest::Sha256,
                    _ => return None,
                },
            }
        }
        _ => return None, // Among them RSA with PKCS#1 v1.5, whose padding tells attackers the plain text.
    };
    Some((digest, mask))
}
