//! `/rest/v1`: the query language of tables and functions, answered by one SQL statement.
//!
//! In: HTTP requests that passed the gateway. Out: rows as PostgreSQL rendered them, or an error in the service's
//! shape. A request goes through stages, each a type: [`request`] (bytes → what was asked), [`plan`] (+ catalog →
//! what will be done), [`sql`] (→ one statement), `execute` (→ rows, under the caller's rights, in one round trip),
//! `respond` (→ status, headers, body). The first three are pure. What a caller may see is PostgreSQL's to decide;
//! tokens are verified by the gateway; connections and the transaction belong to `selvedge-postgres`.

mod admin;
pub mod catalog;
mod config;
mod edge;
mod error;
mod execute;
mod identifier;
mod identity;
mod openapi;
pub mod plan;
pub mod request;
mod respond;
mod service;
mod settings;
pub mod sql;
mod state;
mod store;

pub use admin::{Admin, MainSocket, configure_admin};
pub use config::{
    ErrorVerbosity, IN_DATABASE, OpenApiMode, RestConfig, RolePath, SettingError, TransactionEnd,
};
pub use error::{AuthError, CatalogError, DatabaseFault, RequestError, RestError, Wire};
pub use identifier::QualifiedName;
pub use service::configure;
pub use state::RestState;
pub use store::CatalogHealth;
