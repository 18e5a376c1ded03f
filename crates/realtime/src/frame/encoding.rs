//! The encoding of a user broadcast's payload.

/// How the payload of a user broadcast is encoded; sent as the byte `enc` of a binary frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Opaque bytes, which version 1 cannot carry.
    Bytes,
    /// UTF-8 JSON.
    Json,
}
