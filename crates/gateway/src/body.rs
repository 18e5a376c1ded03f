//! Reads a request's whole body into memory, up to a limit. Bodies that stream (uploads) do not come here.

use std::time::Duration;

use actix_web::error::PayloadError;
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use selvedge_memory::{COUNTED_FROM, MemoryBudget, Reservation};
use tokio::time::{Instant, timeout};

/// How often a body is in memory: as it was read, and as it is sent on to PostgreSQL.
const COPIES: usize = 2;

/// How much of a body is read, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits<'m> {
    /// Largest body that is accepted.
    pub bytes: usize,
    /// Longest pause between two pieces; any if `None`.
    pub pause: Option<Duration>,
    /// Longest time for the whole body, checked when a piece arrives; any if `None`.
    pub duration: Option<Duration>,
    /// Where large bodies are counted until they are dropped; nowhere if `None`.
    pub memory: Option<&'m MemoryBudget>,
}

impl BodyLimits<'_> {
    /// A limit on the size alone.
    pub const fn of_bytes(bytes: usize) -> Self {
        Self {
            bytes,
            pause: None,
            duration: None,
            memory: None,
        }
    }
}

/// A large body's part of the memory.
struct Counted<'m> {
    memory: &'m MemoryBudget,
    reservation: Option<Reservation>,
}

impl<'m> Counted<'m> {
    fn new(memory: &'m MemoryBudget) -> Self {
        Self {
            memory,
            reservation: None,
        }
    }

    /// The body, counted until it is dropped.
    fn hold(self, body: Bytes) -> Bytes {
        match self.reservation {
            Some(reservation) => reservation.hold(body),
            None => body,
        }
    }

    /// Counts a further piece of a body, whose length with it is `length`. False when there is no memory left for it.
    fn add(&mut self, piece: usize, length: usize) -> bool {
        match &mut self.reservation {
            Some(reservation) => reservation.grow(piece * COPIES),
            None if length < COUNTED_FROM => true,
            none => {
                *none = self.memory.reserve(length * COPIES);
                none.is_some()
            }
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
    #[error("there is no memory left for the body")]
    OutOfMemory,
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
    limits: BodyLimits<'_>,
) -> Result<Bytes, BodyError> {
    let mut counted = limits.memory.map(Counted::new);
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
            let body = first.unwrap_or_else(|| rest.freeze());
            return Ok(match counted {
                Some(counted) => counted.hold(body),
                None => body,
            });
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
        if let Some(counted) = &mut counted
            && !counted.add(piece.len(), length)
        {
            return Err(BodyError::OutOfMemory);
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

    async fn read(pieces: &[&'static str], limits: BodyLimits<'_>) -> Result<Bytes, BodyError> {
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
    async fn gw_049_a_large_body_is_counted_until_it_is_dropped_and_refused_without_memory() {
        let memory = MemoryBudget::new(COUNTED_FROM * COPIES + 1000);
        let limits = BodyLimits {
            memory: Some(&memory),
            ..BodyLimits::of_bytes(usize::MAX)
        };
        let piece = || Ok(Bytes::from(vec![b'x'; COUNTED_FROM / 4]));
        let pieces = |count| (0..count).map(|_| piece()).collect::<Vec<_>>();

        let small = read_body(stream::iter(pieces(3)), limits).await.expect("small");
        assert_eq!((small.len(), memory.used()), (COUNTED_FROM / 4 * 3, 0));
        let large = read_body(stream::iter(pieces(4)), limits)
            .await
            .expect("there is room");
        assert_eq!(
            (large.len(), memory.used()),
            (COUNTED_FROM, COUNTED_FROM * COPIES)
        );
        let refused = read_body(stream::iter(pieces(4)), limits).await;
        assert!(matches!(refused, Err(BodyError::OutOfMemory)));
        drop(large);
        assert_eq!(memory.used(), 0);
        let grown = read_body(stream::iter(pieces(5)), limits).await;
        assert!(matches!(grown, Err(BodyError::OutOfMemory)));

        assert_eq!(memory.used(), 0);
    }

    #[actix_web::test]
    async fn a_broken_body_is_an_error() {
        let pieces = [Ok(Bytes::from_static(b"a")), Err(PayloadError::Incomplete(None))];

        let read = read_body(stream::iter(pieces), BodyLimits::of_bytes(6)).await;

        assert!(matches!(read, Err(BodyError::Broken(_))));
    }
}
