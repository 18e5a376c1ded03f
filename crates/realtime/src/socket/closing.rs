//! Why a socket ends, and the close code that its client gets.

use std::io;
use std::time::Duration;

use tokio_tungstenite::tungstenite::error::{CapacityError, Error};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// Why a socket ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The client has left, or the connection is lost.
    Gone,
    /// The client sent nothing for the idle timeout, or the socket has had no channel for the no-channel timeout.
    Idle,
    /// A frame was longer than the configured limit.
    FrameTooLarge,
    /// The client sent bytes that are not valid WebSocket frames, or text that is not UTF-8.
    Protocol,
    /// The client reads more slowly than messages arrive, and its outbox overflowed.
    SlowReader,
    /// A message is longer than the memory that is left for its client.
    OutOfMemory,
    /// A join exceeded the project's rate of joins.
    TooManyJoins,
    /// The server shuts down; the socket is closed after this pause.
    Drain(Duration),
}

impl Ending {
    /// The ending that corresponds to a read error of the WebSocket library.
    pub(super) fn of_error(error: &Error) -> Self {
        match error {
            Error::Capacity(CapacityError::MessageTooLong { .. }) => Self::FrameTooLarge,
            Error::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => Self::OutOfMemory,
            Error::Protocol(_) | Error::Utf8(_) => Self::Protocol,
            _ => Self::Gone,
        }
    }

    /// The close code and reason for the client (RFC 6455 §7.4); `None` when the connection was lost.
    pub(super) fn close_frame(self) -> Option<(CloseCode, &'static str)> {
        Some(match self {
            Self::Gone => return None,
            Self::Idle => (CloseCode::Normal, ""),
            Self::FrameTooLarge => (CloseCode::Size, ""),
            Self::Protocol => (CloseCode::Protocol, ""),
            Self::SlowReader => (CloseCode::Again, "the client reads too slowly"),
            Self::OutOfMemory => (CloseCode::Again, "the server has no memory for the message"),
            Self::TooManyJoins => (CloseCode::Away, "too many joins"),
            Self::Drain(_) => (CloseCode::Restart, ""),
        })
    }
}
