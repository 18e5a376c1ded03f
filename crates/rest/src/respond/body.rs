//! A response body that is sent chunk by chunk.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, MessageBody};
use bytes::Bytes;
use selvedge_postgres::ByteChunks;

/// A body of known length in chunks: the server copies no more than one at a time, and each is freed when it is sent.
pub(super) struct ChunkedBody {
    chunks: ByteChunks,
    length: u64,
}

impl ChunkedBody {
    pub(super) fn new(chunks: ByteChunks) -> Self {
        let length = chunks.len() as u64;
        Self { chunks, length }
    }
}

impl MessageBody for ChunkedBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.length)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(self.chunks.next().map(Ok))
    }
}
