//! The trash of a folder: blobs that a sweep has found without a row. They are kept for a while, because the rows may be in another database.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::folders::{BlobFolders, shard_name, stat_of};
use crate::backend::Version;
use crate::backend::claimed_folder::create_private;

impl BlobFolders {
    fn trash_folder(&self) -> PathBuf {
        self.root.join("trash")
    }

    fn trashed(&self, version: Version) -> PathBuf {
        self.trash_folder()
            .join(shard_name(version))
            .join(version.to_string())
    }

    /// See [`Backend::trash`](crate::backend::Backend::trash).
    pub(super) fn trash(&self, version: Version) -> io::Result<()> {
        let (blob, trashed) = (self.blob(version), self.trashed(version));
        create_private(trashed.parent().expect("a shard's folder is above"))?;
        let moved = (|| {
            // A file system need not note when a file was renamed, so the time in the trash is set by hand.
            File::options()
                .write(true)
                .open(&blob)?
                .set_modified(SystemTime::now())?;
            fs::rename(&blob, &trashed)
        })();
        match moved {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            moved => moved,
        }
    }

    /// See [`Backend::recover`](crate::backend::Backend::recover).
    pub(super) fn recover(&self, version: Version) -> io::Result<bool> {
        let shard = self.create_shard(version)?;
        match fs::rename(self.trashed(version), self.blob(version)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            moved => moved?,
        }
        File::open(shard)?.sync_all()?;
        Ok(true)
    }

    /// See [`Backend::empty_trash`](crate::backend::Backend::empty_trash).
    pub(super) fn empty_trash(&self, older_than: Duration) -> io::Result<u64> {
        let (now, mut removed) = (SystemTime::now(), 0);
        for entry in walkdir::WalkDir::new(self.trash_folder()).into_iter().flatten() {
            let name = entry.file_name().to_str();
            if !entry.file_type().is_file() || name.and_then(Version::parse).is_none() {
                continue;
            }
            let age = now.duration_since(stat_of(&entry.metadata()?)?.modified);
            if age.unwrap_or_default() >= older_than {
                fs::remove_file(entry.path())?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}
