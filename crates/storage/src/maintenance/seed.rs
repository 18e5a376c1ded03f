//! Loads the buckets of config.toml and the files below their `objects_path` when a project starts.
//!
//! Seeding is idempotent: buckets are upserted, and files whose bytes are stored already are skipped. It is fast: blobs
//! are written without syncing each, synced once together, and all rows are upserted in one transaction after that.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadpool_postgres::Transaction;
use futures_util::StreamExt;
use md5::{Digest, Md5};
use selvedge_project_files::{is_data_folder, is_private_entry};
use serde::Serialize;
use serde_json::Value;
use walkdir::{DirEntry, WalkDir};

use crate::backend::{BackendError, BlobInfo, Version};
use crate::database::object_row::Declared;
use crate::database::session::begin_service_transaction;
use crate::error::{StorageError, UniqueKey};
use crate::object::pending_blob::PendingBlob;
use crate::state::Storage;
use crate::validation::names::{check_key, check_new_bucket_name, is_folder_placeholder};
use crate::validation::object_limits::ObjectLimits;

/// Cache-Control of seeded objects: the one that the Supabase CLI sends when it seeds.
const CACHE_CONTROL: &str = "max-age=3600";

const UPSERT_BUCKET: &str = "insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types) \
     values ($1, $1, $2, $3, $4) on conflict (id) do update set public = excluded.public, \
     file_size_limit = excluded.file_size_limit, allowed_mime_types = excluded.allowed_mime_types";

const EXISTING: &str =
    "select name, version, metadata ->> 'eTag' from only storage.objects where bucket_id = $1";

const UPSERT_OBJECTS: &str = include_str!("../sql/seed_objects.sql");

/// One bucket of the configuration.
#[derive(Debug, Clone, Default)]
pub struct BucketSeed {
    /// Id and name.
    pub id: String,
    /// Whether anyone may download an object whose key they know.
    pub public: bool,
    /// Largest object in bytes; `None` means the limit of the service.
    pub file_size_limit: Option<i64>,
    /// Allowed content types; an empty list allows all.
    pub allowed_mime_types: Vec<String>,
    /// Folder whose files become objects under their relative paths. Hidden files and symbolic links are skipped.
    pub objects_path: Option<PathBuf>,
}

/// How much seeding changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SeedReport {
    /// Buckets upserted.
    pub buckets: usize,
    /// Objects written.
    pub written: usize,
    /// Objects that were stored already.
    pub unchanged: usize,
}

/// Why seeding failed. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// A bucket is invalid.
    #[error("bucket {id:?}: {source}")]
    Bucket {
        /// Id of the bucket.
        id: String,
        /// Why the bucket is invalid.
        source: StorageError,
    },
    /// A file cannot be stored as an object.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file that could not be uploaded.
        path: PathBuf,
        /// Why the file could not be uploaded.
        source: StorageError,
    },
    /// The database or the store of blobs failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Upserts buckets and loads their files.
///
/// # Errors
/// [`SeedError`]. Nothing was changed then.
pub async fn seed_buckets(storage: &Arc<Storage>, buckets: &[BucketSeed]) -> Result<SeedReport, SeedError> {
    let mut client = storage
        .transactions()
        .get()
        .await
        .map_err(StorageError::internal)?;
    let transaction =
        begin_service_transaction(storage.database(), &mut client, "storage.bucket.create").await?;
    // All files are read and stored between two statements, which may take longer than a transaction may otherwise be idle.
    transaction
        .batch_execute("set local idle_in_transaction_session_timeout = 0")
        .await
        .map_err(StorageError::internal)?;
    let mut existing = HashMap::new();
    for bucket in buckets {
        upsert_bucket(storage, &transaction, bucket).await?;
        existing.insert(
            bucket.id.clone(),
            existing_objects(&transaction, &bucket.id).await?,
        );
    }

    let (seeds, limit) = (buckets.to_vec(), storage.config().file_size_limit_bytes);
    // Reading and hashing files blocks, so it must not run on an event loop.
    let files = tokio::task::spawn_blocking(move || find_files(limit, &seeds, &existing));
    let files = files.await.map_err(StorageError::internal)??;
    let loaded = load_files(storage, files).await?;

    // The blobs are durable now and the rows follow, so a crash leaves at most blobs without rows, which a sweep
    // removes.
    let rows = serde_json::to_string(&loaded.rows).map_err(StorageError::internal)?;
    let map_error = |error| StorageError::from_tokio_postgres(error, UniqueKey::Object);
    transaction
        .execute(UPSERT_OBJECTS, &[&rows])
        .await
        .map_err(map_error)?;
    // Until here an error drops the new blobs. From here on a row may refer to them even if the commit reports an error,
    // because the connection may be lost before the answer; a sweep removes those that none refers to.
    loaded.blobs.into_iter().for_each(PendingBlob::keep);
    transaction.commit().await.map_err(map_error)?;
    for replaced in loaded.replaced {
        storage.discard_blob(replaced);
    }
    Ok(SeedReport {
        buckets: buckets.len(),
        written: loaded.rows.len(),
        unchanged: loaded.unchanged,
    })
}

async fn upsert_bucket(
    storage: &Storage,
    transaction: &Transaction<'_>,
    bucket: &BucketSeed,
) -> Result<(), SeedError> {
    let bucket_error = |source| SeedError::Bucket {
        id: bucket.id.clone(),
        source,
    };
    check_new_bucket_name(&bucket.id).map_err(bucket_error)?;
    let global = i64::try_from(storage.config().file_size_limit_bytes).unwrap_or(i64::MAX);
    if bucket.file_size_limit.is_some_and(|limit| limit > global) {
        return Err(bucket_error(StorageError::EntityTooLarge));
    }
    let types = Some(&bucket.allowed_mime_types).filter(|types| !types.is_empty());
    transaction
        .execute(
            UPSERT_BUCKET,
            &[&bucket.id, &bucket.public, &bucket.file_size_limit, &types],
        )
        .await
        .map_err(|error| bucket_error(StorageError::from_tokio_postgres(error, UniqueKey::Bucket)))?;
    Ok(())
}

/// An object that was stored before.
struct ExistingObject {
    version: Option<Version>,
    etag: Option<String>,
}

async fn existing_objects(
    transaction: &Transaction<'_>,
    bucket: &str,
) -> Result<HashMap<String, ExistingObject>, StorageError> {
    let rows = transaction
        .query(EXISTING, &[&bucket])
        .await
        .map_err(StorageError::internal)?;
    let read = |row: &tokio_postgres::Row| -> Result<(String, ExistingObject), tokio_postgres::Error> {
        let version: Option<String> = row.try_get(1)?;
        let existing = ExistingObject {
            version: version.as_deref().and_then(Version::parse),
            etag: row.try_get(2)?,
        };
        Ok((row.try_get(0)?, existing))
    };
    rows.iter()
        .map(read)
        .collect::<Result<_, _>>()
        .map_err(StorageError::internal)
}

/// A row of `storage.objects` to be upserted.
#[derive(Serialize)]
struct SeedRow {
    bucket_id: String,
    name: String,
    version: String,
    metadata: Value,
}

/// A file that is to be stored as an object.
struct SeedFile {
    bucket_id: String,
    name: String,
    path: PathBuf,
    declared: Declared,
    /// The blob of the object that was stored before.
    known: Option<Version>,
    /// Whether that object has the same entity tag as the file.
    is_same: bool,
}

/// The files after their blobs were written. When it is dropped, the new blobs are removed.
struct LoadedFiles {
    rows: Vec<SeedRow>,
    unchanged: usize,
    blobs: Vec<PendingBlob>,
    replaced: Vec<Version>,
}

/// Finds and checks all files of all buckets. Blocks, so it runs on the blocking pool.
fn find_files(
    global_limit: u64,
    buckets: &[BucketSeed],
    existing: &HashMap<String, HashMap<String, ExistingObject>>,
) -> Result<Vec<SeedFile>, SeedError> {
    let mut files = Vec::new();
    for bucket in buckets {
        let Some(root) = &bucket.objects_path else {
            continue;
        };
        for entry in WalkDir::new(root)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| !is_left_out(entry))
        {
            let entry = entry.map_err(|error| SeedError::File {
                path: root.clone(),
                source: StorageError::internal(error),
            })?;
            if entry.file_type().is_file() {
                let name = object_key(root, entry.path());
                let known = existing.get(&bucket.id).and_then(|objects| objects.get(&name));
                let file = check_file(bucket, global_limit, entry.path(), name, known);
                files.push(file.map_err(|source| SeedError::File {
                    path: entry.path().to_owned(),
                    source,
                })?);
            }
        }
    }
    Ok(files)
}

fn check_file(
    bucket: &BucketSeed,
    global_limit: u64,
    path: &Path,
    name: String,
    known: Option<&ExistingObject>,
) -> Result<SeedFile, StorageError> {
    let declared = Declared {
        mime_type: mime_guess::from_path(path)
            .first_or_octet_stream()
            .essence_str()
            .to_owned(),
        cache_control: CACHE_CONTROL.to_owned(),
        content_encoding: None,
        robots_tag: None,
    };
    check_key(&name)?;
    let allowed = Some(bucket.allowed_mime_types.as_slice());
    let limits = ObjectLimits::new(&name, global_limit, bucket.file_size_limit, allowed);
    limits.check_type(&declared.mime_type)?;
    limits.check_size(Some(path.metadata()?.len()))?;
    let known_etag = known.and_then(|known| known.etag.as_deref());
    Ok(SeedFile {
        bucket_id: bucket.id.clone(),
        is_same: known_etag.is_some() && known_etag == Some(compute_file_etag(path)?.as_str()),
        path: path.to_owned(),
        name,
        declared,
        known: known.and_then(|known| known.version),
    })
}

/// Writes blobs for all new or changed files, a few at a time.
async fn load_files(storage: &Arc<Storage>, files: Vec<SeedFile>) -> Result<LoadedFiles, SeedError> {
    const CONCURRENCY: usize = 8;
    let mut loaded = LoadedFiles {
        rows: Vec::new(),
        unchanged: 0,
        blobs: Vec::new(),
        replaced: Vec::new(),
    };
    let mut done = futures_util::stream::iter(files)
        .map(|file| async {
            let blob = load_file(storage, &file).await;
            (file, blob)
        })
        .buffered(CONCURRENCY);
    while let Some((file, blob)) = done.next().await {
        let blob = blob.map_err(|source| SeedError::File {
            path: file.path,
            source,
        })?;
        let Some((blob, info)) = blob else {
            loaded.unchanged += 1;
            continue;
        };
        loaded.replaced.extend(file.known);
        loaded.rows.push(SeedRow {
            bucket_id: file.bucket_id,
            name: file.name,
            version: blob.version().to_string(),
            metadata: file.declared.metadata(&info),
        });
        loaded.blobs.push(blob);
    }
    drop(done);
    if !loaded.rows.is_empty() {
        storage
            .backend()
            .sync_imported()
            .await
            .map_err(StorageError::from)?;
    }
    Ok(loaded)
}

/// Writes the blob of a file; `None` when its bytes are stored already.
async fn load_file(
    storage: &Arc<Storage>,
    file: &SeedFile,
) -> Result<Option<(PendingBlob, BlobInfo)>, StorageError> {
    if let Some(version) = file.known.filter(|_| file.is_same) {
        // The row alone proves nothing: the folder of blobs may have been deleted while the database was kept.
        match storage.backend().stat(version).await {
            Ok(_) => return Ok(None),
            Err(BackendError::Missing) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let blob = PendingBlob::new(storage, Version::fresh());
    let info = storage.backend().import(blob.version(), &file.path).await?;
    Ok(Some((blob, info)))
}

/// The entity tag of a file: its MD5 in quotes.
fn compute_file_etag(path: &Path) -> io::Result<String> {
    let mut digest = Md5::new();
    let mut file = std::fs::File::open(path)?;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(format!("\"{}\"", hex::encode(digest.finalize()))),
            n => digest.update(&buffer[..n]),
        }
    }
}

/// Whether an entry is skipped: names with a leading dot belong to editors and file managers, except for the placeholder of an empty
/// folder; files with passwords and keys, and data folders of a project, are there by accident.
fn is_left_out(entry: &DirEntry) -> bool {
    if entry.depth() == 0 {
        return false;
    }
    let name = entry.file_name();
    let is_private = is_private_entry(name) && !is_folder_placeholder(&name.to_string_lossy());
    is_private || (entry.file_type().is_dir() && is_data_folder(entry.path()))
}

/// The key of a file: its path below the root, with slashes.
fn object_key(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = relative
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}
