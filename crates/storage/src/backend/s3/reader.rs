//! Reads a blob from S3. Opening it fetches its beginning, so that a small blob costs one request.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;

use super::store::{Store, map_sdk_error, read_size};
use crate::backend::{BackendError, BackendResult, BlobBody, BlobReader, Version};

/// Bytes that are requested when a blob is opened.
const INLINE_BYTES: u64 = 64 * 1024;

/// A blob that is being read.
pub(super) struct S3Reader {
    store: Arc<Store>,
    version: Version,
    size_bytes: u64,
    /// The first bytes; all of a small blob.
    start: Bytes,
}

/// Opens a blob.
///
/// # Errors
/// `Missing`, or an error of the store.
pub(super) async fn open_blob(store: Arc<Store>, version: Version) -> BackendResult<S3Reader> {
    let get = store
        .client
        .get_object()
        .bucket(&store.bucket)
        .key(store.key(version))
        .range(format!("bytes=0-{}", INLINE_BYTES - 1));
    let output = match get.send().await {
        Ok(output) => output,
        // An empty blob has no range: the store answers 416.
        Err(error) if error.raw_response().is_some_and(|r| r.status().as_u16() == 416) => {
            let size_bytes = store.stat(version).await?.size_bytes;
            return Ok(S3Reader {
                store,
                version,
                size_bytes,
                start: Bytes::new(),
            });
        }
        Err(error) => return Err(map_sdk_error(error)),
    };
    // A store that ignores `Range` sends the whole blob without `Content-Range`; then the length of the body is the
    // size.
    let total = output
        .content_range()
        .and_then(|range| range.rsplit_once('/'))
        .and_then(|(_, total)| total.parse().ok());
    let length = read_size(output.content_length());
    let start = output
        .body
        .collect()
        .await
        .map_err(|error| BackendError::Unavailable(error.to_string()))?
        .into_bytes();
    if start.len() as u64 != length {
        return Err(BackendError::Unavailable("the blob ended early".to_owned()));
    }
    Ok(S3Reader {
        store,
        version,
        size_bytes: total.unwrap_or(length),
        start,
    })
}

impl BlobReader for S3Reader {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read(self: Box<Self>, offset: u64, length: u64) -> BlobBody {
        let end = offset + length;
        if end <= self.start.len() as u64 {
            return BlobBody::Whole(self.start.slice(offset as usize..end as usize));
        }
        // The rest is requested when the client has read so far. The blob may have been replaced meanwhile;
        // `removal_delay` keeps it until then.
        let known = self.start.slice((offset as usize).min(self.start.len())..);
        let from = offset + known.len() as u64;
        let rest = futures_util::stream::once(fetch_range(self.store, self.version, from, end))
            .flat_map(stream_body);
        let known = futures_util::stream::iter((!known.is_empty()).then_some(Ok(known)));
        BlobBody::Stream(known.chain(rest).boxed_local())
    }
}

/// Requests the bytes from `from` up to `end`.
async fn fetch_range(
    store: Arc<Store>,
    version: Version,
    from: u64,
    end: u64,
) -> io::Result<aws_sdk_s3::primitives::ByteStream> {
    let get = store
        .client
        .get_object()
        .bucket(&store.bucket)
        .key(store.key(version))
        .range(format!("bytes={from}-{}", end - 1));
    match get.send().await.map_err(map_sdk_error) {
        Ok(output) => Ok(output.body),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// The stream of a response body; an error of the request is its only item.
fn stream_body(
    body: io::Result<aws_sdk_s3::primitives::ByteStream>,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> {
    futures_util::stream::unfold(Some(body), async |state| match state? {
        Err(error) => Some((Err(error), None)),
        Ok(mut body) => match body.next().await? {
            Ok(bytes) => Some((Ok(bytes), Some(Ok(body)))),
            Err(error) => Some((Err(io::Error::other(error)), None)),
        },
    })
}
