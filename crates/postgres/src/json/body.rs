//! A document as a list of chunks: a long one is not copied when it grows, and the memory of each chunk is freed as
//! soon as it has been sent.

use std::collections::VecDeque;

use bytes::Bytes;

/// Bytes after which a chunk is complete and the next one begins.
const CHUNK_BYTES: usize = 32 * 1024;
/// Capacity with which the first chunk begins; most documents are short.
const FIRST_CAPACITY: usize = 1024;

/// Appends rows to a JSON document.
#[derive(Debug, Default)]
pub(super) struct Writer {
    done: VecDeque<Bytes>,
    current: Vec<u8>,
}

impl Writer {
    /// The buffer to which the next bytes are appended.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        if self.current.len() >= CHUNK_BYTES {
            // An eighth more, because the last value before the limit usually exceeds it.
            let full = std::mem::replace(
                &mut self.current,
                Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 8),
            );
            self.done.push_back(full.into());
        } else if self.current.capacity() == 0 {
            self.current.reserve(FIRST_CAPACITY);
        }
        &mut self.current
    }

    pub(super) fn finish(mut self) -> ByteChunks {
        if !self.current.is_empty() {
            self.done.push_back(self.current.into());
        }
        ByteChunks(self.done)
    }
}

/// A document as a list of chunks; iterating returns them in order.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ByteChunks(VecDeque<Bytes>);

impl ByteChunks {
    /// Total number of bytes.
    pub fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    /// Whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Bytes::is_empty)
    }
}

impl From<Bytes> for ByteChunks {
    fn from(whole: Bytes) -> Self {
        Self(VecDeque::from([whole]))
    }
}

impl Iterator for ByteChunks {
    type Item = Bytes;

    /// The next chunk. A document that was created as one long buffer is split here without a copy, so that the HTTP
    /// layer writes it in parts.
    fn next(&mut self) -> Option<Bytes> {
        let mut first = self.0.pop_front()?;
        if first.len() > 2 * CHUNK_BYTES {
            let piece = first.split_to(CHUNK_BYTES);
            self.0.push_front(first);
            return Some(piece);
        }
        Some(first)
    }
}
