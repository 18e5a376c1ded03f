//! Which part of an HTTP/1.1 byte stream comes next. Shared by the head's reader, which decides it, and the framer.

use super::chunks::ChunkedBody;

/// The part of a connection to which the next byte belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The head of a request: its first byte or a later one.
    Head,
    /// A Content-Length body; this many bytes are still to come.
    Body(u64),
    /// A chunked body, which marks its own end.
    Chunked(ChunkedBody),
    /// After an upgrade (WebSocket) bytes pass through unparsed until the connection closes.
    Upgraded,
}
