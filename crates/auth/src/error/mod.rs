//! The errors of `/auth/v1`.
//!
//! Handlers and extractors return [`AuthError`], some of whose variants are enums by subject. The text of `#[error]` is
//! the message on the wire, `status_and_code` gives the rest, and the service's one middleware (`routes`) renders both
//! in the shape that the request asked for. Source: Auth contract §1.3, §1.4.

mod auth_error;
mod fault;
mod feature;
mod federation;
mod hook;
mod mfa;
mod oauth_server;
mod passkey;
mod provider;
mod response;
mod saml;
mod weak_password;

#[cfg(test)]
mod table_tests;

pub(crate) use auth_error::{AuthError, UNEXPECTED};
pub(crate) use fault::Fault;
pub(crate) use feature::FeatureError;
pub(crate) use federation::FederationError;
pub(crate) use hook::HookError;
pub(crate) use mfa::MfaError;
pub(crate) use oauth_server::OauthServerError;
pub(crate) use passkey::PasskeyError;
pub(crate) use provider::ProviderError;
pub(crate) use response::{ApiVersion, render_error};
pub(crate) use saml::SamlError;
pub(crate) use weak_password::{WeakPassword, WeakReason};
