//! Documents that other implementations have written or signed.

mod canonical_forms;
mod responses;
