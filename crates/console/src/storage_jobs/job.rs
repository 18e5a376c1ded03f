//! A storage job, as stored in `selvedge_console.storage_jobs`.

use serde_json::{Value, json};
use tokio_postgres::Row;
use uuid::Uuid;

use super::request::{JobKind, Step};
use crate::session::Session;

/// The columns that [`describe`] and [`Job::read`] read.
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
    /// Reads a row; `None` when its kind is unknown, because a newer version wrote it.
    pub(super) fn read(row: &Row) -> Option<Self> {
        let bucket: String = row.get(2);
        let level: String = row.get(7);
        let (address, request_id): (String, String) = (row.get(8), row.get(9));
        Some(Self {
            id: row.get(0),
            kind: JobKind::from_name(row.get(1))?,
            target_bucket: row.get::<_, Option<String>>(3).unwrap_or_else(|| bucket.clone()),
            bucket,
            steps: serde_json::from_str(row.get(4)).ok()?,
            is_cancelled: row.get::<_, &str>(5) == "cancelling",
            session: Session::of_background(row.get(6), level.parse().ok()?, &address, &request_id),
            created_at: row.get(10),
            total: row.get(12),
            step: usize::try_from(row.get::<_, i32>(15)).ok()?,
            last_name: row.get(16),
            batch: row.get(17),
        })
    }

    /// Returns the new name of a file: the step's source prefix is replaced by its target prefix.
    pub(super) fn target_name(step: &Step, name: &str) -> String {
        let below = name.strip_prefix(step.from.as_str()).unwrap_or_default();
        format!("{}{below}", step.to.as_deref().unwrap_or_default())
    }
}

/// Renders a row as the JSON of the API.
pub(super) fn job_json(row: &Row) -> Value {
    let steps: Value = serde_json::from_str(row.get(4)).unwrap_or_default();
    let count = steps.as_array().map_or(0, Vec::len);
    json!({
        "id": row.get::<_, Uuid>(0),
        "kind": row.get::<_, String>(1),
        "bucket": row.get::<_, String>(2),
        "target_bucket": row.get::<_, Option<String>>(3),
        "first": steps.get(0),
        "steps": count,
        "state": row.get::<_, String>(5),
        "account": row.get::<_, Option<String>>(6),
        "created_at": row.get::<_, String>(10),
        "finished_at": row.get::<_, Option<String>>(11),
        "total": row.get::<_, Option<i64>>(12),
        "done": row.get::<_, i64>(13),
        "failed": row.get::<_, i64>(14),
        "error": row.get::<_, Option<String>>(18),
    })
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
