//! Checks of values that clients send: addresses, passwords, redirect targets, OAuth clients, attribute mappings, wallet
//! messages.
//!
//! Pure functions without I/O: text in, decision out. Rules that depend on stored rows are decided in `flows`.

pub(crate) mod address;
pub(crate) mod attribute_mapping;
pub(crate) mod glob;
pub(crate) mod oauth_client;
pub(crate) mod password;
pub(crate) mod redirect;
pub(crate) mod session_limits;
pub(crate) mod verify_type;
pub(crate) mod wallet_message;
