//! Reads a request's whole body into memory, up to a limit. Bodies that stream (uploads) do not come here.

use std::time::Duration;

use actix_web::error::PayloadError;
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use tokio::time::{Instant, timeout};

/// How much of a body is read, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits {
    /// Largest body that is accepted.
    pub bytes: usize,
    /// Longest pause between two pieces; any if `None`.
    pub pause: Option<Duration>,
    /// Longest time for the whole body, checked when a piece arrives; any if `None`.
    pub duration: Option<Duration>,
}

impl BodyLimits {
    /// A limit on the size alone.
    pub const fn of_bytes(bytes: usize) -> Self {
        Self {
            bytes,
            pause: None,
            duration: None,
        }
    }
}

/// Why a body was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the body is larger than allowed")]
    TooLarge,
    #[error("the body took too long to arrive")]
    TooSlow,
    /// The connection broke, or the body's encoding is not the one in its head.
    #[error("{0}")]
    Broken(#[from] PayloadError),
}

/// Reads a payload to its end. A body that arrives in one piece is returned without a copy.
///
/// # Errors
/// [`BodyError`]; what was read until then is dropped.
pub async fn read_body(
    mut payload: impl Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    limits: BodyLimits,
) -> Result<Bytes, BodyError> {
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    let mut length = 0;
    let deadline = limits.duration.map(|duration| Instant::now() + duration);
    loop {
        let next = match limits.pause {
            Some(pause) => timeout(pause, payload.next())
                .await
                .map_err(|_| BodyError::TooSlow)?,
            None => payload.next().await,
        };
        let Some(piece) = next else {
            return Ok(first.unwrap_or_else(|| rest.freeze()));
        };
        // Checked in addition to the pause: a byte every few seconds would otherwise hold the connection for hours.
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return Err(BodyError::TooSlow);
        }
        let piece = piece?;
        // Counted while it arrives, because a chunked body announces no length.
        length += piece.len();
        if length > limits.bytes {
            return Err(BodyError::TooLarge);
        }
        match first.take() {
            None if rest.is_empty() => first = Some(piece),
            None => rest.extend_from_slice(&piece),
            Some(earlier) => {
                rest.extend_from_slice(&earlier);
                rest.extend_from_slice(&piece);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn read(pieces: &[&'static str], limits: BodyLimits) -> Result<Bytes, BodyError> {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|piece| Ok(Bytes::from_static(piece.as_bytes())))
            .collect();
        read_body(stream::iter(pieces), limits).await
    }

    #[actix_web::test]
    async fn chunks_are_joined_and_refused_above_the_size_limit() {
        let limits = BodyLimits::of_bytes(6);

        assert_eq!(read(&[], limits).await.expect("empty"), "");
        assert_eq!(read(&["abc"], limits).await.expect("one piece"), "abc");
        assert_eq!(
            read(&["ab", "", "cd", "ef"], limits).await.expect("several"),
            "abcdef"
        );
        assert!(matches!(
            read(&["abcd", "efg"], limits).await,
            Err(BodyError::TooLarge)
        ));
    }

    #[actix_web::test]
    async fn a_body_in_one_piece_is_not_copied() {
        let body = Bytes::from(vec![b'x'; 64]);
        let address = body.as_ptr();

        let read = read_body(stream::iter([Ok(body)]), BodyLimits::of_bytes(64)).await;

        assert_eq!(read.expect("within the limit").as_ptr(), address);
    }

    #[actix_web::test]
    async fn a_body_with_too_long_a_pause_is_refused() {
        let limits = BodyLimits {
            pause: Some(Duration::from_millis(1)),
            ..BodyLimits::of_bytes(6)
        };

        let read = read_body(stream::pending(), limits).await;

        assert!(matches!(read, Err(BodyError::TooSlow)));
    }

    #[actix_web::test]
    async fn a_broken_body_is_an_error() {
        let pieces = [Ok(Bytes::from_static(b"a")), Err(PayloadError::Incomplete(None))];

        let read = read_body(stream::iter(pieces), BodyLimits::of_bytes(6)).await;

        assert!(matches!(read, Err(BodyError::Broken(_))));
    }
}
