//! Response bodies that are counted until the client has taken them.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;

use super::quota::Usage;

/// Most bytes of a chunk. The server copies a whole chunk into its write buffer, so a body in one long piece would be in
/// memory twice until the client has read it.
const CHUNK: usize = 64 * 1024;

/// When a [`TrackedBody`] returns its amount to the quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Returns {
    /// The bytes of each chunk, when it was sent.
    Bytes,
    /// Everything at the end of the body.
    AtEnd,
}

/// A body together with what it uses of a quota.
pub(super) struct TrackedBody {
    inner: BoxBody,
    usage: Usage,
    returns: Returns,
    /// The part of a long chunk that is not sent yet.
    rest: Bytes,
}

impl TrackedBody {
    pub(super) fn new(inner: BoxBody, usage: Usage, returns: Returns) -> Self {
        Self {
            inner,
            usage,
            returns,
            rest: Bytes::new(),
        }
    }
}

impl MessageBody for TrackedBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.inner.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = &mut *self;
        if this.rest.is_empty() {
            match ready!(Pin::new(&mut this.inner).poll_next(cx)) {
                Some(Ok(chunk)) => this.rest = chunk,
                other => return Poll::Ready(other),
            }
        }
        let chunk = this.rest.split_to(this.rest.len().min(CHUNK));
        if this.returns == Returns::Bytes {
            this.usage.give_back(chunk.len());
        }
        Poll::Ready(Some(Ok(chunk)))
    }
}
