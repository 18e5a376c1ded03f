//! `/auth/v1`: users, sessions and tokens, as the stock client expects them.
//!
//! In: requests that passed the gateway. Out: JSON, redirects, mails, and rows in schema `auth` in the shape that projects' SQL
//! relies on. The rhythm of every endpoint: extractors say who may call and what was sent (`request`), pure decisions say what
//! follows (`machine`, `rules`), statements make it so (`store`), and `api` holds one file per endpoint that reads in this order.
//! Left to others: API keys, CORS, request ids and body time limits (gateway), signatures (token), delivery of mails (mail).
//!
//! Source of all behaviour: the Auth contract; test names carry its checklist ids.

mod accounts;
mod aftermath;
mod api;
mod captcha;
mod config;
mod error;
mod external_accounts;
mod gates;
mod hasher;
mod hooks;
mod http_client;
mod leaked_passwords;
mod letters;
mod limits;
mod machine;
mod mfa;
mod outbox;
mod pace;
mod providers;
mod redemption;
mod request;
mod routes;
mod rules;
mod sign_in;
mod state;
mod store;
mod sweep;
mod text_messages;
mod user;

pub use config::{
    AuthConfig, CaptchaConfig, CaptchaProvider, ClientAddress, EmailConfig, FactorSwitch, HookConfig,
    HookConfigError, HooksConfig, LeakedPasswordConfig, MfaConfig, OauthServerConfig, PasswordConfig,
    PhoneConfig, PhoneFactorConfig, ProviderConfig, RateLimitConfig, RefreshConfig, SessionConfig,
    SmsProviderConfig, TwilioConfig, Web3Config, WebauthnConfig,
};
pub use outbox::deliver_forever;
pub use providers::PROVIDER_NAMES;
pub use routes::configure;
pub use rules::glob::GlobError;
pub use state::AuthState;
pub use sweep::sweep_forever;
