//! Joining blobs inside S3. Parts of the size that S3 wants are copied by the store itself; smaller ones pass through us.

use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::StreamExt;

use super::write::{S3Writer, Upload};
use super::{COPY_MAX_BYTES, Store, read, refused};
use crate::backend::{BackendResult, BlobBody, BlobReader, BlobStat, BlobWriter, Version};

/// The smallest part that S3 takes, but for the last.
const PART_MIN_BYTES: u64 = 5 * 1024 * 1024;

/// One part of the multipart upload that makes the joined blob.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// The store copies this range of a blob.
    Copy(Version, Range<u64>),
    /// Ranges that are too small alone: read, and sent as one.
    Gather(Vec<(Version, Range<u64>)>),
}

impl Store {
    /// See [`crate::backend::Backend::concat`].
    pub(super) async fn concat(self: &Arc<Self>, parts: &[Version], to: Version) -> BackendResult<BlobStat> {
        let mut sized = Vec::with_capacity(parts.len());
        let mut sizes = futures_util::stream::iter(parts)
            .map(|part| async move { (*part, self.stat(*part).await) })
            .buffered(8);
        while let Some((part, stat)) = sizes.next().await {
            sized.push((part, stat?.size_bytes));
        }
        drop(sizes);
        let size_bytes = sized.iter().map(|(_, size)| size).sum();

        let steps = plan(&sized);
        if let [Step::Gather(small)] = steps.as_slice() {
            let mut writer = Box::new(S3Writer::new(Arc::clone(self), to));
            self.pour(small, &mut *writer).await?;
            writer.finish().await?;
        } else {
            let mut upload = Upload::new(Arc::clone(self), to);
            for step in steps {
                match step {
                    Step::Copy(from, range) => self.copy_part(&mut upload, to, from, range).await?,
                    Step::Gather(small) => {
                        let mut gathered = Memory(Vec::new());
                        self.pour(&small, &mut gathered).await?;
                        let length = gathered.0.len() as u64;
                        upload.send(gathered.0.into(), length).await?;
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

    async fn copy_part(
        &self,
        upload: &mut Upload,
        to: Version,
        from: Version,
        range: Range<u64>,
    ) -> BackendResult<()> {
        let id = upload.id().await?;
        let copy = self
            .client
            .upload_part_copy()
            .bucket(&self.bucket)
            .key(self.key(to))
            .upload_id(id)
            .part_number(upload.next_number())
            .copy_source(self.copy_source(from))
            .copy_source_range(format!("bytes={}-{}", range.start, range.end - 1));
        let copied = copy.send().await.map_err(refused)?;
        upload.done(copied.copy_part_result.and_then(|result| result.e_tag));
        Ok(())
    }

    /// Reads ranges of blobs into a writer, one after the other.
    async fn pour(
        self: &Arc<Self>,
        ranges: &[(Version, Range<u64>)],
        writer: &mut dyn Sink,
    ) -> BackendResult<()> {
        for (blob, range) in ranges {
            let reader = Box::new(read::open(Arc::clone(self), *blob).await?);
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

/// Whatever bytes can be poured into.
#[async_trait::async_trait(?Send)]
trait Sink {
    async fn take(&mut self, bytes: bytes::Bytes) -> BackendResult<()>;
}

#[async_trait::async_trait(?Send)]
impl Sink for S3Writer {
    async fn take(&mut self, bytes: bytes::Bytes) -> BackendResult<()> {
        self.write(bytes).await
    }
}

/// A part of at most three times the smallest size.
struct Memory(Vec<u8>);

#[async_trait::async_trait(?Send)]
impl Sink for Memory {
    async fn take(&mut self, bytes: bytes::Bytes) -> BackendResult<()> {
        self.0.extend_from_slice(&bytes);
        Ok(())
    }
}

/// Every step but the last must come to at least [`PART_MIN_BYTES`], and none to more than S3 copies at once.
fn plan(parts: &[(Version, u64)]) -> Vec<Step> {
    let mut steps = Vec::new();
    let (mut small, mut small_bytes) = (Vec::new(), 0);
    let last = parts.iter().rposition(|(_, size)| *size > 0);
    for (at, (version, size)) in parts.iter().enumerate() {
        let mut start = 0;
        let is_small = *size < PART_MIN_BYTES && (Some(at) != last || steps.is_empty());
        if *size > 0 && (is_small || !small.is_empty()) {
            // A small one takes of its neighbour what it lacks, and all of it where the rest would be small.
            let end = if *size >= 2 * PART_MIN_BYTES {
                PART_MIN_BYTES
            } else {
                *size
            };
            small.push((*version, 0..end));
            small_bytes += end;
            start = end;
            if small_bytes >= PART_MIN_BYTES {
                steps.push(Step::Gather(std::mem::take(&mut small)));
                small_bytes = 0;
            }
        }
        while start < *size {
            let end = (start + COPY_MAX_BYTES).min(*size);
            steps.push(Step::Copy(*version, start..end));
            start = end;
        }
    }
    if !small.is_empty() || steps.is_empty() {
        steps.push(Step::Gather(small));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    #[test]
    fn parts_are_copied_where_s3_allows_it_and_gathered_where_not() {
        let v: Vec<Version> = (0..4).map(|_| Version::fresh()).collect();
        let copy = |at: usize, size| Step::Copy(v[at], 0..size);
        let gather =
            |at: &[(usize, u64)]| Step::Gather(at.iter().map(|(at, size)| (v[*at], 0..*size)).collect());
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
                    Step::Copy(v[1], 5 * MIB..700 * MIB),
                ],
            ),
        ];
        for (sizes, steps) in cases {
            let parts: Vec<_> = v.iter().copied().zip(sizes.iter().copied()).collect();
            assert_eq!(plan(&parts), steps, "{sizes:?}");
        }
        let huge = plan(&[(v[0], COPY_MAX_BYTES + 1)]);
        assert_eq!(
            huge,
            [
                Step::Copy(v[0], 0..COPY_MAX_BYTES),
                Step::Copy(v[0], COPY_MAX_BYTES..COPY_MAX_BYTES + 1)
            ]
        );
    }
}
