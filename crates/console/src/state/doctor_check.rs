//! The results of `selvedge doctor`, which the server passes to the console.

use serde::Serialize;

/// The result of one of the checks of `selvedge doctor`.
#[derive(Debug, Clone, Serialize)]
pub struct DoctorCheck {
    /// The name of the check, such as `disk`.
    pub name: &'static str,
    /// `ok`, `warning` or `error`
    pub status: &'static str,
    /// A sentence with the result.
    pub message: String,
    /// A sentence that says how to solve the problem.
    pub remedy: Option<String>,
}
