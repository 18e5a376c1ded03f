//! The token with which a generator sends its picture: 256 random bits, valid for one picture of one attempt. The database
//! stores only its hash, so that a reader of the table cannot deliver a picture.

use std::fmt;

use sha2::{Digest, Sha256};

/// A callback token in hexadecimal.
#[derive(Clone)]
pub(crate) struct CallbackToken(String);

impl CallbackToken {
    /// A new token.
    ///
    /// # Panics
    /// When the operating system has no random bytes, without which no token is secret.
    pub(crate) fn random() -> Self {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system provides random bytes");
        Self(hex::encode(bytes))
    }

    /// A token that a request carries.
    pub(crate) fn received(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The token in the form sent to the generator.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The SHA-256 of the token, as stored in the database.
    pub(crate) fn hash(&self) -> Vec<u8> {
        Sha256::digest(self.0.as_bytes()).to_vec()
    }
}

impl fmt::Debug for CallbackToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the token itself, because debug output ends up in logs.
        formatter.write_str("CallbackToken")
    }
}
