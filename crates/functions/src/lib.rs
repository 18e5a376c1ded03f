//! `/functions/v1`: edge functions, run by Deno or written in Rust.
//!
//! In: requests for `/<slug>/…`, which the gateway has seen, and the folder of a project with its functions. Out: the
//! function's own response as a stream, or an error in the shape of the original's runtime. A function of the project runs
//! in a process of its own (a *worker*): real Deno, confined by Deno's permissions, spoken to over a unix socket. Workers
//! start with the first request, are shared by the requests of a function, and end at a limit, when they are idle or when
//! their source changes. What a worker does never touches another function or this process.
//!
//! Which rows a function may read is decided by PostgreSQL: functions call the API with the caller's token or with the keys
//! in their environment.
//!
//! Source of all behaviour: the functions contract.

mod config;
mod deno;
mod error;
mod http;
mod native;
mod pool;
mod product_import;
mod project;
mod service;
#[cfg(test)]
mod testing;
mod worker;

pub use config::{
    DeclaredFunction, DenoSearch, EnvironmentConfig, FunctionKeys, FunctionsConfig, Inspect, InspectMode,
    Policy, WorkerLimits,
};
pub use deno::{explain_refusal, package_names as deno_package_names};
pub use http::FunctionsWorker;
pub use native::{NativeFunction, NativeRequest};
pub use product_import::{ProductImport, ProductImportConfig};
pub use project::{EnvFile, EnvFileError, is_valid_slug, list_function_folders, parse_env_file};
pub use selvedge_product_import::{Addresses, Retailer};
pub use service::Functions;
