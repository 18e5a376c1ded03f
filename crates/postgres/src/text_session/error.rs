//! The error of a session.

use tokio_postgres::error::SqlState;

use crate::wire::ConnectError;

/// Why a session is of no further use.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct TextSessionError {
    message: String,
    /// Whether PostgreSQL allows no further session, of this login or at all.
    is_too_many_connections: bool,
}

impl TextSessionError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            is_too_many_connections: false,
        }
    }

    pub(super) fn is_too_many_connections(&self) -> bool {
        self.is_too_many_connections
    }
}

impl From<std::io::Error> for TextSessionError {
    fn from(error: std::io::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<ConnectError> for TextSessionError {
    fn from(error: ConnectError) -> Self {
        let code = match &error {
            ConnectError::Login(error) => error.code(),
            ConnectError::Io(_) | ConnectError::Unusable(_) => None,
        };
        Self {
            is_too_many_connections: code == Some(&SqlState::TOO_MANY_CONNECTIONS),
            message: error.describe(),
        }
    }
}
