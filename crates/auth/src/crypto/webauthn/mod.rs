//! WebAuthn for second factors and passkeys: registration of a credential and sign-in with it.
//!
//! A [`Ceremony`] is created, its options go to the browser, and it verifies the response. Attestation, with which an
//! authenticator proves its maker, is neither requested nor verified. Source: W3C Web Authentication Level 3, §7; Auth
//! contract §2.12, §2.13.

mod authenticator;
mod ceremony;
mod cose;
mod error;
mod options;

pub(crate) use ceremony::{
    Ceremony, Credential, Registrant, RelyingParty, read_credential_id, read_user_handle,
};
pub(crate) use error::WebauthnError;
pub(crate) use options::{CreationOptions, RequestOptions};
