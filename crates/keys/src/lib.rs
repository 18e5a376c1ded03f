//! The project's secrets and signing keys.
//!
//! In: the configuration, and the file of keys in the home of a production database. Out: a [`KeySet`] with the secret of JWTs, the signing
//! keys and the API keys, made anew where a home has none, or rotated. Tokens are signed and verified by the crate token.

mod home_keys;
mod key_set;
pub mod signing_keys;

pub use home_keys::{find_home_keys, make_home_keys};
pub use key_set::KeySet;
