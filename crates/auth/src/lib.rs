//! `/auth/v1`: users, sessions and tokens, as the stock client expects them.
//!
//! In: requests that passed the gateway. Out: JSON, redirects, mails, and rows in schema `auth` in the shape
//! that projects' SQL relies on. Modules import only what stands below them:
//!
//! ```text
//! api          one file per endpoint: extract, call, respond
//! flows        what an operation does: sign-in, verification, linking, enrolment
//! store, providers, mailer, sms, hooks, protection   database statements and calls to other services
//! validation, crypto, config, error                  pure functions, settings, the error table
//! ```
//!
//! Left to others: API keys, CORS, request ids and body time limits (gateway), signatures (token), delivery
//! of mails (mail).
//!
//! Source of all behaviour: the Auth contract; test names carry its checklist ids.

mod after_commit;
mod api;
mod cleanup;
mod config;
mod crypto;
mod error;
mod feature_gates;
mod flows;
mod hasher;
mod hooks;
mod mailer;
mod protection;
mod providers;
mod request;
mod routes;
mod sms;
mod state;
mod store;
mod user;
mod validation;

use selvedge_http_client as http_client;

pub use cleanup::{delete_expired_rows, delete_expired_rows_forever};
pub use config::{
    AuthConfig, CaptchaConfig, CaptchaProvider, ClientAddress, EmailConfig, FactorSwitch, HookConfig,
    HookConfigError, HooksConfig, LeakedPasswordConfig, MfaConfig, OauthServerConfig, PasswordConfig,
    PhoneConfig, PhoneFactorConfig, ProviderConfig, RateLimitConfig, RecoveryCodesConfig, RefreshConfig,
    SamlConfig, SamlSettings, SessionConfig, SmsProviderConfig, TwilioConfig, Web3Config, WebauthnConfig,
};
pub use flows::claims_preview::{ClaimsPreviewError, preview_access_claims};
pub use flows::configuration_trial::{
    HookTrial, ProviderTrial, is_redirect_allowed, render_sample_mail, try_hook, try_provider,
};
pub use mailer::delivery::deliver_mails_forever;
pub use providers::PROVIDER_NAMES;
pub use routes::configure;
pub use state::AuthState;
pub use validation::glob::GlobError;
