//! Lints of a database: what is unsafe, slow or about to fail.
//!
//! In: a connection and the schemas that the API exposes. Out: findings, each with the reason and, where one statement
//! mends it, that statement. The names are those of Supabase's advisors, so that texts about them can be found, and a
//! few of our own. The crate reads the catalog and statistics, and changes nothing.

mod finding;
mod lints;
mod run;

pub use finding::{Finding, FindingObject, Level};
pub use run::run_lints;
