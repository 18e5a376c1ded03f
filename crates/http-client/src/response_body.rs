//! Reads the body of a response, of which large ones wait for a place.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use crate::error::CallError;

/// A longer body is a large one.
const LARGE_BODY: usize = 64 * 1024;
/// How long a body may keep a place beyond the time that it needs at [`SLOWEST`].
const GRACE: Duration = Duration::from_secs(5);
/// Bytes per second. A server that sends less would keep the places from others by a few bytes.
const SLOWEST: u64 = 16 * 1024;

/// A place, and since when it is taken.
struct Place {
    permit: OwnedSemaphorePermit,
    taken: Instant,
    read_before: usize,
}

impl Place {
    /// Waits for a place, for a body of which so many bytes were read. `None` if there are no more places, which never happens.
    async fn take(places: &Arc<Semaphore>, read_before: usize) -> Option<Self> {
        let permit = Arc::clone(places).acquire_owned().await.ok()?;
        Some(Self {
            permit,
            taken: Instant::now(),
            read_before,
        })
    }

    /// When a body of which so much has been read has kept it for too long.
    fn end(&self, read: usize) -> Instant {
        let bytes = u64::try_from(read - self.read_before).unwrap_or(u64::MAX);
        self.taken + GRACE + Duration::from_secs(bytes / SLOWEST)
    }
}

/// The bytes of a large body with its place, which is given back when they and all slices of them have been dropped.
struct PlacedBytes {
    bytes: Bytes,
    _place: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for PlacedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a whole body of at most `max_bytes`. `places` has the places for large ones, where there are few.
///
/// # Errors
/// When the body is longer, the connection ends before, or a place is kept by a body that comes too slowly.
pub(crate) async fn read_body<B>(
    body: B,
    max_bytes: usize,
    places: Option<&Arc<Semaphore>>,
    host: &str,
) -> Result<Bytes, CallError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut body = std::pin::pin!(Limited::new(body, max_bytes));
    let mut read = BytesMut::new();
    let mut place: Option<Place> = None;
    loop {
        let end = place.as_ref().map(|place| place.end(read.len()));
        let too_slow = async {
            match end {
                Some(end) => sleep_until(end).await,
                None => pending().await,
            }
        };
        let frame = tokio::select! {
            biased;
            frame = body.frame() => frame,
            () = too_slow => return Err(CallError::Timeout { host: host.to_owned() }),
        };
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|error| describe(&*error, host))?;
        let Ok(data) = frame.into_data() else { continue };
        if let Some(places) = places
            && place.is_none()
            && read.len() + data.len() > LARGE_BODY
        {
            place = Place::take(places, read.len()).await;
        }
        read.extend_from_slice(&data);
    }
    let bytes = read.freeze();
    Ok(match place {
        Some(Place { permit, .. }) => Bytes::from_owner(PlacedBytes {
            bytes,
            _place: permit,
        }),
        None => bytes,
    })
}

fn describe(error: &(dyn std::error::Error + Send + Sync + 'static), host: &str) -> CallError {
    let host = host.to_owned();
    if error.is::<LengthLimitError>() {
        CallError::TooLarge { host }
    } else {
        CallError::BadBody { host }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::Full;
    use tokio::time::timeout;

    use super::*;

    async fn read(length: usize, places: &Arc<Semaphore>) -> Result<Bytes, CallError> {
        let body = Full::new(Bytes::from(vec![b'x'; length]));
        read_body(body, 1 << 20, Some(places), "example.com").await
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_large_bodies_are_read_one_after_the_other_and_small_ones_beside_them() {
        let places = Arc::new(Semaphore::new(1));
        let first = read(LARGE_BODY + 1, &places).await.expect("there is a place");
        assert_eq!(first.len(), LARGE_BODY + 1);

        let next = timeout(Duration::from_secs(60), read(LARGE_BODY + 1, &places)).await;
        assert!(next.is_err(), "it waits for the first one");
        assert!(read(LARGE_BODY, &places).await.is_ok());
        let slice = first.slice(1..2);
        drop(first);
        assert_eq!(places.available_permits(), 0);
        drop(slice);

        assert!(read(LARGE_BODY + 1, &places).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_a_body_that_comes_by_the_byte_keeps_no_place() {
        /// Sends a part, and then a byte per second for ever.
        struct Slow {
            first: Option<Bytes>,
            pause: std::pin::Pin<Box<tokio::time::Sleep>>,
        }
        impl Body for Slow {
            type Data = Bytes;
            type Error = std::io::Error;

            fn poll_frame(
                mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, std::io::Error>>> {
                if let Some(first) = self.first.take() {
                    return std::task::Poll::Ready(Some(Ok(hyper::body::Frame::data(first))));
                }
                std::task::ready!(self.pause.as_mut().poll(cx));
                self.pause = Box::pin(tokio::time::sleep(Duration::from_secs(1)));
                std::task::Poll::Ready(Some(Ok(hyper::body::Frame::data(Bytes::from_static(b"x")))))
            }
        }
        let places = Arc::new(Semaphore::new(1));
        let body = Slow {
            first: Some(Bytes::from(vec![b'x'; LARGE_BODY + 1])),
            pause: Box::pin(tokio::time::sleep(Duration::ZERO)),
        };

        let slow = timeout(
            Duration::from_secs(60),
            read_body(body, 1 << 20, Some(&places), "example.com"),
        )
        .await;

        assert!(matches!(slow, Ok(Err(CallError::Timeout { .. }))));
        assert!(read(LARGE_BODY + 1, &places).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_that_is_too_long_is_not_kept() {
        let places = Arc::new(Semaphore::new(1));

        let refused = read((1 << 20) + 1, &places).await;

        assert!(matches!(refused, Err(CallError::TooLarge { .. })));
        assert_eq!(places.available_permits(), 1);
    }
}
