//! A thin driver for one purpose: batches of statements that are one transaction and one round trip.
//!
//! The extended protocol lets a client send any number of statements before one `Sync`, and PostgreSQL treats them as one
//! transaction. Drivers end each statement in a `Sync` of its own, which costs both sides a system call and PostgreSQL a
//! transaction block. So the messages of a request are ours; logging in is `tokio-postgres`'.

mod batch;
mod connect;
mod driver;
mod row;
mod server_message;
mod statements;

pub(crate) use batch::{Batch, BatchError, Finished, Refusal, Sink};
pub(crate) use connect::{ConnectError, Opened, open};
pub(crate) use driver::{Connection, Label, OnAnswer, Reply};
pub(crate) use row::{Column, Values};
pub use row::{ColumnIndex, NamedColumns, Row, RowError};
pub(crate) use server_message::ErrorFields;
