//! A storage job, as stored in `selvedge_console.selvedge_storage_jobs`.

use tokio_postgres::Row;
use uuid::Uuid;

use super::request::{JobKind, Step};
use crate::session::Session;

/// The columns that [`job_json`](super::api) and [`Job::read`] read.
pub(super) const COLUMNS: &str = "id, kind, bucket, target_bucket, steps::text, state, account, level, address, request_id, \
     to_json(created_at) #>> '{}', to_json(finished_at) #>> '{}', total, done, failed, step, last_name, batch, error";

/// A running job.
pub(super) struct Job {
    pub(super) id: Uuid,
    pub(super) kind: JobKind,
    pub(super) bucket: String,
    pub(super) target_bucket: String,
    pub(super) steps: Vec<Step>,
    pub(super) is_cancelled: bool,
    pub(super) created_at: String,
    pub(super) total: Option<i64>,
    pub(super) step: usize,
    pub(super) last_name: String,
    /// The file names of the current batch. After a crash some of them may have been processed.
    pub(super) batch: Option<Vec<String>>,
    /// The session that created the job.
    pub(super) session: Session,
}

impl Job {
    /// Reads a row; `None` when it cannot be read or its kind is unknown, because a newer version wrote it.
    pub(super) fn read(row: &Row) -> Option<Self> {
        let bucket: String = row.try_get(2).ok()?;
        let level: String = row.try_get(7).ok()?;
        let (address, request_id): (String, String) = (row.try_get(8).ok()?, row.try_get(9).ok()?);
        let target_bucket: Option<String> = row.try_get(3).ok()?;
        Some(Self {
            id: row.try_get(0).ok()?,
            kind: JobKind::from_name(row.try_get(1).ok()?)?,
            target_bucket: target_bucket.unwrap_or_else(|| bucket.clone()),
            bucket,
            steps: serde_json::from_str(row.try_get(4).ok()?).ok()?,
            is_cancelled: row.try_get::<_, &str>(5).ok()? == "cancelling",
            session: Session::of_background(row.try_get(6).ok()?, level.parse().ok()?, &address, &request_id),
            created_at: row.try_get(10).ok()?,
            total: row.try_get(12).ok()?,
            step: usize::try_from(row.try_get::<_, i32>(15).ok()?).ok()?,
            last_name: row.try_get(16).ok()?,
            batch: row.try_get(17).ok()?,
        })
    }

    /// Returns the new name of a file: the step's source prefix is replaced by its target prefix.
    pub(super) fn target_name(step: &Step, name: &str) -> String {
        let below = name.strip_prefix(step.from.as_str()).unwrap_or_default();
        format!("{}{below}", step.to.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_121_files_keep_their_path_below_the_moved_folder() {
        let step = |from: &str, to: &str| Step {
            from: from.to_owned(),
            to: Some(to.to_owned()),
        };
        let folder = step("a/b/", "c/b/");
        assert_eq!(Job::target_name(&folder, "a/b/d/e.txt"), "c/b/d/e.txt");
        assert_eq!(Job::target_name(&step("a/b/", ""), "a/b/e.txt"), "e.txt");
        assert_eq!(Job::target_name(&step("a.txt", "b.txt"), "a.txt"), "b.txt");
    }
}
