//! The errors of a replication connection.

use std::io;

use crate::wire::{ConnectError, ErrorFields};

/// Why the stream could not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ReplicationError {
    #[error("no connection for replication: {0}")]
    Connect(String),
    /// PostgreSQL refused: 55000 where `wal_level` is not logical, 53400 where no slot is free, 42501 without the right.
    #[error("{code}: {message}")]
    Refused { code: String, message: String },
    #[error("the replication connection broke: {0}")]
    Io(#[from] io::Error),
    #[error("the replication stream is malformed: {0}")]
    Malformed(&'static str),
}

impl ReplicationError {
    pub(super) fn malformed(what: &'static str) -> Self {
        Self::Malformed(what)
    }

    /// From the body of an `ErrorResponse`.
    pub(super) fn refused(body: &[u8]) -> Self {
        let fields = ErrorFields::parse(body);
        Self::Refused {
            code: fields.code,
            message: fields.message,
        }
    }
}

impl From<ConnectError> for ReplicationError {
    fn from(error: ConnectError) -> Self {
        Self::Connect(error.describe())
    }
}
