//! Lints of a database: what is unsafe, slow or about to fail.
//!
//! In: a connection and the schemas that the API exposes. Out: findings, each with the reason and, if one statement fixes
//! it, that statement. Most names are those of Supabase's advisors, so that documentation about them can be found. The crate
//! reads the system catalog and statistics, and changes nothing.

mod finding;
mod lints;
mod run;

pub use finding::{Finding, FindingObject, Level};
pub use run::run_lints;
