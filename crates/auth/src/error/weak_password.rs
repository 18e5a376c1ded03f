//! Why a password is too weak, as the client reads it from `error.reasons`.

use serde::Serialize;

/// A rule that a password breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WeakReason {
    /// Shorter than the project's minimum.
    Length,
    /// A required kind of character is missing.
    Characters,
    /// On the public list of leaked passwords.
    Pwned,
}

/// A password that does not meet the project's rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct WeakPassword {
    pub(crate) message: String,
    pub(crate) reasons: Vec<WeakReason>,
}
