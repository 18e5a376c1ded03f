//! Joins blobs into one. Parts of at least 5 MiB are copied by the store itself; smaller ones, which S3 refuses as
//! parts, are read and sent together.

use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::StreamExt;

use super::multipart_write::MultipartWrite;
use super::reader;
use super::store::{COPY_MAX_BYTES, Store, map_sdk_error};
use super::writer::S3Writer;
use crate::backend::{BackendResult, BlobBody, BlobReader, BlobStat, BlobWriter, Version};

/// The smallest part that S3 accepts, except for the last one.
const PART_MIN_BYTES: u64 = 5 * 1024 * 1024;

/// One part of the multipart upload that makes the joined blob.
#[derive(Debug, PartialEq, Eq)]
enum ConcatStep {
    /// The store copies this range of a blob.
    Copy(Version, Range<u64>),
    /// Ranges that are too small on their own: they are read and sent as one part.
    Gather(Vec<(Version, Range<u64>)>),
}

impl Store {
    /// See [`crate::backend::Backend::concat`].
    pub(super) async fn concat(self: &Arc<Self>, parts: &[Version], to: Version) -> BackendResult<BlobStat> {
        let mut sized = Vec::with_capacity(parts.len());
        let mut sizes = futures_util::stream::iter(parts)
            .map(|part| async move { (*part, self.stat(*part).await) })
            .buffered(8);
        // All sizes are looked up before anything is written, so a missing part leaves no upload behind.
        while let Some((part, stat)) = sizes.next().await {
            sized.push((part, stat?.size_bytes));
        }
        drop(sizes);
        let size_bytes = sized.iter().map(|(_, size)| size).sum();

        let steps = plan_steps(&sized);
        // All parts together are too small for a multipart upload: they are read and written as one blob.
        if let [ConcatStep::Gather(small)] = steps.as_slice() {
            let mut writer = Box::new(S3Writer::new(Arc::clone(self), to));
            self.copy_ranges(small, &mut *writer).await?;
            writer.finish().await?;
        } else {
            let mut upload = MultipartWrite::new(Arc::clone(self), self.key(to));
            for step in steps {
                match step {
                    ConcatStep::Copy(from, range) => {
                        self.copy_part(&mut upload, &self.key(from), range).await?
                    }
                    ConcatStep::Gather(small) => {
                        let mut gathered = PartBuffer(Vec::new());
                        self.copy_ranges(&small, &mut gathered).await?;
                        let length = gathered.0.len() as u64;
                        upload.send_part(gathered.0.into(), length).await?;
                    }
                }
            }
            upload.complete().await?;
        }
        Ok(BlobStat {
            size_bytes,
            modified: SystemTime::now(),
        })
    }

    /// Adds a range of the object `from` as the next part; the store copies it without sending it here.
    pub(super) async fn copy_part(
        &self,
        upload: &mut MultipartWrite,
        from: &str,
        range: Range<u64>,
    ) -> BackendResult<()> {
        let id = upload.begin().await?;
        let copy = self
            .client
            .upload_part_copy()
            .bucket(&self.bucket)
            .key(upload.key())
            .upload_id(id)
            .part_number(upload.next_number())
            .copy_source(self.copy_source(from))
            .copy_source_range(format!("bytes={}-{}", range.start, range.end - 1));
        let copied = copy.send().await.map_err(map_sdk_error)?;
        upload.add_part(copied.copy_part_result.and_then(|result| result.e_tag));
        Ok(())
    }

    /// Reads ranges of blobs into a writer, one after the other.
    async fn copy_ranges(
        self: &Arc<Self>,
        ranges: &[(Version, Range<u64>)],
        writer: &mut dyn ByteSink,
    ) -> BackendResult<()> {
        for (blob, range) in ranges {
            let reader = Box::new(reader::open_blob(Arc::clone(self), *blob).await?);
            match reader.read(range.start, range.end - range.start) {
                BlobBody::Whole(bytes) => writer.take(bytes).await?,
                BlobBody::Stream(mut stream) => {
                    while let Some(bytes) = stream.next().await {
                        writer.take(bytes?).await?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A destination of bytes: the writer of a blob, or memory.
#[async_trait::async_trait(?Send)]
trait ByteSink {
    async fn take(&mut self, bytes: bytes::Bytes) -> BackendResult<()>;
}

#[async_trait::async_trait(?Send)]
impl ByteSink for S3Writer {
    async fn take(&mut self, bytes: bytes::Bytes) -> BackendResult<()> {
        self.write(bytes).await
    }
}

/// A part that is gathered in memory: at most three times the smallest size.
struct PartBuffer(Vec<u8>);

#[async_trait::async_trait(?Send)]
impl ByteSink for PartBuffer {
    async fn take(&mut self, bytes: bytes::Bytes) -> BackendResult<()> {
        self.0.extend_from_slice(&bytes);
        Ok(())
    }
}

/// Plans the parts: every one but the last has at least [`PART_MIN_BYTES`], and none more than S3 copies with one
/// request.
fn plan_steps(parts: &[(Version, u64)]) -> Vec<ConcatStep> {
    let mut steps = Vec::new();
    let (mut small, mut small_bytes) = (Vec::new(), 0);
    let last = parts.iter().rposition(|(_, size)| *size > 0);
    for (at, (version, size)) in parts.iter().enumerate() {
        let mut start = 0;
        let is_small = *size < PART_MIN_BYTES && (Some(at) != last || steps.is_empty());
        if *size > 0 && (is_small || !small.is_empty()) {
            // A small part is filled up from its neighbour, and takes all of it when the rest would be too small in
            // turn.
            let end = if *size >= 2 * PART_MIN_BYTES {
                PART_MIN_BYTES
            } else {
                *size
            };
            small.push((*version, 0..end));
            small_bytes += end;
            start = end;
            if small_bytes >= PART_MIN_BYTES {
                steps.push(ConcatStep::Gather(std::mem::take(&mut small)));
                small_bytes = 0;
            }
        }
        while start < *size {
            let end = (start + COPY_MAX_BYTES).min(*size);
            steps.push(ConcatStep::Copy(*version, start..end));
            start = end;
        }
    }
    if !small.is_empty() || steps.is_empty() {
        steps.push(ConcatStep::Gather(small));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    #[test]
    fn large_parts_are_copied_by_the_store_and_small_ones_sent_together() {
        let v: Vec<Version> = (0..4).map(|_| Version::fresh()).collect();
        let copy = |at: usize, size| ConcatStep::Copy(v[at], 0..size);
        let gather = |at: &[(usize, u64)]| {
            ConcatStep::Gather(at.iter().map(|(at, size)| (v[*at], 0..*size)).collect())
        };
        let cases = [
            (vec![], vec![gather(&[])]),
            (vec![0], vec![gather(&[])]),
            (vec![3], vec![gather(&[(0, 3)])]),
            (
                vec![6 * MIB, 6 * MIB, 1],
                vec![copy(0, 6 * MIB), copy(1, 6 * MIB), copy(2, 1)],
            ),
            (
                vec![MIB, 6 * MIB, 6 * MIB],
                vec![gather(&[(0, MIB), (1, 6 * MIB)]), copy(2, 6 * MIB)],
            ),
            (vec![MIB, MIB], vec![gather(&[(0, MIB), (1, MIB)])]),
            (
                vec![6 * MIB, MIB, 0, MIB],
                vec![copy(0, 6 * MIB), gather(&[(1, MIB), (3, MIB)])],
            ),
            (vec![6 * MIB, MIB, 0], vec![copy(0, 6 * MIB), copy(1, MIB)]),
            (
                vec![MIB, 700 * MIB],
                vec![
                    gather(&[(0, MIB), (1, 5 * MIB)]),
                    ConcatStep::Copy(v[1], 5 * MIB..700 * MIB),
                ],
            ),
        ];
        for (sizes, steps) in cases {
            let parts: Vec<_> = v.iter().copied().zip(sizes.iter().copied()).collect();
            assert_eq!(plan_steps(&parts), steps, "{sizes:?}");
        }
        let huge = plan_steps(&[(v[0], COPY_MAX_BYTES + 1)]);
        assert_eq!(
            huge,
            [
                ConcatStep::Copy(v[0], 0..COPY_MAX_BYTES),
                ConcatStep::Copy(v[0], COPY_MAX_BYTES..COPY_MAX_BYTES + 1)
            ]
        );
    }
}
