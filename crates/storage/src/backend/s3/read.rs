//! Reading from S3: the first piece comes with the opening, so that a small blob costs one request.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;

use super::{Store, refused};
use crate::backend::{BackendError, BackendResult, BlobBody, BlobReader, Version};

/// Bytes that are asked for when a blob is opened.
const INLINE_BYTES: u64 = 64 * 1024;

/// An open blob.
pub(super) struct S3Reader {
    store: Arc<Store>,
    version: Version,
    size_bytes: u64,
    /// How the blob begins: all of a small one.
    start: Bytes,
}

/// Opens a blob.
///
/// # Errors
/// `Missing`, or what the store says.
pub(super) async fn open(store: Arc<Store>, version: Version) -> BackendResult<S3Reader> {
    let get = store
        .client
        .get_object()
        .bucket(&store.bucket)
        .key(store.key(version))
        .range(format!("bytes=0-{}", INLINE_BYTES - 1));
    let output = match get.send().await {
        Ok(output) => output,
        // No range of an empty blob can be satisfied.
        Err(error) if error.raw_response().is_some_and(|r| r.status().as_u16() == 416) => {
            let size_bytes = store.stat(version).await?.size_bytes;
            return Ok(S3Reader {
                store,
                version,
                size_bytes,
                start: Bytes::new(),
            });
        }
        Err(error) => return Err(refused(error)),
    };
    let total = output
        .content_range()
        .and_then(|range| range.rsplit_once('/'))
        .and_then(|(_, total)| total.parse().ok());
    let length = super::size(output.content_length());
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
        let known = self.start.slice((offset as usize).min(self.start.len())..);
        let from = offset + known.len() as u64;
        let rest = futures_util::stream::once(fetch(self.store, self.version, from, end)).flat_map(pieces);
        let known = futures_util::stream::iter((!known.is_empty()).then_some(Ok(known)));
        BlobBody::Stream(known.chain(rest).boxed_local())
    }
}

async fn fetch(
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
    match get.send().await.map_err(refused) {
        Ok(output) => Ok(output.body),
        Err(error) => Err(io::Error::other(error)),
    }
}

fn pieces(
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
