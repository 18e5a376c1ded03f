//! Blobs as files in one folder of the local file system.
//!
//! `{root}/blobs/{first three hex digits}/{version}` holds a finished blob, `{root}/incoming/{process}/` what is being
//! written, in a folder locked by its process, so that what a crash left behind is known at the next start. Paths are
//! made of version UUIDs only. A blob is written to `incoming`, synced, renamed into its shard, and the shard is synced:
//! after a crash a blob is there as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use md5::{Digest, Md5};
use tokio::task::spawn_blocking;

use super::claim::{ClaimedFolder, create_private};
use super::{
    Backend, BackendError, BackendResult, BlobBody, BlobEntry, BlobInfo, BlobReader, BlobStat, BlobWriter,
    Version,
};

/// Bytes gathered before they go to the disk, and bytes read at once.
const CHUNK_BYTES: usize = 256 * 1024;
/// Blobs up to this size are read while they are opened: one visit to the disk instead of two.
const INLINE_BYTES: u64 = 64 * 1024;

/// The file backend. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FileBackend {
    folders: Arc<Folders>,
}

#[derive(Debug)]
struct Folders {
    blobs: PathBuf,
    /// This process's own folder below `incoming`.
    incoming: ClaimedFolder,
}

impl FileBackend {
    /// Opens the store at `root`, creating its folders when missing and clearing what a crash left half-written.
    ///
    /// # Errors
    /// When the folders cannot be created or read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let blobs = root.join("blobs");
        create_private(&blobs)?;
        let folders = Folders {
            blobs,
            incoming: ClaimedFolder::open(&root.join("incoming"))?,
        };
        Ok(Self {
            folders: Arc::new(folders),
        })
    }
}

impl Folders {
    /// Writes a blob from a local file, not yet synced.
    fn import(self: &Arc<Self>, version: Version, source: &Path) -> io::Result<BlobInfo> {
        let mut incoming = Incoming::create(self, version)?;
        let mut reader = File::open(source)?;
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            match io::Read::read(&mut reader, &mut buffer)? {
                0 => break,
                n => incoming.append(&buffer[..n])?,
            }
        }
        incoming.publish(Durability::Later)
    }

    /// Makes everything written so far durable.
    fn sync(&self) -> io::Result<()> {
        let folder = File::open(&self.blobs)?;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        nix::unistd::syncfs(&folder)?;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        {
            nix::unistd::sync();
            folder.sync_all()?;
        }
        Ok(())
    }

    /// Joins blobs into a new one. The kernel copies; where the file system can, it only shares the extents.
    fn concat(self: &Arc<Self>, parts: &[Version], to: Version) -> io::Result<BlobStat> {
        let mut incoming = Incoming::create(self, to)?;
        for part in parts {
            incoming.size_bytes += io::copy(&mut File::open(self.blob(*part))?, &mut incoming.file)?;
        }
        let blob = incoming.publish(Durability::Now)?;
        Ok(BlobStat {
            size_bytes: blob.size_bytes,
            modified: blob.modified,
        })
    }

    /// A page of [`Backend::list`]: shard after shard, so that only one folder's names are held at a time.
    fn list(&self, after: Option<Version>, limit: usize) -> io::Result<Vec<BlobEntry>> {
        let first_shard = after.map(|version| shard_name(version).to_owned());
        let mut shards = Vec::new();
        for entry in fs::read_dir(&self.blobs)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if first_shard.as_ref().is_none_or(|first| name >= *first) {
                shards.push(name);
            }
        }
        shards.sort_unstable();

        let mut blobs = Vec::new();
        for shard in shards {
            let mut entries = list_shard(&self.blobs.join(shard), after)?;
            entries.sort_unstable_by_key(|entry| entry.version);
            entries.truncate(limit - blobs.len());
            blobs.append(&mut entries);
            if blobs.len() == limit {
                break;
            }
        }
        Ok(blobs)
    }

    fn shard(&self, version: Version) -> PathBuf {
        self.blobs.join(shard_name(version))
    }

    fn blob(&self, version: Version) -> PathBuf {
        self.shard(version).join(version.to_string())
    }

    /// Creates the shard of a version; a new folder is made durable in its parent.
    fn make_shard(&self, version: Version) -> io::Result<PathBuf> {
        let shard = self.shard(version);
        match fs::create_dir(&shard) {
            Ok(()) => File::open(&self.blobs)?.sync_all()?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(shard)
    }
}

/// The first hex digits of a version.
fn shard_name(version: Version) -> String {
    version.uuid().simple().to_string()[..3].to_owned()
}

fn list_shard(shard: &Path, after: Option<Version>) -> io::Result<Vec<BlobEntry>> {
    let mut blobs = Vec::new();
    let files = match fs::read_dir(shard) {
        Ok(files) => files,
        // Not one of our folders.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(blobs),
        Err(error) => return Err(error),
    };
    for file in files {
        let file = file?;
        let version = file.file_name().to_str().and_then(Version::parse);
        let Some(version) = version.filter(|version| after.is_none_or(|after| *version > after)) else {
            continue;
        };
        match file.metadata() {
            Ok(metadata) => blobs.push(BlobEntry {
                version,
                stat: stat_of(&metadata)?,
            }),
            // Removed since the folder was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(blobs)
}

fn stat_of(metadata: &fs::Metadata) -> io::Result<BlobStat> {
    // A copy is a second name of the same file: only the change of its names tells how young it is.
    let seconds = u64::try_from(metadata.ctime()).unwrap_or(0);
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    Ok(BlobStat {
        size_bytes: metadata.len(),
        modified: metadata.modified()?.max(changed),
    })
}

/// When the bytes must have reached the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    Now,
    Later,
}

/// A file in `incoming`; removed when dropped before it was published.
struct Incoming {
    folders: Arc<Folders>,
    version: Version,
    path: PathBuf,
    file: File,
    digest: Md5,
    size_bytes: u64,
    published: bool,
}

impl Incoming {
    fn create(folders: &Arc<Folders>, version: Version) -> io::Result<Self> {
        let path = folders.incoming.path().join(version.to_string());
        let file = File::options().write(true).create_new(true).open(&path)?;
        Ok(Self {
            folders: Arc::clone(folders),
            version,
            path,
            file,
            digest: Md5::new(),
            size_bytes: 0,
            published: false,
        })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.digest.update(bytes);
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    fn publish(mut self, durability: Durability) -> io::Result<BlobInfo> {
        if durability == Durability::Now {
            self.file.sync_all()?;
        }
        let shard = self.folders.make_shard(self.version)?;
        fs::rename(&self.path, self.folders.blob(self.version))?;
        self.published = true;
        if durability == Durability::Now {
            File::open(shard)?.sync_all()?;
        }
        Ok(BlobInfo {
            size_bytes: self.size_bytes,
            etag: format!("\"{}\"", hex::encode(std::mem::take(&mut self.digest).finalize())),
            modified: self.file.metadata()?.modified()?,
        })
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if !self.published {
            // The upload was aborted; a failure leaves the file to the next start.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Runs file work off the event loop.
async fn off_loop<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

#[async_trait(?Send)]
impl Backend for FileBackend {
    async fn create(&self, version: Version) -> BackendResult<Box<dyn BlobWriter>> {
        let folders = Arc::clone(&self.folders);
        let incoming = off_loop(move || Incoming::create(&folders, version)).await?;
        Ok(Box::new(FileWriter {
            incoming: Some(incoming),
            gathered: Vec::new(),
            gathered_bytes: 0,
        }))
    }

    async fn open(&self, version: Version) -> BackendResult<Box<dyn BlobReader>> {
        let path = self.folders.blob(version);
        let opened = off_loop(move || {
            let file = File::open(path)?;
            let size_bytes = file.metadata()?.len();
            let inline = if size_bytes <= INLINE_BYTES {
                Some(read_at(&file, 0, size_bytes)?)
            } else {
                None
            };
            Ok(FileReader {
                file,
                size_bytes,
                inline,
            })
        })
        .await;
        Ok(Box::new(found(opened)?))
    }

    async fn copy(&self, from: Version, to: Version) -> BackendResult<()> {
        let folders = Arc::clone(&self.folders);
        let copied = off_loop(move || {
            let shard = folders.make_shard(to)?;
            // Blobs never change, so a second name is a copy; file systems without links get real bytes.
            match fs::hard_link(folders.blob(from), folders.blob(to)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => copy_bytes(&folders, from, to)?,
                linked => linked?,
            }
            File::open(shard)?.sync_all()
        })
        .await;
        found(copied)
    }

    async fn remove(&self, version: Version) -> BackendResult<()> {
        let path = self.folders.blob(version);
        match off_loop(move || fs::remove_file(path)).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => Ok(other?),
        }
    }

    async fn concat(&self, parts: &[Version], to: Version) -> BackendResult<BlobStat> {
        let (folders, parts) = (Arc::clone(&self.folders), parts.to_vec());
        found(off_loop(move || folders.concat(&parts, to)).await)
    }

    async fn stat(&self, version: Version) -> BackendResult<BlobStat> {
        let path = self.folders.blob(version);
        found(off_loop(move || stat_of(&fs::metadata(path)?)).await)
    }

    async fn list(&self, after: Option<Version>, limit: usize) -> BackendResult<Vec<BlobEntry>> {
        let folders = Arc::clone(&self.folders);
        Ok(off_loop(move || folders.list(after, limit)).await?)
    }

    async fn import(&self, version: Version, file: &Path) -> BackendResult<BlobInfo> {
        let (folders, file) = (Arc::clone(&self.folders), file.to_owned());
        Ok(off_loop(move || folders.import(version, &file)).await?)
    }

    async fn settle(&self) -> BackendResult<()> {
        let folders = Arc::clone(&self.folders);
        Ok(off_loop(move || folders.sync()).await?)
    }

    async fn sweep_unfinished(&self, _older_than: Duration) -> BackendResult<u64> {
        let folders = Arc::clone(&self.folders);
        // A folder's lock says whether its process lives; age says nothing more.
        Ok(off_loop(move || folders.incoming.remove_abandoned()).await?)
    }
}

/// What a missing file means here.
fn found<T>(result: io::Result<T>) -> BackendResult<T> {
    result.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BackendError::Missing,
        _ => BackendError::Io(error),
    })
}

fn copy_bytes(folders: &Folders, from: Version, to: Version) -> io::Result<()> {
    let staged = folders.incoming.path().join(to.to_string());
    let copied = fs::copy(folders.blob(from), &staged)
        .and_then(|_| File::open(&staged)?.sync_all())
        .and_then(|()| fs::rename(&staged, folders.blob(to)));
    if copied.is_err() {
        let _ = fs::remove_file(&staged);
    }
    copied
}

/// Gathers small network reads into large writes.
struct FileWriter {
    /// Absent only while a write is under way on the blocking pool; if that future is dropped, the closure drops it.
    incoming: Option<Incoming>,
    gathered: Vec<Bytes>,
    gathered_bytes: usize,
}

impl FileWriter {
    async fn flush(&mut self) -> BackendResult<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let chunks = std::mem::take(&mut self.gathered);
        self.gathered_bytes = 0;
        let mut incoming = self
            .incoming
            .take()
            .ok_or_else(|| io::Error::other("an earlier write failed"))?;
        let incoming = off_loop(move || {
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
        Ok(off_loop(move || incoming.publish(Durability::Now)).await?)
    }
}

struct FileReader {
    file: File,
    size_bytes: u64,
    inline: Option<Bytes>,
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
                let chunk = off_loop(move || read_at(&reader, offset, wanted)).await?;
                Ok(Some((chunk, (file, offset + wanted, left - wanted))))
            });
        BlobBody::Stream(stream.boxed_local())
    }
}

fn read_at(file: &File, offset: u64, length: u64) -> io::Result<Bytes> {
    let mut buffer = vec![0; length as usize];
    file.read_exact_at(&mut buffer, offset)?;
    Ok(buffer.into())
}

#[cfg(test)]
mod tests;
