//! One file per endpoint, named as the contract names the operation: extract the request, call a flow or the store,
//! write the response.
//!
//! Errors are returned as `AuthError`; the middleware in `routes` renders them in the shape that the request asked
//! for. Unless an endpoint says otherwise, every one can also fail with 400 `bad_json`, 413
//! `request_entity_too_large`, 500 `unexpected_failure` and 504 `request_timeout`; those taking `SignedIn` or `Admin`
//! with the 401 and 403 of Auth contract §1.2.

pub(crate) mod admin_audit;
pub(crate) mod admin_create_user;
pub(crate) mod admin_custom_providers;
pub(crate) mod admin_delete_user;
pub(crate) mod admin_factors;
pub(crate) mod admin_generate_link;
pub(crate) mod admin_get_user;
pub(crate) mod admin_invite;
pub(crate) mod admin_list_users;
pub(crate) mod admin_sso_providers;
pub(crate) mod admin_update_user;
pub(crate) mod authorize;
pub(crate) mod callback;
pub(crate) mod factor_challenge;
pub(crate) mod factor_enroll;
pub(crate) mod factor_unenroll;
pub(crate) mod factor_verify;
mod flow_cookie;
pub(crate) mod get_user;
pub(crate) mod grant_id_token;
pub(crate) mod grant_password;
pub(crate) mod grant_pkce;
pub(crate) mod grant_refresh_token;
pub(crate) mod grant_web3;
pub(crate) mod health;
pub(crate) mod jwks;
pub(crate) mod logout;
pub(crate) mod oauth_authorize;
pub(crate) mod oauth_clients;
pub(crate) mod oauth_token;
pub(crate) mod oauth_user;
pub(crate) mod openid_configuration;
pub(crate) mod otp;
pub(crate) mod passkey_authentication;
pub(crate) mod passkey_registration;
pub(crate) mod passkeys;
pub(crate) mod reauthenticate;
pub(crate) mod recover;
pub(crate) mod recovery_codes;
pub(crate) mod resend;
pub(crate) mod response_bodies;
pub(crate) mod saml_acs;
pub(crate) mod saml_metadata;
pub(crate) mod scim;
pub(crate) mod session_response;
pub(crate) mod settings;
pub(crate) mod signup;
pub(crate) mod sso;
pub(crate) mod token;
pub(crate) mod unlink_identity;
pub(crate) mod update_user;
pub(crate) mod verify;
