//! The version of an object's bytes: what a row and a blob have in common.

use std::fmt;

use uuid::Uuid;

/// Names one immutable blob. Made by us, never from a caller's text, so it is safe in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(Uuid);

impl Version {
    /// A version nobody has used before.
    #[must_use]
    pub fn fresh() -> Self {
        Self(Uuid::new_v4())
    }

    /// Reads the `version` column. Rows written by SQL may hold anything; what is not a UUID has no blob.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Uuid::try_parse(text).ok().map(Self)
    }

    /// The version that a UUID of ours names.
    #[must_use]
    pub fn of(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// The UUID.
    #[must_use]
    pub fn uuid(self) -> Uuid {
        self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}
