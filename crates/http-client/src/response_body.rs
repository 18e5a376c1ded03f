//! Reads the body of a response, of which large ones wait for a place.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::CallError;

/// A longer body is a large one.
const LARGE_BODY: usize = 64 * 1024;

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
/// When the body is longer, or the connection ends before.
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
    let mut place = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| describe(&*error, host))?;
        let Ok(data) = frame.into_data() else { continue };
        if let Some(places) = places
            && place.is_none()
            && read.len() + data.len() > LARGE_BODY
        {
            // Never closed.
            place = Arc::clone(places).acquire_owned().await.ok();
        }
        read.extend_from_slice(&data);
    }
    let bytes = read.freeze();
    Ok(match place {
        Some(place) => Bytes::from_owner(PlacedBytes { bytes, _place: place }),
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

    #[tokio::test]
    async fn a_body_that_is_too_long_is_not_kept() {
        let places = Arc::new(Semaphore::new(1));

        let refused = read((1 << 20) + 1, &places).await;

        assert!(matches!(refused, Err(CallError::TooLarge { .. })));
        assert_eq!(places.available_permits(), 1);
    }
}
