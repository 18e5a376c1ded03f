//! The configuration: one typed struct per section of `config.toml`, filled once by one loader.
//!
//! In: `config.toml` (the Supabase CLI's format), the environment and flags, where later sources win over earlier ones and over the defaults.
//! Out: [`Config`], which holds everything the process needs to know, where each value comes from, and messages: unknown keys are
//! warnings, wrong values are errors, both with their line. Nothing else reads files or variables for configuration.
//!
//! What the values make of the services is left to the callers, which translate them into each service's own types.

mod database_address;
mod environment;
mod flags;
#[cfg(fuzzing)]
pub mod fuzzing;
mod linked;
mod loader;
mod mode;
mod named_address;
pub mod postgrest;
mod project;
mod read_paths;
mod reader;
mod sections;
#[cfg(test)]
mod tests;

pub use database_address::{describe_database, describe_hosts, with_login};
pub use environment::{Environment, find_variable_line};
pub use flags::Flags;
pub use linked::{link_file, read_link};
pub use loader::{Config, ConfigError, Loaded};
pub use mode::Mode;
pub use postgrest::{LogLevel, NamedSetting, ProcessSettings};
pub use project::Project;
pub use read_paths::climbs_behind_wildcard;
pub use reader::effective::EffectiveSettings;
pub use reader::setting::{EffectiveSetting, SettingOrigin};
pub use sections::api::{ApiConfig, TlsFiles};
pub use sections::auth::{
    AuthSection, CaptchaProvider, CaptchaSection, EmailSection, EmailTemplate, FactorSwitch, HookSection,
    KeySection, MfaSection, NotificationTemplate, OauthServerSection, PasswordRequirements, PhoneFactor,
    ProviderSection, RateLimitSection, SamlSection, SmsProvider, SmsSection, SmtpSection, ThirdParty, Twilio,
    WebauthnSection,
};
pub use sections::console::ConsoleSection;
pub use sections::database::{DatabaseConfig, MajorVersion, MigrationsConfig, SeedConfig};
pub use sections::selvedge::{
    DevSignInSection, GeneratorSection, ImportSection, JobsSection, LimitsSection, NamedPath, NatsSection,
    ReplicasSection, S3ProtocolSection, S3Section, SelvedgeAuthSection, SelvedgeFunctionsSection,
    SelvedgeSection, TlsSection,
};
pub use sections::services::{
    FunctionPolicy, FunctionSection, FunctionsSection, InboxSection, RealtimeSection,
};
pub use sections::storage::{BucketSection, StorageSection};
