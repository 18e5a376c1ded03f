//! The version of an object's bytes, which links its row and its blob.

use std::fmt;

use uuid::Uuid;

/// Names one immutable blob. Always a UUID, never a caller's text, so it is safe in a file path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(Uuid);

impl Version {
    /// Makes a new random version.
    #[must_use]
    pub fn fresh() -> Self {
        Self(Uuid::new_v4())
    }

    /// Parses the `version` column. Rows written by SQL may contain any text; `None` when it is not a UUID in its canonical
    /// spelling, so that there is no blob. Other spellings are no versions, because two rows would then share one blob
    /// under texts that the database takes for different ones.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let version = Uuid::try_parse(text).ok().map(Self)?;
        (version.to_string() == text).then_some(version)
    }

    /// The version of a UUID column.
    #[must_use]
    pub fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// The version as UUID.
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
