//! The project's secrets and signing keys.

mod home_keys;
mod key_set;
pub(crate) mod signing_keys;

pub(crate) use home_keys::{find_home_keys, make_home_keys};
pub use key_set::KeySet;
