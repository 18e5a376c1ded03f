//! Settings of the service: what they are, how each is set by name, which of them the database holds, and what is derived
//! from them once instead of per request.

mod database_settings;
mod effective;
mod exposed_schemas;
mod rest_config;
mod role_claim_path;
mod setting;

pub(crate) use database_settings::read_settings;
pub(crate) use effective::EffectiveConfig;
pub use rest_config::{ErrorVerbosity, OpenApiMode, RestConfig, TransactionEnd};
pub use role_claim_path::RoleClaimPath;
pub use setting::{DATABASE_SETTINGS, SettingError};
