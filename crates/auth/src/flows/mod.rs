//! The operations of Auth that handlers call: they use `store`, call other services, and follow the pure rules in
//! `decisions`.

pub(crate) mod accounts;
pub(crate) mod claims_preview;
pub(crate) mod configuration_trial;
pub(crate) mod confirmations;
pub(crate) mod decisions;
pub(crate) mod external_accounts;
pub(crate) mod linked_identities;
pub(crate) mod locked_caller;
pub(crate) mod mfa;
pub(crate) mod oauth_authorization;
pub(crate) mod provider_callback;
pub(crate) mod recovery_codes;
pub(crate) mod refresh_session;
pub(crate) mod saml;
pub(crate) mod sign_in;
pub(crate) mod sign_up;
pub(crate) mod start_provider_sign_in;
pub(crate) mod unanswered_requests;
pub(crate) mod unverified_sign_in;
pub(crate) mod update_user;
pub(crate) mod verify_factor;
pub(crate) mod verify_token;
