//! The streaming body of a client's request to a function.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_web::web::Payload;
use bytes::Bytes;
use futures_util::Stream;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Instant;

/// When the last piece of a request's body was passed on.
pub(super) type Progress = Rc<Cell<Instant>>;

/// The body of a request to a function.
pub(super) enum RequestBody {
    Empty,
    Stream {
        payload: Payload,
        /// Bytes that `Content-Length` announces; unknown for a chunked body.
        length: Option<u64>,
        progress: Progress,
    },
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match &mut *self {
            Self::Empty => Poll::Ready(None),
            Self::Stream {
                payload,
                length,
                progress,
            } => Pin::new(payload).poll_next(cx).map(|piece| {
                progress.set(Instant::now());
                let piece = piece?.map_err(io::Error::other);
                if let (Ok(piece), Some(length)) = (&piece, length) {
                    *length = length.saturating_sub(piece.len() as u64);
                }
                Some(piece.map(Frame::data))
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Empty)
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Stream {
                length: Some(length), ..
            } => SizeHint::with_exact(*length),
            Self::Stream { length: None, .. } => SizeHint::default(),
        }
    }
}
