//! `[selvedge.queues]`: queues of pgmq over the API.

use crate::reader::section::Section;

/// `[selvedge.queues]`.
#[derive(Debug, Clone)]
pub struct QueuesSection {
    /// Whether there is the schema `pgmq_public`, and REST exposes it. Not set: whatever the project has made stays.
    pub expose: Option<bool>,
}

/// The schema with the functions by which the API sends and reads messages of queues.
pub(crate) const QUEUES_SCHEMA: &str = "pgmq_public";

impl QueuesSection {
    pub(super) fn read(section: &Section<'_>) -> Self {
        Self {
            expose: section.optional_bool("expose"),
        }
    }
}
