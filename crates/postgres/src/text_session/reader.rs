//! Reads the server's messages, and skips the part of a value beyond the limit.

use bytes::{Buf, BytesMut};
use tokio::io::AsyncReadExt;

use super::error::TextSessionError;
use super::message::{TextCell, TextEvent, TextNotice, TransactionStatus, cut_text, parse_columns};
use crate::wire::Stream;

/// Bytes requested from the socket per read.
const READ_SIZE: usize = 32 * 1024;
/// Errors and notices are kept to this length; a function can raise one of any length.
const NOTICE_BYTES: usize = 64 * 1024;
/// The longest description of a result: 1 664 columns have names of at most 63 bytes.
const DESCRIPTION_BYTES: usize = 1024 * 1024;

/// The bytes that have come and not been parsed.
#[derive(Default)]
pub(super) struct MessageReader {
    buffer: BytesMut,
    /// Bytes of the current message that were not read yet and will be skipped.
    unread: usize,
}

impl MessageReader {
    /// The next event; `None` for a message that means nothing to the caller.
    pub(super) async fn next(
        &mut self,
        stream: &mut Box<dyn Stream>,
        cell_bytes: usize,
        row_bytes: usize,
    ) -> Result<Option<TextEvent>, TextSessionError> {
        // An event whose future was dropped halfway left the rest of its message behind.
        self.skip(stream).await?;
        self.fill(stream, 5).await?;
        let tag = self.buffer[0];
        let length = u32::from_be_bytes([self.buffer[1], self.buffer[2], self.buffer[3], self.buffer[4]]);
        let Some(length) = (length as usize).checked_sub(4) else {
            return Err(malformed());
        };
        if tag == b'D' {
            return self
                .read_row(stream, length, cell_bytes, row_bytes)
                .await
                .map(Some);
        }
        let kept = length.min(match tag {
            b'E' | b'N' => NOTICE_BYTES,
            b'T' => DESCRIPTION_BYTES,
            _ => READ_SIZE,
        });
        self.fill(stream, 5 + kept).await?;
        self.buffer.advance(5);
        let body = self.buffer.split_to(kept);
        self.unread = length - kept;
        parse_event(tag, &body)
    }

    /// Reads a row cell by cell, so that only the kept part of a long value is ever in memory.
    async fn read_row(
        &mut self,
        stream: &mut Box<dyn Stream>,
        length: usize,
        cell_bytes: usize,
        row_bytes: usize,
    ) -> Result<TextEvent, TextSessionError> {
        self.fill(stream, 5).await?;
        self.buffer.advance(5);
        // The row is read in parts, so after a cancelled read the session cannot be used any more.
        let mut left = length;
        let count = u16::from_be_bytes(self.take(stream, &mut left).await?);
        let mut cells = Vec::with_capacity(usize::from(count));
        let mut budget = row_bytes;
        for _ in 0..count {
            let Ok(bytes) = usize::try_from(i32::from_be_bytes(self.take(stream, &mut left).await?)) else {
                cells.push(None);
                continue;
            };
            left = left.checked_sub(bytes).ok_or_else(malformed)?;
            let kept = bytes.min(cell_bytes).min(budget);
            budget -= kept;
            self.fill(stream, kept).await?;
            let text = if kept == bytes {
                String::from_utf8_lossy(&self.buffer[..kept]).into_owned()
            } else {
                cut_text(&self.buffer[..kept])
            };
            self.buffer.advance(kept);
            self.unread = bytes - kept;
            self.skip(stream).await?;
            cells.push(Some(TextCell { text, bytes }));
        }
        self.unread = left;
        Ok(TextEvent::Row(cells))
    }

    /// Takes a number off the current message, of which `left` bytes remain.
    async fn take<const N: usize>(
        &mut self,
        stream: &mut Box<dyn Stream>,
        left: &mut usize,
    ) -> Result<[u8; N], TextSessionError> {
        *left = left.checked_sub(N).ok_or_else(malformed)?;
        self.fill(stream, N).await?;
        let bytes = self.buffer.split_to(N);
        Ok(*bytes.first_chunk().expect("the buffer was filled to this length"))
    }

    /// Reads until `length` bytes are in the buffer.
    async fn fill(&mut self, stream: &mut Box<dyn Stream>, length: usize) -> Result<(), TextSessionError> {
        while self.buffer.len() < length {
            self.buffer.reserve(READ_SIZE.max(length - self.buffer.len()));
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(closed());
            }
        }
        Ok(())
    }

    /// Skips the rest of the current message.
    async fn skip(&mut self, stream: &mut Box<dyn Stream>) -> Result<(), TextSessionError> {
        while self.unread > 0 {
            if self.buffer.is_empty() {
                self.buffer.reserve(READ_SIZE);
                if stream.read_buf(&mut self.buffer).await? == 0 {
                    return Err(closed());
                }
            }
            let skipped = self.unread.min(self.buffer.len());
            self.buffer.advance(skipped);
            self.unread -= skipped;
        }
        Ok(())
    }
}

fn parse_event(tag: u8, body: &[u8]) -> Result<Option<TextEvent>, TextSessionError> {
    let with_end = |body: &[u8]| {
        // The end of a text that was cut, so that its beginning is still found.
        let mut whole = body.to_vec();
        whole.extend([0, 0]);
        TextNotice {
            length: body.len() + size_of::<u32>(),
            ..TextNotice::parse(&whole)
        }
    };
    Ok(match tag {
        b'T' => Some(TextEvent::Columns(parse_columns(body).ok_or_else(malformed)?)),
        b'N' => Some(TextEvent::Notice(with_end(body))),
        b'E' => {
            let error = with_end(body);
            if error.severity == "FATAL" || error.severity == "PANIC" {
                return Err(TextSessionError::new(format!(
                    "{}: {}",
                    error.code, error.message
                )));
            }
            Some(TextEvent::Error(error))
        }
        b'C' => {
            let text = body.split(|byte| *byte == 0).next().unwrap_or_default();
            Some(TextEvent::Complete(String::from_utf8_lossy(text).into_owned()))
        }
        b'I' => Some(TextEvent::Empty),
        b's' => Some(TextEvent::Suspended),
        b'G' => Some(TextEvent::CopyRequested),
        b'Z' => Some(TextEvent::Ready(match body.first() {
            Some(b'T') => TransactionStatus::Open,
            Some(b'E') => TransactionStatus::Failed,
            _ => TransactionStatus::Idle,
        })),
        // Parse and bind have succeeded, settings, notifications, the data of COPY … TO stdout.
        _ => None,
    })
}

fn closed() -> TextSessionError {
    TextSessionError::new("the database has closed the connection".to_owned())
}

fn malformed() -> TextSessionError {
    TextSessionError::new("the database sent a message that is not part of the protocol".to_owned())
}
