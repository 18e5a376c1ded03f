//! Everything that can go wrong: the error types, and in `table.rs` what each looks like to the client.

mod database;
mod reason_phrase;
mod table;
mod types;
mod wire;

pub use database::DatabaseFault;
pub use types::{AuthError, CatalogError, RequestError, RestError};
pub use wire::Wire;
