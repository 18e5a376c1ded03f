//! A blob that is being written to `incoming`, and how it is published.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use md5::{Digest, Md5};
use selvedge_postgres::DiskState;

use super::folders::{BlobFolders, CHUNK_BYTES};
use crate::backend::room::copy_while_room;
use crate::backend::{BlobInfo, BlobStat, Version};

/// When the bytes must be on disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// The file is synced to disk before publishing returns.
    Now,
    /// With the next sync of the whole store.
    Later,
}

/// A file in `incoming`; removed when dropped unpublished.
pub(super) struct IncomingFile {
    folders: Arc<BlobFolders>,
    version: Version,
    path: PathBuf,
    file: File,
    digest: Md5,
    size_bytes: u64,
    published: bool,
}

impl IncomingFile {
    pub(super) fn create(folders: &Arc<BlobFolders>, version: Version) -> io::Result<Self> {
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

    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.digest.update(bytes);
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Moves the file into its shard, where it is visible. With [`Durability::Now`] file and folder are synced.
    pub(super) fn publish(mut self, durability: Durability) -> io::Result<BlobInfo> {
        if durability == Durability::Now {
            self.file.sync_all()?;
        }
        // The bytes are synced before the rename. In the other order a crash could keep the name and lose the bytes.
        let shard = self.folders.create_shard(self.version)?;
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

impl Drop for IncomingFile {
    fn drop(&mut self) {
        if !self.published {
            // The upload was aborted. If removing fails, the next start removes the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Copies a local file to a blob, which is durable after the next sync.
pub(super) fn import_file(
    folders: &Arc<BlobFolders>,
    version: Version,
    source: &Path,
) -> io::Result<BlobInfo> {
    let mut incoming = IncomingFile::create(folders, version)?;
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

/// Joins blobs into a new one. `io::copy` lets the kernel copy, and file systems that can do so share the extents.
pub(super) fn concat_blobs(
    folders: &Arc<BlobFolders>,
    parts: &[Version],
    to: Version,
    disk: &DiskState,
) -> io::Result<BlobStat> {
    // Copying bypasses the digest, so the entity tag that `publish` returns is meaningless here. Callers compute the
    // tag from the tags of the parts.
    let mut incoming = IncomingFile::create(folders, to)?;
    for part in parts {
        let mut part = File::open(folders.blob(*part))?;
        incoming.size_bytes += copy_while_room(&mut part, &mut incoming.file, disk)?;
    }
    let blob = incoming.publish(Durability::Now)?;
    Ok(BlobStat {
        size_bytes: blob.size_bytes,
        modified: blob.modified,
    })
}
