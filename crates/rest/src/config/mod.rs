//! Settings of the service: what they are, how each is set by name, which of them the database holds, and what is derived
//! from them once instead of per request.

mod claim_path;
mod database_settings;
mod effective;
mod exposed_schemas;
mod rest_config;
mod setting;

pub use claim_path::ClaimPath;
pub(crate) use database_settings::read_settings;
pub(crate) use effective::EffectiveConfig;
pub use rest_config::{ErrorVerbosity, OpenApiMode, RestConfig, TransactionEnd};
pub use setting::{DATABASE_SETTINGS, SettingError};
