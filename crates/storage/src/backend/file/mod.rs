//! Blobs as files in one folder of the local file system.
//!
//! `{root}/blobs/{first three hex digits}/{version}` is a finished blob. `{root}/incoming/{process}/` contains
//! unfinished ones, in a folder that its process has locked, so that the next start recognises what a crash left
//! behind. Paths consist of version UUIDs only. A blob is written to `incoming`, synced, renamed into its shard, and
//! the shard is synced: after a crash it exists as a whole or not at all. `{root}/trash` has the same shards and holds
//! blobs that were removed lately; `{root}/owners` holds one mark for each database on another server.

mod folders;
mod incoming_file;
mod marks;
mod stream;
mod trash;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use selvedge_postgres::DiskState;

use self::folders::{BlobFolders, stat_of};
use self::incoming_file::{IncomingFile, concat_blobs, import_file};
use self::marks::{date_mark, list_marks, read_mark, remove_other_marks, write_mark};
use self::stream::{FileReader, FileWriter, run_blocking};
use super::room::copy_while_room;
use super::store_ownership::describe_mark;
use super::{
    Backend, BackendError, BackendResult, BlobEntry, BlobInfo, BlobReader, BlobStat, BlobWriter, Version,
};

/// Where it stands which databases have their objects in a folder: a file with a line for each, which begins with what identifies it.
#[derive(Debug, Clone)]
pub struct OwnersNote {
    /// The file. Without it the folder belongs to one database.
    pub path: PathBuf,
    /// How the line of this database begins.
    pub own: String,
    /// Whether the database is on another server, where a copy of it may come to use the folder as well.
    pub is_elsewhere: bool,
    /// What tells this database from all others, as `list_other_owners` gets it, when somebody has asked before the folder is opened. Otherwise the first
    /// claim says it.
    pub database: Option<String>,
}

/// The file backend. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FileBackend {
    folders: Arc<BlobFolders>,
    owners: Option<OwnersNote>,
    /// The database of the note, or the one that has claimed the folder first since this process has opened it.
    claimed_by: Arc<OnceLock<String>>,
}

impl FileBackend {
    /// Opens the store at `root`. Creates its folders when missing, and removes unfinished writes of ended processes.
    ///
    /// # Errors
    /// When the folders cannot be created or read.
    pub fn open(root: &Path) -> io::Result<Self> {
        let folders = BlobFolders::open(root)?;
        Ok(Self {
            folders: Arc::new(folders),
            owners: None,
            claimed_by: Arc::default(),
        })
    }

    /// Says where it stands which databases use the folder.
    #[must_use]
    pub fn with_owners(self, owners: Option<OwnersNote>) -> Self {
        let database = owners.as_ref().and_then(|note| note.database.clone());
        Self {
            owners,
            claimed_by: Arc::new(database.map_or_else(OnceLock::new, OnceLock::from)),
            ..self
        }
    }
}

/// The lines of other databases in a note, read anew each time, because another command may have added one.
fn list_others(note: &OwnersNote) -> io::Result<Vec<String>> {
    let text = match fs::read_to_string(&note.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let others = text
        .lines()
        .filter(|line| line.split(' ').next() != Some(note.own.as_str()));
    Ok(others.map(str::to_owned).collect())
}

#[async_trait(?Send)]
impl Backend for FileBackend {
    async fn list_other_owners(&self, owner: &str) -> BackendResult<Vec<String>> {
        let Some(note) = self.owners.clone() else {
            return Ok(Vec::new());
        };
        let mut others = run_blocking(move || list_others(&note)).await?;
        if self.has_marks() {
            for mark in list_marks(&self.folders)?
                .into_iter()
                .filter(|mark| mark != owner)
            {
                others.push(describe_mark(
                    &mark,
                    map_missing(date_mark(&self.folders, &mark))?,
                ));
            }
        }
        // Another PostgreSQL may answer at the address by now. It knows none of these objects, so a sweep by its rows would remove every file.
        let first = self.claimed_by.get_or_init(|| owner.to_owned());
        if first != owner {
            others.push(format!(
                "{first}, which was at this address when this process began"
            ));
        }
        Ok(others)
    }

    fn has_marks(&self) -> bool {
        self.owners.as_ref().is_some_and(|note| note.is_elsewhere)
    }

    async fn read_mark(&self, owner: &str) -> BackendResult<Option<String>> {
        Ok(read_mark(&self.folders, owner)?)
    }

    async fn write_mark(&self, owner: &str, text: &str) -> BackendResult<()> {
        Ok(write_mark(&self.folders, owner, text)?)
    }

    async fn date_mark(&self, owner: &str) -> BackendResult<SystemTime> {
        map_missing(date_mark(&self.folders, owner))
    }

    async fn remove_other_marks(&self, owner: &str) -> BackendResult<Vec<String>> {
        Ok(remove_other_marks(&self.folders, owner)?)
    }

    async fn trash(&self, version: Version) -> BackendResult<()> {
        let folders = Arc::clone(&self.folders);
        Ok(run_blocking(move || folders.trash(version)).await?)
    }

    async fn recover(&self, version: Version) -> BackendResult<bool> {
        let folders = Arc::clone(&self.folders);
        Ok(run_blocking(move || folders.recover(version)).await?)
    }

    async fn empty_trash(&self, older_than: Duration) -> BackendResult<u64> {
        let folders = Arc::clone(&self.folders);
        Ok(run_blocking(move || folders.empty_trash(older_than)).await?)
    }

    async fn create(&self, version: Version) -> BackendResult<Box<dyn BlobWriter>> {
        let folders = Arc::clone(&self.folders);
        let incoming = run_blocking(move || IncomingFile::create(&folders, version)).await?;
        Ok(Box::new(FileWriter::new(incoming)))
    }

    async fn open(&self, version: Version) -> BackendResult<Box<dyn BlobReader>> {
        let path = self.folders.blob(version);
        let opened = run_blocking(move || FileReader::open(&path)).await;
        Ok(Box::new(map_missing(opened)?))
    }

    async fn copy(&self, from: Version, to: Version, disk: &DiskState) -> BackendResult<()> {
        let (folders, disk) = (Arc::clone(&self.folders), disk.clone());
        let copied = run_blocking(move || {
            let shard = folders.create_shard(to)?;
            // Blobs never change, so a hard link is a copy. File systems without hard links get a copy of the bytes.
            match fs::hard_link(folders.blob(from), folders.blob(to)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    copy_bytes(&folders, from, to, &disk)?
                }
                linked => linked?,
            }
            // Only the new folder entry has to be synced: the bytes were synced when the source was published.
            File::open(shard)?.sync_all()
        })
        .await;
        map_missing(copied)
    }

    async fn remove(&self, version: Version) -> BackendResult<()> {
        let path = self.folders.blob(version);
        match run_blocking(move || fs::remove_file(path)).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => Ok(other?),
        }
    }

    async fn concat(&self, parts: &[Version], to: Version, disk: &DiskState) -> BackendResult<BlobStat> {
        let (folders, parts, disk) = (Arc::clone(&self.folders), parts.to_vec(), disk.clone());
        map_missing(run_blocking(move || concat_blobs(&folders, &parts, to, &disk)).await)
    }

    async fn stat(&self, version: Version) -> BackendResult<BlobStat> {
        let path = self.folders.blob(version);
        map_missing(run_blocking(move || stat_of(&fs::metadata(path)?)).await)
    }

    async fn list(&self, after: Option<Version>, limit: usize) -> BackendResult<Vec<BlobEntry>> {
        let folders = Arc::clone(&self.folders);
        Ok(run_blocking(move || folders.list(after, limit)).await?)
    }

    async fn import(&self, version: Version, file: &Path) -> BackendResult<BlobInfo> {
        let (folders, file) = (Arc::clone(&self.folders), file.to_owned());
        Ok(run_blocking(move || import_file(&folders, version, &file)).await?)
    }

    async fn sync_imported(&self) -> BackendResult<()> {
        let folders = Arc::clone(&self.folders);
        Ok(run_blocking(move || folders.sync()).await?)
    }

    async fn sweep_unfinished(&self, _older_than: Duration) -> BackendResult<u64> {
        let folders = Arc::clone(&self.folders);
        // The lock of a folder shows whether its process is alive, so the age does not matter here.
        Ok(run_blocking(move || folders.incoming.remove_abandoned()).await?)
    }
}

/// Reports a missing file as a missing blob.
fn map_missing<T>(result: io::Result<T>) -> BackendResult<T> {
    result.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BackendError::Missing,
        _ => BackendError::Io(error),
    })
}

/// Copies a blob through a temporary file, so that the copy becomes visible as a whole.
fn copy_bytes(folders: &BlobFolders, from: Version, to: Version, disk: &DiskState) -> io::Result<()> {
    let staged = folders.incoming.path().join(to.to_string());
    let copy = || {
        let mut source = File::open(folders.blob(from))?;
        let mut target = File::create(&staged)?;
        target.set_permissions(source.metadata()?.permissions())?;
        copy_while_room(&mut source, &mut target, disk)?;
        target.sync_all()
    };
    let copied = copy().and_then(|()| fs::rename(&staged, folders.blob(to)));
    if copied.is_err() {
        let _ = fs::remove_file(&staged);
    }
    copied
}

#[cfg(test)]
mod tests;
