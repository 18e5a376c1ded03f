//! Creates the state that the services share, and each service.
//!
//! [`Services`] exists once per process, [`WorkerServices`](worker::WorkerServices) once per worker thread, with that
//! thread's database connections. `translate/` converts sections of the configuration to the services' own structs, so that
//! no service depends on the format of `config.toml`.

mod auth_inspection;
mod background;
mod disk_watch;
mod function_sessions;
mod function_settings;
mod in_process;
mod memory_plan;
mod memory_relief;
mod picture_store;
mod shared;
mod third_party;
mod translate;
mod upgrades;
mod worker;
mod write_tracking;

pub(crate) use background::BackgroundRuntime;
pub(crate) use disk_watch::watch_disk;
pub(crate) use function_sessions::{Session, SessionOptions};
pub(crate) use in_process::make_api_service;
pub(crate) use memory_plan::{start_memory_budget, watch_sessions};
pub(crate) use shared::{Services, fill_buckets, open_storage};
pub(crate) use translate::auth_providers::identity_settings;
pub(crate) use translate::caught_messages::caught_service;
pub(crate) use translate::console::console_config;
