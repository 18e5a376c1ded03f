//! Versions of objects, and markers of deleted ones. Source: STORE-200 to STORE-238.
//!
//! `storage.objects` has one row for each key, its current object. `storage.object_history` inherits from it and has the rest: superseded
//! versions, and markers. Triggers write it in the transaction of whatever replaces, moves or deletes an object (the platform's file
//! 0201), so uploads of all protocols know nothing of versions. Statements about current objects say `only storage.objects`; those
//! about versions leave `only` out and run in a session [`with_versions`](crate::database::session::DbSession::with_versions), so that the
//! policies of `storage.objects` decide about each row.
//!
//! The bytes of a version stay as long as a row has it. Whoever removes a row for good hands its bytes to the deleter after the commit;
//! what a crash leaves behind is removed by a sweep.

mod delete_markers;
mod expire_versions;
mod find_version;
mod lifecycle_rules;
mod list_filter;
mod move_version;
mod null_versions;
mod remove_version;
mod wanted_version;

pub(crate) use delete_markers::delete_keys;
pub(crate) use expire_versions::expire_versions;
pub(crate) use find_version::{VersionId, find_null_version, find_null_version_id, find_version};
pub(crate) use lifecycle_rules::LifecycleRules;
pub(crate) use list_filter::{HistoryFilter, is_left_to_versions};
pub(crate) use move_version::{VersionMove, move_version};
pub(crate) use null_versions::{discard_null_versions, list_null_versions, list_null_versions_within};
pub(crate) use remove_version::{Removal, remove_version};
pub(crate) use wanted_version::read_wanted_version;
