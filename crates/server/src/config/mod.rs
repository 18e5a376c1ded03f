//! The configuration: one typed struct per section of `config.toml`, filled once by one loader.
//!
//! Later sources win: defaults, `config.toml` (the Supabase CLI's format), environment variables, flags.
//! [`Config::load`] returns everything the process needs to know; nothing else reads files or variables for
//! configuration. Unknown keys are warnings, wrong values are errors, both with their line.

mod api;
mod auth;
mod console;
mod database;
mod database_address;
mod database_url;
mod effective;
mod environment;
mod flags;
#[cfg(fuzzing)]
pub mod fuzzing;
mod linked;
mod loader;
mod named_address;
mod operator_keys;
pub(crate) mod postgrest;
pub(crate) mod postgrest_dump;
pub(crate) mod postgrest_file;
mod project;
mod read_paths;
mod removed;
mod section;
mod selvedge;
mod services;
mod source;
mod storage;
mod storage_environment;
#[cfg(test)]
mod tests;
mod typed_values;
mod units;

pub use api::{ApiConfig, TlsFiles};
pub use auth::{
    AuthSection, CaptchaProvider, CaptchaSection, EmailSection, EmailTemplate, FactorSwitch, HookSection,
    KeySection, MfaSection, NotificationTemplate, OauthServerSection, PasswordRequirements, PhoneFactor,
    ProviderSection, RateLimitSection, SamlSection, SmsProvider, SmsSection, SmtpSection, ThirdParty, Twilio,
    WebauthnSection,
};
pub use console::ConsoleSection;
pub use database::{DatabaseConfig, MajorVersion, MigrationsConfig, SeedConfig};
pub(crate) use database_address::{describe_database, describe_hosts};
pub(crate) use database_url::with_login;
pub use environment::Environment;
pub(crate) use environment::find_variable_line;
pub use flags::Flags;
pub(crate) use linked::{link_file, read_link};
pub use loader::{Config, ConfigError, Loaded};
pub use postgrest::{LogLevel, NamedSetting, ProcessSettings};
pub use project::Project;
pub(crate) use read_paths::climbs_behind_wildcard;
pub(crate) use selvedge::NamedPath;
pub use selvedge::{
    DevSignInSection, GeneratorSection, ImportSection, JobsSection, LimitsSection, NatsSection,
    ReplicasSection, S3ProtocolSection, S3Section, SelvedgeAuthSection, SelvedgeFunctionsSection,
    SelvedgeSection, TlsSection,
};
pub use services::{FunctionPolicy, FunctionSection, FunctionsSection, InboxSection, RealtimeSection};
pub use storage::{BucketSection, StorageSection};
