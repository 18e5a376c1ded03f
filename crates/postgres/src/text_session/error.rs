//! The error of a session.

use crate::wire::ConnectError;

/// Why a session is of no further use.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TextSessionError(String);

impl TextSessionError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl From<std::io::Error> for TextSessionError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<ConnectError> for TextSessionError {
    fn from(error: ConnectError) -> Self {
        Self(error.describe())
    }
}
