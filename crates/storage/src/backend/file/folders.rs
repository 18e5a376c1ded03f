//! The folders of the file backend, and the names of blobs in them.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::backend::claimed_folder::{ClaimedFolder, create_private};
use crate::backend::{BlobEntry, BlobStat, Version};

/// Bytes that are collected before a write to the disk, and bytes per read.
pub(super) const CHUNK_BYTES: usize = 256 * 1024;

/// The folders of a store.
#[derive(Debug)]
pub(super) struct BlobFolders {
    pub(super) root: PathBuf,
    pub(super) blobs: PathBuf,
    /// The folder of this process below `incoming`.
    pub(super) incoming: ClaimedFolder,
}

impl BlobFolders {
    /// Opens the folders below `root`; see [`FileBackend::open`](super::FileBackend::open).
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        let blobs = root.join("blobs");
        create_private(&blobs)?;
        Ok(Self {
            root: root.to_owned(),
            blobs,
            incoming: ClaimedFolder::open(&root.join("incoming"))?,
        })
    }

    /// Makes everything written so far durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        let folder = File::open(&self.blobs)?;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        // One flush of the file system is much faster than an `fsync` for each of many imported files.
        nix::unistd::syncfs(&folder)?;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        {
            // Without `syncfs` (Linux only) all file systems are flushed. `sync` may return before its writes are done.
            nix::unistd::sync();
            folder.sync_all()?;
        }
        Ok(())
    }

    /// A page of [`Backend::list`](crate::backend::Backend::list). Shards are read one after the other, so that only
    /// one folder's names are in memory.
    pub(super) fn list(&self, after: Option<Version>, limit: usize) -> io::Result<Vec<BlobEntry>> {
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

    /// The folder in which the blob lies.
    fn shard(&self, version: Version) -> PathBuf {
        self.blobs.join(shard_name(version))
    }

    /// Path of the blob's file.
    pub(super) fn blob(&self, version: Version) -> PathBuf {
        self.shard(version).join(version.to_string())
    }

    /// Creates the shard of a version. A new folder is durable only once its parent is synced.
    pub(super) fn create_shard(&self, version: Version) -> io::Result<PathBuf> {
        let shard = self.shard(version);
        match fs::create_dir(&shard) {
            Ok(()) => File::open(&self.blobs)?.sync_all()?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(shard)
    }
}

/// The first three hex digits of a version: 4096 shards keep folders small.
pub(super) fn shard_name(version: Version) -> String {
    version.uuid().simple().to_string()[..3].to_owned()
}

fn list_shard(shard: &Path, after: Option<Version>) -> io::Result<Vec<BlobEntry>> {
    let mut blobs = Vec::new();
    let files = match fs::read_dir(shard) {
        Ok(files) => files,
        // A file between the shard folders was not created by this service, so it is not a blob.
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
            // The blob was removed after the folder was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(blobs)
}

pub(super) fn stat_of(metadata: &fs::Metadata) -> io::Result<BlobStat> {
    // A copy is a hard link to the same file and shares its modification time. Adding the link updates only the change time,
    // so the later of both is the age of the newest copy, which a sweep needs.
    let seconds = u64::try_from(metadata.ctime()).unwrap_or(0);
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    Ok(BlobStat {
        size_bytes: metadata.len(),
        modified: metadata.modified()?.max(changed),
    })
}
