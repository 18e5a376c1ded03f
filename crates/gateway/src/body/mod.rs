//! Reads a request's whole body into memory, up to a limit. Bodies that stream (uploads) do not come here.

mod json_values;

use std::time::Duration;

use actix_web::error::PayloadError;
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use selvedge_limits::ClientId;
use selvedge_memory::{ARRIVING_COUNTED_FROM, MemoryBudget, Reservation};
use tokio::time::{Instant, timeout};

use crate::Caller;
use json_values::{MOST_VALUES, has_more_values};

/// What becomes of a body, by which its memory is reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyForm {
    /// It is sent on as it came: as it was read, and in the message to PostgreSQL.
    Bytes,
    /// It is parsed into JSON values, of which it may have [`MOST_VALUES`], and those are copied.
    Json,
    /// The same with so many values.
    JsonOf(usize),
}

impl BodyForm {
    fn copies(self) -> usize {
        match self {
            Self::Bytes => 2,
            Self::Json | Self::JsonOf(_) => 8,
        }
    }

    /// Most values and names of a body that is parsed.
    fn most_values(self) -> Option<usize> {
        match self {
            Self::Bytes => None,
            Self::Json => Some(MOST_VALUES),
            Self::JsonOf(most) => Some(most),
        }
    }
}

/// How much of a body is read, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimits<'m> {
    /// Largest body that is accepted.
    pub bytes: usize,
    /// Longest pause between two pieces; any if `None`.
    pub pause: Option<Duration>,
    /// Longest time for the whole body, checked when a piece arrives; any if `None`.
    pub duration: Option<Duration>,
    pub form: BodyForm,
    /// Where bodies of 4 KiB and more are counted until they are dropped.
    pub memory: &'m MemoryBudget,
    /// Whose share of the memory they are.
    pub client: ClientId,
}

impl<'m> BodyLimits<'m> {
    /// The limits of a request's body: its size, and the memory of the gateway.
    pub fn of_caller(bytes: usize, form: BodyForm, caller: &'m Caller) -> Self {
        Self {
            bytes,
            pause: None,
            duration: None,
            form,
            memory: caller.memory(),
            client: ClientId::of_connection(Some(caller.remote_ip())),
        }
    }
}

/// A body's part of the memory.
struct Counted<'m> {
    limits: BodyLimits<'m>,
    reservation: Option<Reservation>,
}

impl Counted<'_> {
    /// The body, counted until it is dropped.
    fn hold(self, body: Bytes) -> Bytes {
        match self.reservation {
            Some(reservation) => reservation.hold(body),
            None => body,
        }
    }

    /// Counts a further piece of a body, whose length with it is `length`. False when there is no memory left for it.
    fn add(&mut self, piece: usize, length: usize) -> bool {
        let BodyLimits {
            form, memory, client, ..
        } = self.limits;
        match &mut self.reservation {
            Some(reservation) => reservation.grow(piece * form.copies()),
            None if length < ARRIVING_COUNTED_FROM => true,
            none => {
                *none = memory.reserve_for(client, length * form.copies());
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
    let mut counted = Counted {
        limits,
        reservation: None,
    };
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
            let most_values = limits.form.most_values().filter(|most| body.len() > *most);
            if most_values.is_some_and(|most| has_more_values(&body, most)) {
                return Err(BodyError::TooLarge);
            }
            return Ok(counted.hold(body));
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
        if !counted.add(piece.len(), length) {
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

    /// A limit on the size alone.
    fn limits(bytes: usize, memory: &MemoryBudget) -> BodyLimits<'_> {
        BodyLimits {
            bytes,
            pause: None,
            duration: None,
            form: BodyForm::Bytes,
            memory,
            client: ClientId::of_connection(None),
        }
    }

    async fn read(pieces: &[&'static str], limits: BodyLimits<'_>) -> Result<Bytes, BodyError> {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|piece| Ok(Bytes::from_static(piece.as_bytes())))
            .collect();
        read_body(stream::iter(pieces), limits).await
    }

    #[actix_web::test]
    async fn chunks_are_joined_and_refused_above_the_size_limit() {
        let memory = MemoryBudget::unlimited();
        let limits = limits(6, &memory);

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

        let read = read_body(stream::iter([Ok(body)]), limits(64, &MemoryBudget::unlimited())).await;

        assert_eq!(read.expect("within the limit").as_ptr(), address);
    }

    #[actix_web::test]
    async fn a_body_with_too_long_a_pause_is_refused() {
        let memory = MemoryBudget::unlimited();
        let limits = BodyLimits {
            pause: Some(Duration::from_millis(1)),
            ..limits(6, &memory)
        };

        let read = read_body(stream::pending(), limits).await;

        assert!(matches!(read, Err(BodyError::TooSlow)));
    }

    #[actix_web::test]
    async fn gw_049_a_large_body_is_counted_until_it_is_dropped_and_refused_without_memory() {
        let copies = BodyForm::Bytes.copies();
        let memory = MemoryBudget::new((ARRIVING_COUNTED_FROM * copies + 500) * 2);
        let limits = limits(usize::MAX, &memory);
        let piece = || Ok(Bytes::from(vec![b'x'; ARRIVING_COUNTED_FROM / 4]));
        let pieces = |count| (0..count).map(|_| piece()).collect::<Vec<_>>();

        let small = read_body(stream::iter(pieces(3)), limits).await.expect("small");
        assert_eq!((small.len(), memory.used()), (ARRIVING_COUNTED_FROM / 4 * 3, 0));
        let large = read_body(stream::iter(pieces(4)), limits)
            .await
            .expect("there is room");
        assert_eq!(
            (large.len(), memory.used()),
            (ARRIVING_COUNTED_FROM, ARRIVING_COUNTED_FROM * copies)
        );
        let refused = read_body(stream::iter(pieces(4)), limits).await;
        assert!(matches!(refused, Err(BodyError::OutOfMemory)));
        drop(large);
        assert_eq!(memory.used(), 0);
        let grown = read_body(stream::iter(pieces(5)), limits).await;
        assert!(matches!(grown, Err(BodyError::OutOfMemory)));

        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn gw_049_values_of_json_are_counted_and_those_in_strings_are_not() {
        let arrays = format!("[{}[]]", "[],".repeat(MOST_VALUES / 2));
        let text = format!(
            r#"{{"bio":"{}\"{}"}}"#,
            "a,".repeat(MOST_VALUES),
            "[{,".repeat(MOST_VALUES)
        );

        assert!(has_more_values(arrays.as_bytes(), MOST_VALUES));
        assert!(!has_more_values(text.as_bytes(), MOST_VALUES));
        assert!(!has_more_values(&arrays.as_bytes()[..MOST_VALUES], MOST_VALUES));
    }

    #[actix_web::test]
    async fn a_broken_body_is_an_error() {
        let pieces = [Ok(Bytes::from_static(b"a")), Err(PayloadError::Incomplete(None))];

        let read = read_body(stream::iter(pieces), limits(6, &MemoryBudget::unlimited())).await;

        assert!(matches!(read, Err(BodyError::Broken(_))));
    }
}
