//! Reading and writing blobs of the file backend in chunks, off the event loop.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::task::spawn_blocking;

use super::folders::CHUNK_BYTES;
use super::incoming_file::{Durability, IncomingFile};
use crate::backend::{BackendResult, BlobBody, BlobInfo, BlobReader, BlobWriter};

/// Blobs up to this size in bytes are read when they are opened, so that a small download costs one job on the blocking
/// pool instead of two.
const INLINE_BYTES: u64 = 64 * 1024;

/// Runs blocking file work on the blocking pool.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

/// Gathers small network reads into large writes to the disk.
pub(super) struct FileWriter {
    /// `None` while the blocking pool writes to it, and after a failed write.
    incoming: Option<IncomingFile>,
    gathered: Vec<Bytes>,
    gathered_bytes: usize,
}

impl FileWriter {
    pub(super) fn new(incoming: IncomingFile) -> Self {
        Self {
            incoming: Some(incoming),
            gathered: Vec::new(),
            gathered_bytes: 0,
        }
    }

    async fn flush(&mut self) -> BackendResult<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        // The file moves to the blocking pool and comes back only after a successful write. When a write fails or this
        // future is dropped, `incoming` stays `None`, so that no later call publishes a blob with missing bytes.
        let chunks = std::mem::take(&mut self.gathered);
        self.gathered_bytes = 0;
        let mut incoming = self
            .incoming
            .take()
            .ok_or_else(|| io::Error::other("an earlier write failed"))?;
        let incoming = run_blocking(move || {
            for chunk in &chunks {
                incoming.append(chunk)?;
            }
            Ok(incoming)
        })
        .await?;
        self.incoming = Some(incoming);
        Ok(())
    }
}

#[async_trait(?Send)]
impl BlobWriter for FileWriter {
    async fn write(&mut self, bytes: Bytes) -> BackendResult<()> {
        self.gathered_bytes += bytes.len();
        self.gathered.push(bytes);
        if self.gathered_bytes >= CHUNK_BYTES {
            self.flush().await
        } else {
            Ok(())
        }
    }

    async fn finish(mut self: Box<Self>) -> BackendResult<BlobInfo> {
        self.flush().await?;
        let incoming = self
            .incoming
            .take()
            .ok_or_else(|| io::Error::other("an earlier write failed"))?;
        Ok(run_blocking(move || incoming.publish(Durability::Now)).await?)
    }
}

/// An open file.
pub(super) struct FileReader {
    file: File,
    size_bytes: u64,
    /// All bytes of a small blob, which were read at once.
    inline: Option<Bytes>,
}

impl FileReader {
    /// Opens a blob, and reads it completely if it is small. Blocks.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let size_bytes = file.metadata()?.len();
        let inline = if size_bytes <= INLINE_BYTES {
            Some(read_at(&file, 0, size_bytes)?)
        } else {
            None
        };
        Ok(Self {
            file,
            size_bytes,
            inline,
        })
    }
}

impl BlobReader for FileReader {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read(self: Box<Self>, offset: u64, length: u64) -> BlobBody {
        if let Some(inline) = self.inline {
            let (start, end) = (offset as usize, (offset + length) as usize);
            return BlobBody::Whole(inline.slice(start.min(inline.len())..end.min(inline.len())));
        }
        let file = Arc::new(self.file);
        let stream =
            futures_util::stream::try_unfold((file, offset, length), |(file, offset, left)| async move {
                if left == 0 {
                    return Ok(None);
                }
                let wanted = left.min(CHUNK_BYTES as u64);
                let reader = Arc::clone(&file);
                let chunk = run_blocking(move || read_at(&reader, offset, wanted)).await?;
                Ok(Some((chunk, (file, offset + wanted, left - wanted))))
            });
        BlobBody::Stream(stream.boxed_local())
    }
}

/// Reads exactly `length` bytes from `offset`.
fn read_at(file: &File, offset: u64, length: u64) -> io::Result<Bytes> {
    let mut buffer = vec![0; length as usize];
    file.read_exact_at(&mut buffer, offset)?;
    Ok(buffer.into())
}
