//! Sign-in by SAML: the way to the identity provider, the way back, and the account. Source: SAML contract §3 to §6.

pub(crate) mod accounts;
pub(crate) mod claims;
pub(crate) mod finish_sign_in;
pub(crate) mod manage_providers;
pub(crate) mod provider_metadata;
pub(crate) mod start_sign_in;
