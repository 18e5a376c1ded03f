//! Finds leftovers of crashes: blobs to which no row refers, and rows without a blob.
//!
//! Blobs and rows are read page by page in the order of versions, so that memory stays constant. A sweep is safe while
//! uploads run: a blob is an orphan only when it is older than any upload may last, and a row is lost only after a second
//! lookup of blob and row.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use tokio_postgres::Transaction;

use super::orphans::remove_orphans;
use super::sweep_lock::{begin_locked, map_error};
use super::sweep_report::{SweepOptions, SweepReport};
use crate::backend::{BackendError, BlobEntry, Version};
use crate::error::StorageError;
use crate::state::Storage;

/// Blobs per page. Each page costs the database one pass over the rows.
const PAGE_SIZE: usize = 10_000;
/// Sorts after every UUID as text, because `g` follows the hexadecimal digits.
pub(super) const AFTER_ALL_VERSIONS: &str = "g";
/// Most orphans that one sweep removes. The next one goes on.
const MAX_ORPHANS: usize = 200_000;
/// Largest number of lost objects that a report lists by name.
const MAX_LOST_NAMES: usize = 100;

pub(super) const RANGE: &str = include_str!("../sql/sweep_range.sql");
pub(super) const RESUMABLE_RANGE: &str = include_str!("../sql/sweep_resumable_range.sql");

/// False in a database that was migrated by an older version, which had no resumable uploads.
pub(super) const HAS_RESUMABLE: &str = "select to_regclass('storage.resumable_pieces') is not null";

/// Rows whose version is not a UUID as [`Version::parse`] reads it. They were written by SQL and have no blob.
const COUNT_WITHOUT_VERSION: &str = "select count(*) from storage.objects o where o.version is null \
     or o.version !~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'";

const STILL_THERE: &str = "select exists (select from storage.objects o where o.bucket_id = $1 and o.name = $2 \
     and o.version = $3)";

/// A row without bytes is no version to keep. If it was the current object, the version before it is, whose bytes may be there.
const REMOVE_ROW: &str = "select from storage.remove_object_version($1, $2, $3)";

/// So many orphans are removed whatever share of all they are.
const FEW_ORPHANS: u64 = 20;

/// Sweeps once; `None` when another sweep is running.
///
/// # Errors
/// Errors of the store and the database.
pub async fn sweep(
    storage: &Arc<Storage>,
    options: &SweepOptions,
) -> Result<Option<SweepReport>, StorageError> {
    let pool = storage.sweeper_pool();
    let mut client = pool.get().await.map_err(StorageError::from_pool)?;
    let Some(transaction) = begin_locked(storage, &mut client).await? else {
        return Ok(None);
    };
    let others = find_others(storage, options).await?;
    let lead = storage.ownership().measure_clock_lead();
    if !lead.is_zero() {
        tracing::warn!(
            seconds = lead.as_secs(),
            "the clock of this machine is ahead of that of the store of objects, or it was paused: ages are measured by the store's"
        );
    }
    let options = &options.with_clock_lead(lead);
    let has_resumable: bool = transaction
        .query_one(HAS_RESUMABLE, &[])
        .await
        .map_err(map_error)?
        .try_get(0)
        .map_err(StorageError::internal)?;
    let mut run = SweepRun {
        orphans: Vec::new(),
        ranges: if has_resumable {
            &[RANGE, RESUMABLE_RANGE]
        } else {
            &[RANGE]
        },
        storage,
        options,
        transaction: &transaction,
    };
    let mut report = run.execute().await?;
    report.others = others;
    let orphans = run.orphans;
    if options.remove_blobs {
        refuse_many_orphans(&report, options)?;
    }
    transaction.commit().await.map_err(map_error)?;
    if options.remove_blobs {
        // Reading a large store takes long, and another database may have come meanwhile.
        find_others(storage, options).await?;
        remove_orphans(storage, options, &mut client, &orphans, &mut report).await?;
    }
    Ok(Some(report))
}

/// Refuses to remove so many orphans that they may be another database's objects.
fn refuse_many_orphans(report: &SweepReport, options: &SweepOptions) -> Result<(), StorageError> {
    if !report.has_many_orphans || options.remove_many {
        return Ok(());
    }
    Err(StorageError::internal(format!(
        "{} of {} stored objects ({} bytes) have no row in this database, and nothing was removed: so many may be the objects of another \
         database. When they are not, remove them by `selvedge sweep --remove-many`",
        report.orphans, report.blobs, report.orphan_bytes
    )))
}

/// The other databases that use the same place in the store, to which its objects have no rows here: refuses to remove anything while there are any.
async fn find_others(storage: &Storage, options: &SweepOptions) -> Result<Vec<String>, StorageError> {
    let pool = storage.sweeper_pool();
    let client = pool.get().await.map_err(StorageError::from_pool)?;
    if !(options.remove_blobs || options.remove_rows) {
        return Ok(match storage.ownership().look_for_others(&client).await {
            Ok(others) => others,
            Err(error) => {
                tracing::warn!(%error, "nobody knows whether another database uses the store of objects as well");
                Vec::new()
            }
        });
    }
    let others = storage.ownership().list_others(&client).await?;
    if others.is_empty() {
        return Ok(others);
    }
    Err(StorageError::internal(format!(
        "the store of objects is used by another database as well, and nothing was swept: give each project a prefix of its own \
         (selvedge.s3.prefix), or a data folder; or say that all objects are of this database by `selvedge storage adopt`. Found: {}",
        others.join(" and ")
    )))
}

/// A sweep that holds the lock.
struct SweepRun<'s> {
    /// Statements that select the versions that rows refer to.
    ranges: &'static [&'static str],
    storage: &'s Arc<Storage>,
    options: &'s SweepOptions,
    transaction: &'s Transaction<'s>,
    /// Blobs to remove. They are removed at the end, when it is known how many of all they are.
    orphans: Vec<Version>,
}

/// Bucket and key of the object that refers to a version; `None` when an unfinished upload does.
type Reference = Option<(String, String)>;

impl SweepRun<'_> {
    async fn execute(&mut self) -> Result<SweepReport, StorageError> {
        let backend = self.storage.backend();
        let mut report = SweepReport::default();
        if self.options.remove_blobs {
            report.unfinished = backend.sweep_unfinished(self.options.older_than).await?;
        }
        let unusable: i64 = self
            .transaction
            .query_one(COUNT_WITHOUT_VERSION, &[])
            .await
            .map_err(map_error)?
            .try_get(0)
            .map_err(StorageError::internal)?;
        report.without_version = u64::try_from(unusable).unwrap_or(0);
        let mut after = None;
        loop {
            // Blobs are listed before the rows are read. An object that is stored in between appears as a row only, and
            // `check_lost` finds its blob. In the other order it would look like an orphan.
            let page = backend.list(after, PAGE_SIZE).await?;
            // A page that is not full is the last one, and its range of rows has no upper end.
            let last = page
                .last()
                .filter(|_| page.len() == PAGE_SIZE)
                .map(|blob| blob.version);
            let rows = self.rows_between(after, last).await?;
            self.compare(&page, rows, &mut report).await?;
            if last.is_none() {
                break;
            }
            after = last;
        }
        report.has_many_orphans =
            report.orphans > FEW_ORPHANS && report.orphans.saturating_mul(10) > report.blobs;
        Ok(report)
    }

    /// The versions that rows refer to, greater than `after` and up to `last`.
    async fn rows_between(
        &self,
        after: Option<Version>,
        last: Option<Version>,
    ) -> Result<BTreeMap<Version, Reference>, StorageError> {
        let after = after.map_or_else(String::new, |version| version.to_string());
        let last = last.map_or_else(|| AFTER_ALL_VERSIONS.to_owned(), |version| version.to_string());
        let mut rows = BTreeMap::new();
        let mut found = Vec::new();
        for range in self.ranges {
            found.extend(
                self.transaction
                    .query(*range, &[&after, &last])
                    .await
                    .map_err(map_error)?,
            );
        }
        for row in found {
            let read = || -> Result<(String, Option<String>, Option<String>), tokio_postgres::Error> {
                Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
            };
            let (version, bucket, key) = read().map_err(StorageError::internal)?;
            if let Some(version) = Version::parse(&version) {
                let reference: &mut Reference = rows.entry(version).or_default();
                if let (Some(bucket), Some(key)) = (bucket, key) {
                    *reference = Some((bucket, key));
                }
            }
        }
        Ok(rows)
    }

    /// Compares a page of blobs with the rows of the same range of versions.
    async fn compare(
        &mut self,
        page: &[BlobEntry],
        mut rows: BTreeMap<Version, Reference>,
        report: &mut SweepReport,
    ) -> Result<(), StorageError> {
        let now = SystemTime::now();
        for blob in page {
            report.blobs += 1;
            if rows.remove(&blob.version).is_some() {
                continue;
            }
            // An upload makes its blob before its row, so a young blob without a row may still get one. A date in the
            // future, as after a change of the clock, counts as age zero.
            let age = now.duration_since(blob.stat.modified).unwrap_or_default();
            if age < self.options.older_than {
                continue;
            }
            report.orphans += 1;
            report.orphan_bytes += blob.stat.size_bytes;
            if self.options.remove_blobs && self.orphans.len() < MAX_ORPHANS {
                self.orphans.push(blob.version);
            }
        }
        // The rows that remain have no blob on this page.
        for (version, reference) in rows {
            if let Some((bucket, key)) = reference {
                self.check_lost(version, &bucket, &key, report).await?;
            }
        }
        Ok(())
    }

    /// Reports an object whose blob was not listed. The blob may have been written after the page was read, and the row
    /// may have been deleted, so both are looked up again.
    async fn check_lost(
        &self,
        version: Version,
        bucket: &str,
        key: &str,
        report: &mut SweepReport,
    ) -> Result<(), StorageError> {
        match self.storage.backend().stat(version).await {
            Ok(_) => return Ok(()),
            Err(BackendError::Missing) => {}
            Err(error) => return Err(error.into()),
        }
        let text = version.to_string();
        let row = self
            .transaction
            .query_one(STILL_THERE, &[&bucket, &key, &text])
            .await
            .map_err(map_error)?;
        if !row.try_get(0).map_err(StorageError::internal)? {
            return Ok(());
        }
        // A sweep by another database, which did not know the row, has put it there.
        if self.options.remove_blobs && self.storage.backend().recover(version).await? {
            report.recovered += 1;
            return Ok(());
        }
        report.lost += 1;
        if self.options.remove_rows {
            self.transaction
                .execute(REMOVE_ROW, &[&bucket, &key, &text])
                .await
                .map_err(map_error)?;
        }
        if report.lost_names.len() < MAX_LOST_NAMES {
            report.lost_names.push(format!("{bucket}/{key}"));
        }
        Ok(())
    }
}
