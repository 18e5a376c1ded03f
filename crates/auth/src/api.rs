//! One file per endpoint, named as the contract names the operation: extract, decide, store, answer.

pub(crate) mod admin_audit;
pub(crate) mod admin_create_user;
pub(crate) mod admin_delete_user;
pub(crate) mod admin_generate_link;
pub(crate) mod admin_get_user;
pub(crate) mod admin_invite;
pub(crate) mod admin_list_users;
pub(crate) mod admin_update_user;
pub(crate) mod get_user;
pub(crate) mod grant_password;
pub(crate) mod grant_pkce;
pub(crate) mod grant_refresh_token;
pub(crate) mod health;
pub(crate) mod jwks;
pub(crate) mod logout;
pub(crate) mod not_offered;
pub(crate) mod openid_configuration;
pub(crate) mod otp;
pub(crate) mod reauthenticate;
pub(crate) mod recover;
pub(crate) mod resend;
pub(crate) mod settings;
pub(crate) mod signup;
pub(crate) mod token;
pub(crate) mod update_user;
pub(crate) mod verify;
