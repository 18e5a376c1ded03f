//! The functions in a project's folder: their names, imports and environment variables.

mod boundary;
mod deno_settings;
mod env_file;
mod environment;
mod function;
mod import_map;
mod modules;

pub(crate) use boundary::Boundary;
pub(crate) use deno_settings::list_deno_settings;
pub use env_file::{EnvFile, EnvFileError, parse_env_file};
pub(crate) use environment::compose_environment;
pub(crate) use function::{Function, find_function};
pub use function::{is_valid_slug, list_function_folders};
pub(crate) use import_map::{ChosenMap, MapOrigin, choose_import_map, compose_import_map, find_named_map};
pub(crate) use modules::scan_modules;
