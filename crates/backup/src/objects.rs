//! Copies the blobs to which rows of the copied database refer.
//!
//! Blobs never change, so most are copied while the project keeps running. At the end of the backup the tables that refer to
//! blobs are locked against writes, new blobs are copied, and the database's copy ends with exactly these rows. Therefore no
//! object in the backup lacks its bytes.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context, Result};
use futures_util::StreamExt as _;
use selvedge_storage::{
    Backend, BackendError, BlobBody, BlobReference, FileBackend, Version, lock_blob_references,
    visit_blob_references,
};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, GenericClient};
use uuid::Uuid;

use super::archive::ArchiveWriter;
use super::archive::manifest::OBJECTS;
use super::progress::Progress;

/// The login that reads which objects there are. It owns their tables, so code of the project that is attached to them gets no rights
/// which `postgres` lacks.
pub(super) const STORAGE_LOGIN: &str = "supabase_storage_admin";

/// Lets reading a table fail where a policy of the project would hide rows, also from its owner (FORCE ROW LEVEL SECURITY): a backup without
/// these objects would look complete.
pub(super) fn read_all_rows(mut login: Config) -> Config {
    login.options("-c row_security=off");
    login
}

/// How often locking the tables is tried, each time for as long as `lock_timeout` below. Other sessions queue behind a
/// waiting lock, so each attempt is short.
const LOCK_ATTEMPTS: u32 = 10;

/// Copies blobs into an archive, each once.
pub(super) struct ObjectsCopy {
    store: FileBackend,
    /// The blobs that are in the archive, which take 16 bytes of memory each.
    copied: BTreeSet<Uuid>,
}

/// The differences between the archive and the rows of the copied database.
#[derive(Default)]
pub(super) struct FinalState {
    /// The objects that have a row but no bytes.
    pub(super) lost_objects: Vec<String>,
    /// The blobs in the archive to which no row refers any more.
    pub(super) deleted_blobs: BTreeSet<Uuid>,
}

impl ObjectsCopy {
    /// Creates a copier of the blobs in `store`.
    pub(super) fn new(store: FileBackend) -> Self {
        Self {
            store,
            copied: BTreeSet::new(),
        }
    }

    /// Copies the blobs of all rows that are not in the archive yet, and compares the archive with the rows.
    pub(super) async fn copy<W: Write>(
        &mut self,
        client: &impl GenericClient,
        archive: &mut ArchiveWriter<W>,
        progress: &mut Progress,
    ) -> Result<FinalState> {
        let mut state = FinalState {
            deleted_blobs: self.copied.clone(),
            ..FinalState::default()
        };
        let mut added = Vec::new();
        visit_blob_references(client, |reference| {
            let version = reference.version.uuid();
            state.deleted_blobs.remove(&version);
            if !self.copied.contains(&version) {
                added.push(reference);
            }
        })
        .await
        .context("the objects cannot be listed")?;
        for BlobReference { version, object } in added {
            if !self.copied.insert(version.uuid()) {
                continue;
            }
            let is_found = copy_blob(&self.store, version, archive, progress).await?;
            if !is_found {
                self.copied.remove(&version.uuid());
                // A part of an unfinished upload may have a row before it has a blob.
                state.lost_objects.extend(object);
            }
        }
        Ok(state)
    }
}

/// Copies a blob, and returns false when the store has none of this id.
async fn copy_blob<W: Write>(
    store: &FileBackend,
    version: Version,
    archive: &mut ArchiveWriter<W>,
    progress: &mut Progress,
) -> Result<bool> {
    let reader = match store.open(version).await {
        Err(BackendError::Missing) => return Ok(false),
        opened => opened?,
    };
    let size = reader.size_bytes();
    let entry = archive.begin_file(&format!("{OBJECTS}/{version}"), size)?;
    match reader.read(0, size) {
        BlobBody::Whole(bytes) => archive.write(&bytes)?,
        BlobBody::Stream(mut chunks) => {
            while let Some(chunk) = chunks.next().await {
                archive.write(&chunk.context("an object cannot be read")?)?;
            }
        }
    }
    archive.end(&entry)?;
    progress.add(size);
    Ok(true)
}

/// Begins a transaction during which no other session can change which blobs rows refer to; `commit` ends it.
pub(super) async fn lock_objects(client: &Client) -> Result<()> {
    let mut attempt = 1;
    loop {
        client
            .batch_execute(
                "begin read write; set local statement_timeout = 0; set local lock_timeout = '3s'; \
                 set local idle_in_transaction_session_timeout = 0",
            )
            .await?;
        let locked = lock_blob_references(client).await;
        match locked {
            Ok(()) => return Ok(()),
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) && attempt < LOCK_ATTEMPTS => {
                attempt += 1;
                client.batch_execute("rollback").await?;
            }
            Err(error) => {
                return Err(error).context(
                    "the objects cannot be locked for a moment: if a transaction keeps them locked, end it \
                     (selvedge inspect db locks) and repeat the backup",
                );
            }
        }
    }
}

/// Counts the rows whose bytes are neither in `store` nor known to be lost.
pub(super) async fn count_missing(client: &Client, store: &FileBackend, lost: &[String]) -> Result<u64> {
    let mut references = Vec::new();
    visit_blob_references(client, |reference| references.push(reference)).await?;
    let mut missing = 0;
    for BlobReference { version, object } in references {
        let Some(object) = object else { continue };
        match store.stat(version).await {
            Err(BackendError::Missing) if !lost.contains(&object) => missing += 1,
            Ok(_) | Err(BackendError::Missing) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(missing)
}
