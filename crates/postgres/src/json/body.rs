//! A document in pieces, so that a long one needs neither one long buffer nor copies when it grows, and can be given back
//! piece by piece while it is sent.

use std::collections::VecDeque;

use bytes::Bytes;

/// How long a piece gets.
const PIECE: usize = 32 * 1024;
/// The first piece begins small: most documents are.
const FIRST: usize = 1024;

/// Appends to a document.
#[derive(Debug, Default)]
pub(super) struct Writer {
    done: VecDeque<Bytes>,
    current: Vec<u8>,
}

impl Writer {
    /// Where the next bytes go.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        if self.current.len() >= PIECE {
            let full = std::mem::replace(&mut self.current, Vec::with_capacity(PIECE + PIECE / 8));
            self.done.push_back(full.into());
        } else if self.current.capacity() == 0 {
            self.current.reserve(FIRST);
        }
        &mut self.current
    }

    pub(super) fn finish(mut self) -> Chunks {
        if !self.current.is_empty() {
            self.done.push_back(self.current.into());
        }
        Chunks(self.done)
    }
}

/// A document in pieces.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Chunks(VecDeque<Bytes>);

impl Chunks {
    /// Bytes in all pieces together.
    pub fn len(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    /// Whether there is no byte.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Bytes::is_empty)
    }
}

impl From<Bytes> for Chunks {
    fn from(whole: Bytes) -> Self {
        Self(VecDeque::from([whole]))
    }
}

impl Iterator for Chunks {
    type Item = Bytes;

    /// The next piece. A long one that came in one is divided here, so that nobody has to copy it at once.
    fn next(&mut self) -> Option<Bytes> {
        let mut first = self.0.pop_front()?;
        if first.len() > 2 * PIECE {
            let piece = first.split_to(PIECE);
            self.0.push_front(first);
            return Some(piece);
        }
        Some(first)
    }
}
