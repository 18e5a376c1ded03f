//! What a lint reports.

use serde::Serialize;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Data is exposed, or something is about to stop working.
    Error,
    /// Probably a mistake.
    Warn,
    /// Worth a look.
    Info,
}

/// One finding.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The lint's name, for example `rls_disabled_in_public`.
    pub name: &'static str,
    pub level: Level,
    pub title: &'static str,
    /// What was found on this object, and what follows from it.
    pub why: String,
    pub object: FindingObject,
    /// One statement that mends it, where there is one that is right without further knowledge.
    pub fix: Option<String>,
    /// The same for the same finding in every run, so that it can be muted.
    pub key: String,
}

/// The object that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingObject {
    pub schema: String,
    pub name: String,
    /// `table`, `view`, `function` …
    pub kind: String,
}
