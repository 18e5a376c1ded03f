//! A finding, which is what a lint reports about one object.

use serde::Serialize;

/// How urgent a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Strangers can read or change data, or something is about to stop working.
    Error,
    /// The finding is probably a mistake.
    Warn,
    /// The finding is worth a look, but often right as it is.
    Info,
}

/// A fault that a lint has found on one object.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The lint's name, for example `rls_disabled_in_public`.
    pub name: &'static str,
    pub level: Level,
    pub title: &'static str,
    /// Sentences that say what was found on this object and what follows from it.
    pub why: String,
    pub object: FindingObject,
    /// The statement that mends the fault, where one is right without further knowledge.
    pub fix: Option<String>,
    /// A key that is the same in every run, so that the finding can be muted.
    pub key: String,
}

/// The object that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingObject {
    pub schema: String,
    pub name: String,
    /// The kind of the object, such as `table`, `view` or `function`.
    pub kind: String,
}
