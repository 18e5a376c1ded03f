//! The functions in a project's folder: their names, imports and environment variables.

mod env_file;
mod environment;
mod function;
mod import_map;
mod modules;

pub use env_file::{EnvFileError, parse_env_file};
pub(crate) use environment::compose_environment;
pub(crate) use function::{Function, find_function};
pub use function::{is_valid_slug, list_function_folders};
pub(crate) use import_map::{ChosenMap, MapOrigin, choose_import_map, compose_import_map};
pub(crate) use modules::scan_modules;
