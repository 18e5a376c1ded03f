//! Keys, certificates and ciphers of both sides.

mod cipher;
mod der;
mod private_key;
mod public_key;
mod rsa_oaep;

pub(crate) use cipher::Cipher;
pub use private_key::{PrivateKey, PrivateKeyError};
pub use public_key::PublicKey;
pub(crate) use public_key::SignatureMethod;
pub(crate) use rsa_oaep::OaepDigest;
