//! Finds what a crash left behind: blobs that no row refers to, and rows whose blob is gone.
//!
//! Blobs and rows are read side by side, page by page in the order of versions, so that memory stays constant. Safe while
//! uploads go on: a blob is an orphan only when it is older than every upload may last, and a row counts as lost only
//! when a second look at the store and at the row says so too.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio_postgres::Transaction;

use crate::backend::{BackendError, BlobEntry, Version};
use crate::error::{StorageError, Taken};
use crate::object::commit::pool_error;
use crate::serve::Storage;
use crate::session::begin_internal;

/// Blobs per page; a page costs the database one pass over the rows.
const PAGE: usize = 10_000;
/// Lost objects that a report names.
const NAMED_MAX: usize = 100;

const RANGE: &str = include_str!("sql/sweep_range.sql");
const RESUMABLE_RANGE: &str = include_str!("sql/sweep_resumable_range.sql");

/// A database that an older version migrated has no resumable uploads.
const HAS_RESUMABLE: &str = "select to_regclass('storage.resumable_pieces') is not null";

/// A row whose version is no UUID can have no blob: SQL wrote it.
const UNUSABLE: &str = "select count(*) from storage.objects o where o.version is null \
     or o.version !~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'";

const STILL_THERE: &str = "select exists (select from storage.objects o where o.bucket_id = $1 and o.name = $2 \
     and lower(o.version) = $3)";

const REMOVE_ROW: &str =
    "delete from storage.objects o where o.bucket_id = $1 and o.name = $2 and lower(o.version) = $3";

/// One sweep at a time, whoever does it.
const LOCK: &str = "select pg_try_advisory_xact_lock(7305473001)";

/// What a sweep does.
#[derive(Debug, Clone)]
pub struct SweepOptions {
    /// Blobs that are younger are left alone; must exceed the longest upload. Default 24 hours.
    pub older_than: Duration,
    /// Removes orphaned blobs; otherwise they are only counted. Default true.
    pub remove_blobs: bool,
    /// Removes rows whose blob is lost; otherwise they are only reported. Default false.
    pub remove_rows: bool,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self {
            older_than: Duration::from_secs(24 * 3600),
            remove_blobs: true,
            remove_rows: false,
        }
    }
}

/// What a sweep found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Blobs in the store.
    pub blobs: u64,
    /// Blobs without a row, old enough to be sure.
    pub orphans: u64,
    /// Their size in bytes.
    pub orphan_bytes: u64,
    /// Rows whose blob is gone.
    pub lost: u64,
    /// The first of them, as `bucket/key`.
    pub lost_names: Vec<String>,
    /// Rows that never had a blob: written by SQL.
    pub without_version: u64,
    /// Unfinished writes of processes that are gone.
    pub unfinished: u64,
}

/// Sweeps once. None when another sweep is running.
///
/// # Errors
/// When the store or the database refuses.
pub async fn sweep(
    storage: &Arc<Storage>,
    options: &SweepOptions,
) -> Result<Option<SweepReport>, StorageError> {
    let pool = storage.sweeper_pool();
    let mut client = pool.get().await.map_err(pool_error)?;
    let transaction = begin_internal(storage.database(), &mut client, "storage.sweep").await?;
    // A pass over many rows may take longer than a request.
    transaction
        .batch_execute("set local statement_timeout = 0; set local lock_timeout = 0")
        .await
        .map_err(refused)?;
    let is_ours: bool = transaction
        .query_one(LOCK, &[])
        .await
        .map_err(refused)?
        .try_get(0)
        .map_err(StorageError::internal)?;
    if !is_ours {
        return Ok(None);
    }
    let has_resumable: bool = transaction
        .query_one(HAS_RESUMABLE, &[])
        .await
        .map_err(refused)?
        .try_get(0)
        .map_err(StorageError::internal)?;
    let sweep = Sweep {
        ranges: if has_resumable {
            &[RANGE, RESUMABLE_RANGE]
        } else {
            &[RANGE]
        },
        storage,
        options,
        transaction: &transaction,
    };
    let report = sweep.run().await?;
    transaction.commit().await.map_err(refused)?;
    Ok(Some(report))
}

fn refused(error: tokio_postgres::Error) -> StorageError {
    StorageError::from_tokio_postgres(error, Taken::Resource)
}

struct Sweep<'s> {
    /// Statements that say what is referred to.
    ranges: &'static [&'static str],
    storage: &'s Arc<Storage>,
    options: &'s SweepOptions,
    transaction: &'s Transaction<'s>,
}

/// What a version belongs to: an object, or an upload that is under way.
type Holder = Option<(String, String)>;

impl Sweep<'_> {
    async fn run(&self) -> Result<SweepReport, StorageError> {
        let backend = self.storage.backend();
        let mut report = SweepReport::default();
        if self.options.remove_blobs {
            report.unfinished = backend.sweep_unfinished(self.options.older_than).await?;
        }
        let unusable: i64 = self
            .transaction
            .query_one(UNUSABLE, &[])
            .await
            .map_err(refused)?
            .try_get(0)
            .map_err(StorageError::internal)?;
        report.without_version = u64::try_from(unusable).unwrap_or(0);
        let mut after = None;
        loop {
            let page = backend.list(after, PAGE).await?;
            let last = page
                .last()
                .filter(|_| page.len() == PAGE)
                .map(|blob| blob.version);
            let rows = self.rows_between(after, last).await?;
            self.compare(&page, rows, &mut report).await?;
            if last.is_none() {
                return Ok(report);
            }
            after = last;
        }
    }

    /// Versions that rows refer to, behind one and up to another.
    async fn rows_between(
        &self,
        after: Option<Version>,
        last: Option<Version>,
    ) -> Result<BTreeMap<Version, Holder>, StorageError> {
        let after = after.map_or_else(String::new, |version| version.to_string());
        let last = last.map_or_else(|| "g".to_owned(), |version| version.to_string());
        let mut rows = BTreeMap::new();
        let mut found = Vec::new();
        for range in self.ranges {
            found.extend(
                self.transaction
                    .query(*range, &[&after, &last])
                    .await
                    .map_err(refused)?,
            );
        }
        for row in found {
            let read = || -> Result<(String, Option<String>, Option<String>), tokio_postgres::Error> {
                Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
            };
            let (version, bucket, key) = read().map_err(StorageError::internal)?;
            if let Some(version) = Version::parse(&version) {
                let holder: &mut Holder = rows.entry(version).or_default();
                if let (Some(bucket), Some(key)) = (bucket, key) {
                    *holder = Some((bucket, key));
                }
            }
        }
        Ok(rows)
    }

    async fn compare(
        &self,
        page: &[BlobEntry],
        mut rows: BTreeMap<Version, Holder>,
        report: &mut SweepReport,
    ) -> Result<(), StorageError> {
        let now = SystemTime::now();
        for blob in page {
            report.blobs += 1;
            if rows.remove(&blob.version).is_some() {
                continue;
            }
            let age = now.duration_since(blob.stat.modified).unwrap_or_default();
            if age < self.options.older_than {
                continue;
            }
            report.orphans += 1;
            report.orphan_bytes += blob.stat.size_bytes;
            if self.options.remove_blobs {
                self.storage.backend().remove(blob.version).await?;
            }
        }
        // What is left has no blob on the page. It may have come after the page was read.
        for (version, holder) in rows {
            let Some((bucket, key)) = holder else {
                continue;
            };
            match self.storage.backend().stat(version).await {
                Ok(_) => continue,
                Err(BackendError::Missing) => {}
                Err(error) => return Err(error.into()),
            }
            let version = version.to_string();
            let row = self
                .transaction
                .query_one(STILL_THERE, &[&bucket, &key, &version])
                .await
                .map_err(refused)?;
            if !row.try_get(0).map_err(StorageError::internal)? {
                continue;
            }
            report.lost += 1;
            if self.options.remove_rows {
                self.transaction
                    .execute(REMOVE_ROW, &[&bucket, &key, &version])
                    .await
                    .map_err(refused)?;
            }
            if report.lost_names.len() < NAMED_MAX {
                report.lost_names.push(format!("{bucket}/{key}"));
            }
        }
        Ok(())
    }
}

/// Sweeps at intervals, on a thread of its own, for as long as the storage lives.
///
/// # Errors
/// When the operating system has no thread left.
pub fn sweep_at_intervals(storage: &Arc<Storage>, interval: Duration) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let storage = Arc::downgrade(storage);
    std::thread::Builder::new()
        .name("storage-sweeper".to_owned())
        .spawn(move || runtime.block_on(sweep_forever(&storage, interval)))?;
    Ok(())
}

/// What is found goes to the log.
async fn sweep_forever(storage: &Weak<Storage>, interval: Duration) {
    loop {
        tokio::time::sleep(interval).await;
        let Some(storage) = storage.upgrade() else {
            return;
        };
        match sweep(&storage, &SweepOptions::default()).await {
            Ok(Some(report)) if report.lost > 0 => {
                tracing::error!(?report, "objects have lost their bytes");
            }
            Ok(Some(report)) => tracing::info!(?report, "swept the store of objects"),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the store of objects could not be swept"),
        }
    }
}
