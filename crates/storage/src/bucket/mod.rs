//! Buckets: one file per operation. All run under the caller's role, so the policies on `storage.buckets` decide.

mod bucket_lifecycle;
mod create_bucket;
mod delete_bucket;
mod empty_bucket;
mod file_size_limit;
mod get_bucket;
mod list_buckets;
mod update_bucket;
mod versioning_status;

pub(crate) use bucket_lifecycle::{delete_lifecycle, find_rules, get_lifecycle, set_lifecycle, store_rules};
pub(crate) use create_bucket::create_bucket;
pub(crate) use delete_bucket::{delete_bucket, remove_bucket};
pub(crate) use empty_bucket::empty_bucket;
pub(crate) use get_bucket::get_bucket;
pub(crate) use list_buckets::list_buckets;
pub(crate) use update_bucket::update_bucket;
