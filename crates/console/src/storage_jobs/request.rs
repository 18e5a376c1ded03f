//! Validates the body of `POST /api/storage/jobs`.

use serde::{Deserialize, Serialize};

use crate::error::ConsoleError;

/// The largest number of files and folders in a job; each is one step.
const MOST_STEPS: usize = 10_000;
/// The longest object name that the storage service accepts, in bytes.
const LONGEST_NAME: usize = 1024;

/// The operation on the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum JobKind {
    Move,
    Copy,
    Delete,
}

impl JobKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Move => "move",
            Self::Copy => "copy",
            Self::Delete => "delete",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        let kinds = [Self::Move, Self::Copy, Self::Delete];
        kinds.into_iter().find(|kind| kind.name() == name)
    }
}

/// A file, or a folder whose name ends with a slash, and its new name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<String>,
}

/// The body of `POST /api/storage/jobs`.
#[derive(Debug, Deserialize)]
pub(super) struct JobRequest {
    pub(super) kind: JobKind,
    pub(super) bucket: String,
    /// The target bucket; by default the source bucket.
    #[serde(default)]
    pub(super) target_bucket: Option<String>,
    pub(super) steps: Vec<Step>,
}

impl JobRequest {
    /// Validates the steps, for example that no folder is moved into itself.
    ///
    /// # Errors
    /// 422 with the reason.
    pub(super) fn check(&self) -> Result<(), ConsoleError> {
        let refuse = |reason: String| Err(ConsoleError::invalid(reason));
        if self.steps.is_empty() || self.steps.len() > MOST_STEPS {
            return refuse(format!("A job has 1 to {MOST_STEPS} files and folders"));
        }
        let is_same_bucket = self
            .target_bucket
            .as_ref()
            .is_none_or(|target| *target == self.bucket);
        // A job that copies a folder into itself would never end. The page prevents it, but other clients may not.
        for Step { from, to } in &self.steps {
            let is_folder = from.ends_with('/');
            if from.trim_matches('/').is_empty() {
                return refuse("A name is missing; to delete everything, empty the bucket".to_owned());
            }
            match (self.kind, to) {
                (JobKind::Delete, _) => {}
                (_, None) => return refuse(format!("{from} has no new name")),
                (_, Some(to)) if to.len() > LONGEST_NAME => {
                    return refuse(format!("Names have at most {LONGEST_NAME} characters"));
                }
                (_, Some(to)) if is_folder != (to.ends_with('/') || to.is_empty()) => {
                    return refuse(format!("{from} and {to} must both be files or both folders"));
                }
                (_, Some(to))
                    if is_same_bucket && (from == to || (is_folder && to.starts_with(from.as_str()))) =>
                {
                    return refuse(format!("{from} cannot be put into itself"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the target in the audit entry, such as `photos/2024/ and 3 more → archive/2024/`.
    pub(super) fn describe(&self) -> String {
        let Some(first) = self.steps.first() else {
            return self.bucket.clone();
        };
        let more = match self.steps.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let target = first.to.as_ref().map(|to| {
            let bucket = self.target_bucket.as_ref().unwrap_or(&self.bucket);
            format!(" → {bucket}/{to}")
        });
        format!(
            "{}/{}{more}{}",
            self.bucket,
            first.from,
            target.unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: &str, from: &str, to: Option<&str>, target: Option<&str>) -> bool {
        let body = json!({
            "kind": kind, "bucket": "photos", "target_bucket": target, "steps": [{ "from": from, "to": to }],
        });
        serde_json::from_value::<JobRequest>(body)
            .unwrap()
            .check()
            .is_ok()
    }

    #[test]
    fn console_121_check_refuses_a_folder_into_itself_and_a_file_as_folder() {
        assert!(check("move", "a/", Some("b/a/"), None));
        assert!(check("move", "a/", Some("a/"), Some("other")));
        assert!(check("copy", "a/", Some(""), None), "the contents go to the top");
        assert!(check("delete", "a/b.txt", None, None));
        for (kind, from, to) in [
            ("move", "a/", Some("a/b/")),
            ("copy", "a/", Some("a/")),
            ("move", "a/", Some("b")),
            ("move", "a", Some("b/")),
            ("copy", "a/", None),
            ("delete", "", None),
            ("delete", "/", None),
        ] {
            assert!(!check(kind, from, to, None), "{kind} {from} {to:?}");
        }
    }
}
