//! `/rest/v1`: the query language of tables and functions, answered by one SQL statement.
//!
//! In: HTTP requests that passed the gateway. Out: rows as PostgreSQL rendered them, or an error in PostgREST's shape. A
//! request goes through stages, each a type:
//!
//! | stage | from | to |
//! |---|---|---|
//! | [`request`] | method, URL, headers, body | [`ApiRequest`](request::ApiRequest): what was asked |
//! | [`plan`] | + [`catalog`] | [`Plan`](plan::Plan): what will be done |
//! | [`sql`] | the plan | [`Statements`](sql::Statements): text by shape, values as parameters |
//! | `execute` | + the caller's identity | `Outcome`: rows, in one transaction and one round trip |
//! | `respond` | plan and outcome | status, headers, body |
//!
//! The first three are pure. What a caller may see is PostgreSQL's to decide; tokens are verified by the gateway;
//! connections and the transaction belong to `selvedge-postgres`.

mod admin;
pub mod catalog;
mod config;
mod error;
mod execute;
#[cfg(fuzzing)]
pub mod fuzzing;
mod identifier;
mod identity;
mod openapi;
pub mod plan;
pub mod request;
mod respond;
mod schema_cache;
mod service;
pub mod sql;

pub use admin::{Admin, MainSocket, configure_admin, dump_schema};
pub use config::{
    ClaimPath, DATABASE_SETTINGS, ErrorVerbosity, OpenApiMode, RestConfig, SettingError, TransactionEnd,
};
pub use error::{AuthError, CatalogError, DatabaseFault, RequestError, RestError, Wire};
pub use identifier::QualifiedName;
pub use schema_cache::{SchemaCache, SchemaCacheHealth};
pub use service::{RestWorker, configure, graphql_scope};
