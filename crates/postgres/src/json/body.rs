//! A document as a list of chunks: a long one is not copied when it grows, and the memory of each chunk is freed as
//! soon as it has been sent.

use std::collections::VecDeque;

use bytes::Bytes;
use selvedge_memory::{COUNTED_FROM, MemoryBudget, Reservation};

/// Bytes after which a chunk is complete and the next one begins.
const CHUNK_BYTES: usize = 32 * 1024;
/// Capacity with which the first chunk begins; most documents are short.
const FIRST_CAPACITY: usize = 1024;

/// Appends rows to a JSON document.
#[derive(Debug, Default)]
pub(super) struct Writer {
    done: VecDeque<Bytes>,
    current: Vec<u8>,
    /// The part of the memory for `current`, if it has to hold a long value.
    reserved: Option<Reservation>,
    is_out_of_memory: bool,
    /// Whether the document is the response to a write, which has taken effect.
    writes: bool,
}

impl Writer {
    /// A document that begins with a character, or with nothing.
    pub(super) fn beginning_with(character: Option<u8>, writes: bool) -> Self {
        let mut current = Vec::new();
        if let Some(character) = character {
            current.reserve(FIRST_CAPACITY);
            current.push(character);
        }
        Self {
            current,
            writes,
            ..Self::default()
        }
    }

    /// The buffer to which a row of this many bytes is appended.
    pub(super) fn buffer(&mut self, row_bytes: usize, memory: &MemoryBudget) -> &mut Vec<u8> {
        if self.current.len() >= CHUNK_BYTES {
            self.complete_chunk(memory);
        } else if self.current.capacity() == 0 {
            self.current.reserve(FIRST_CAPACITY);
        }
        if row_bytes >= COUNTED_FROM {
            self.make_room(row_bytes, memory);
        }
        &mut self.current
    }

    /// Ends the document with a character, or with nothing.
    pub(super) fn finish(mut self, end: Option<u8>) -> ByteChunks {
        self.current.extend(end);
        if !self.current.is_empty() {
            let last = Bytes::from(self.current);
            self.done.push_back(match self.reserved {
                Some(reserved) => reserved.hold(last),
                None => last,
            });
        }
        ByteChunks(self.done)
    }

    /// Begins the next chunk. Chunks are counted once the document is large.
    fn complete_chunk(&mut self, memory: &MemoryBudget) {
        // An eighth more, because the last value before the limit usually exceeds it.
        let capacity = CHUNK_BYTES + CHUNK_BYTES / 8;
        let full = std::mem::replace(&mut self.current, Vec::with_capacity(capacity));
        let is_counted = self.done.len() * CHUNK_BYTES >= COUNTED_FROM;
        let reserved = self.reserved.take();
        self.done.push_back(match reserved {
            Some(reserved) => reserved.hold(full.into()),
            None if !is_counted => full.into(),
            None => match self.reserve(full.capacity(), memory) {
                Some(reserved) => reserved.hold(full.into()),
                None => return self.give_up(),
            },
        });
    }

    fn reserve(&self, bytes: usize, memory: &MemoryBudget) -> Option<Reservation> {
        match self.writes {
            true => memory.reserve_for_write(bytes),
            false => memory.reserve(bytes),
        }
    }

    /// Makes room for a long value in one piece, so that the buffer is not copied while it grows.
    fn make_room(&mut self, bytes: usize, memory: &MemoryBudget) {
        let bytes = bytes + bytes / 8;
        let is_reserved = match &mut self.reserved {
            Some(reserved) => reserved.grow(bytes),
            None => {
                self.reserved = self.reserve(bytes, memory);
                self.reserved.is_some()
            }
        };
        if is_reserved {
            self.current.reserve_exact(bytes);
        } else {
            self.give_up();
        }
    }

    /// Frees what was written, since the document does not fit into the memory that is left.
    fn give_up(&mut self) {
        *self = Self {
            is_out_of_memory: true,
            ..Self::default()
        };
    }

    /// Whether the document was given up.
    pub(super) fn is_out_of_memory(&self) -> bool {
        self.is_out_of_memory
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
