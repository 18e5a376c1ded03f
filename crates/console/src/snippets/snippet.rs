//! A saved query, which names and texts it may have, and what a save expects of the one that it replaces.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::ConsoleError;

/// The characters that a name may have. With four bytes each and the ending they still fit into a file name.
const MAX_NAME_CHARACTERS: usize = 60;
/// The bytes that a text may have; the table of snippets has the same limit.
pub(super) const MAX_TEXT_BYTES: usize = 1_000_000;

/// A saved query; a list leaves the text out.
#[derive(Debug, Serialize)]
pub(super) struct Snippet {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    pub(super) updated_at: DateTime<Utc>,
    /// SHA-256 of the text in hexadecimal, which a save of the text sends back as its `base`; absent in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<String>,
}

/// What has to be saved at the moment for a save or a deletion to be carried out. In JSON it is the member `base`: absent, null or a
/// digest.
#[derive(Debug, Default)]
pub(super) enum Base {
    /// Whatever there is; callers that have asked nobody.
    #[default]
    Anything,
    /// No snippet of this name.
    Nothing,
    /// A text with this digest, the one that was read.
    Digest(String),
}

impl<'de> Deserialize<'de> for Base {
    /// Called only for a member that is there.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let base = Option::<String>::deserialize(deserializer)?;
        Ok(base.map_or(Self::Nothing, Self::Digest))
    }
}

/// The digest that names a text.
pub(super) fn digest_of(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// Refuses names that would leave the folder of snippets, hide a file, or be no file name on another system.
pub(super) fn check_name(name: &str) -> Result<(), ConsoleError> {
    let has_forbidden = name
        .chars()
        .any(|char| char.is_control() || r#"/\:*?"<>|"#.contains(char));
    let is_valid = !has_forbidden
        && !name.is_empty()
        && name.chars().count() <= MAX_NAME_CHARACTERS
        && !name.starts_with('.')
        && name.trim() == name;
    if is_valid {
        return Ok(());
    }
    Err(ConsoleError::invalid(format!(
        "A name has 1 to {MAX_NAME_CHARACTERS} characters, begins with none of dot and blank, and has none of / \\ : * ? \" < > |"
    )))
}

/// Refuses texts that are longer than a person would write.
pub(super) fn check_text(text: &str) -> Result<(), ConsoleError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ConsoleError::invalid("A snippet has at most 1 MB"));
    }
    // PostgreSQL's texts cannot hold this character, and no statement can contain it.
    if text.contains('\0') {
        return Err(ConsoleError::invalid("The text contains a NUL character"));
    }
    Ok(())
}

/// The error for a snippet that is not as the caller has read it.
pub(super) fn overtaken(name: &str) -> ConsoleError {
    ConsoleError::conflict(format!(
        "The snippet {name} was saved by somebody else since it was read"
    ))
}

/// The error for a snippet that is not there.
pub(super) fn not_found(name: &str) -> ConsoleError {
    ConsoleError::not_found(format!("There is no snippet {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_096_names_of_snippets_are_plain_file_names() {
        for name in ["a", "Orders of today", "ä (2)", "select 1; --", "CON"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            ".env",
            "a/b",
            "../config",
            r"a\b",
            "a\0",
            "a\nb",
            " a",
            "a ",
            "c:a",
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        assert!(check_name(&"ä".repeat(61)).is_err());
    }
}
