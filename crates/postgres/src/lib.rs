//! Everything between a service and PostgreSQL.
//!
//! In: where the database is, statements with parameters, and under whose rights they run. Out: rows, or an error that
//! carries PostgreSQL's own words. The crate holds connections ([`Database`], [`RequestPool`]), runs the request
//! transaction in one network round trip ([`RequestTransaction`]), listens for notifications, brings schemas up to
//! date and runs an embedded cluster. It knows neither HTTP nor what a statement means.

mod database;
mod json;
mod listen;
mod pool_use;
mod request;
mod role_settings;
mod tls;
mod wire;

pub use database::{Database, Login, Logins, connect};
pub use json::{Chunks, JsonForm};
pub use listen::ListenEvent;
pub use pool_use::{PoolUse, PoolUseReport};
pub use request::{
    Access, Answer, DatabaseError, End, Isolation, Listed, Listing, Param, RequestContext, RequestError,
    RequestPool, RequestPoolConfig, RequestTransaction, SqlStatement, Stage, begin_as, column_bytes,
};
pub use role_settings::RoleSettings;
pub use wire::{ColumnIndex, NamedColumns, Row, RowError};

// Modules of the embedded cluster and of migrations.
pub mod cluster;
pub mod migrate;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
