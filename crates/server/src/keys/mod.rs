//! The project's secrets and signing keys.

mod key_set;
pub(crate) mod signing_keys;

pub use key_set::KeySet;
