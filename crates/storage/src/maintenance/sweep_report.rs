//! What a sweep may do, and what it has found and done.

use std::time::Duration;

/// Options of a sweep.
#[derive(Debug, Clone)]
pub struct SweepOptions {
    /// Younger blobs are never removed; must exceed the duration of any upload. Default 24 hours.
    pub older_than: Duration,
    /// Whether orphaned blobs are removed, or only counted. Default true.
    pub remove_blobs: bool,
    /// Whether rows without their blob are deleted, or only reported. Default false.
    pub remove_rows: bool,
    /// Whether more than a tenth of all blobs may be removed. So many orphans look like the objects of another database. Default false.
    pub remove_many: bool,
    /// How long orphans stay in the trash. Default 7 days.
    pub keep_trash_for: Duration,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self {
            older_than: Duration::from_secs(24 * 3600),
            remove_blobs: true,
            remove_rows: false,
            remove_many: false,
            keep_trash_for: Duration::from_secs(7 * 24 * 3600),
        }
    }
}

impl SweepOptions {
    /// These options on a machine whose clock is ahead of the store's: everything looks that much older than it is. What is to be removed whatever
    /// its age stays so.
    pub(super) fn with_clock_lead(&self, lead: Duration) -> Self {
        let add = |age: Duration| if age.is_zero() { age } else { age + lead };
        Self {
            older_than: add(self.older_than),
            keep_trash_for: add(self.keep_trash_for),
            ..self.clone()
        }
    }
}

/// The result of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Number of blobs in the store.
    pub blobs: u64,
    /// Blobs without a row that are older than `older_than`.
    pub orphans: u64,
    /// Total size of the orphans in bytes.
    pub orphan_bytes: u64,
    /// Whether they are so many that they are removed only with `remove_many`.
    pub has_many_orphans: bool,
    /// Orphans that were moved to the trash, or removed when nothing stays there.
    pub removed: u64,
    /// Number of rows whose blob is missing.
    pub lost: u64,
    /// The first 100 of them, as `bucket/key`.
    pub lost_names: Vec<String>,
    /// Rows without a usable version: they were written by SQL and never had a blob.
    pub without_version: u64,
    /// Unfinished writes of processes that have ended.
    pub unfinished: u64,
    /// Blobs that were in the trash although a row refers to them, and are back.
    pub recovered: u64,
    /// Blobs that were removed from the trash for good.
    pub trash_removed: u64,
    /// Other databases that have objects in the store, so that nothing is removed.
    pub others: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_those_of_the_store_and_what_has_no_age_is_removed_at_once() {
        let day = Duration::from_secs(24 * 3_600);

        let options = SweepOptions::default().with_clock_lead(30 * day);
        assert_eq!((options.older_than, options.keep_trash_for), (31 * day, 37 * day));
        let at_once = SweepOptions {
            older_than: Duration::ZERO,
            keep_trash_for: Duration::ZERO,
            ..SweepOptions::default()
        };
        let options = at_once.with_clock_lead(30 * day);
        assert!(options.older_than.is_zero() && options.keep_trash_for.is_zero());
    }
}
