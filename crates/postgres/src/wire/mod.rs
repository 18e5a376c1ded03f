//! A driver with one purpose: to send several statements as one transaction in one round trip.
//!
//! The extended protocol lets a client send any number of statements before one `Sync`, and PostgreSQL runs them as one
//! transaction. `tokio-postgres` ends each statement with a `Sync` of its own, which costs both sides system calls and needs
//! `BEGIN` and `COMMIT`. So this module writes the messages of a request; `tokio-postgres` only logs in.

mod batch;
mod collector;
mod connect;
mod driver;
mod outgoing;
mod row;
mod server_message;
mod session_settings;
mod small_rows;
mod statements;

pub(crate) use batch::{Batch, BatchError, RepeatConditions};
pub(crate) use collector::{Finished, Refusal, Sink};
pub(crate) use connect::{
    ConnectError, Opened, STANDBY_ERROR, Stream, connect_host, is_unwanted_standby, open_connection,
    try_hosts,
};
pub(crate) use driver::{BatchLabel, Connection, Loss, OnFinished, Reply};
pub(crate) use row::{Column, Values};
pub use row::{ColumnIndex, NamedColumns, Row, RowError};
pub(crate) use server_message::{ErrorFields, split_text};
