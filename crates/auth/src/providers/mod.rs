//! Sign-in with external providers (OAuth 2.0, OpenID Connect, OAuth 1.0a).
//!
//! `/authorize` and `/callback` use a [`Provider`]: [`authorize`] builds the URL of its sign-in page; after the
//! callback, [`sign_in`] exchanges the code for tokens and reads a [`Profile`] with them. What is fixed about a
//! provider is its [`definition`]: a file of [`named`] for built-in providers, a row of `auth.custom_oauth_providers`
//! for those that an administrator has added. `grant_type=id_token` uses only [`verify_id_token`].
//!
//! Nothing here reads or writes users; `flows::external_accounts` decides which account a profile belongs to. Source:
//! Auth contract §2.11, §8.

mod addresses;
mod attribute_mapping;
mod authorize;
mod code_exchange;
mod definition;
mod discovery;
mod id_token;
mod issuer;
mod json_fields;
mod key_cache;
mod named;
mod oauth1;
mod outgoing_url;
mod profile;
mod profile_api;
mod provider;
mod sign_in;

pub(crate) use authorize::{AuthorizeRequest, RESERVED_PARAMS};
pub(crate) use code_exchange::ProviderTokens;
pub(crate) use definition::IdTokenRules;
pub(crate) use discovery::Issuers;
pub(crate) use id_token::{ExpectedIdToken, IdToken, verify_id_token};
pub(crate) use issuer::Issuer;
pub use named::PROVIDER_NAMES;
pub(crate) use oauth1::OAuth1Token;
pub(crate) use outgoing_url::{is_callable, is_internal};
pub(crate) use profile::Profile;
pub(crate) use provider::{Provider, find_id_token_rules, standard_id_token_rules};
