//! Statements under a caller's role, and the rows that they return.

pub(crate) mod deadlock;
pub(crate) mod object_row;
pub(crate) mod replica_reader;
pub(crate) mod service_transaction;
pub(crate) mod session;
pub(crate) mod statement;
