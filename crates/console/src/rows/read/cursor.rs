//! A position in sorted rows, which the browser half gets as an opaque text and sends back for the next page.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::error::ConsoleError;

/// The longest cursor in bytes; a position with longer values gets none, because the text must fit into an address.
const MAX_CURSOR_BYTES: usize = 64 * 1024;

/// The values of a row in the sort columns, by which the page after the row is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    #[serde(rename = "v")]
    pub(super) values: Vec<Option<String>>,
    /// How many rows with exactly these values have been shown. Always zero where rows can be told apart.
    #[serde(rename = "d", default)]
    pub(super) shown: u32,
}

impl Cursor {
    /// Returns the cursor's text, or `None` when a value is too long for one.
    pub(super) fn encode(&self) -> Option<String> {
        let json = serde_json::to_vec(self).expect("texts and a number are JSON");
        (json.len() <= MAX_CURSOR_BYTES).then(|| BASE64_URL_SAFE_NO_PAD.encode(json))
    }

    /// Reads a cursor's text and checks that it belongs to an order of `keys` columns.
    pub(super) fn decode(text: &str, keys: usize) -> Result<Self, ConsoleError> {
        let wrong = || ConsoleError::invalid("The place in the table does not belong to this order");
        let json = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong())?;
        let cursor: Self = serde_json::from_slice(&json).map_err(|_| wrong())?;
        if cursor.values.len() == keys {
            Ok(cursor)
        } else {
            Err(wrong())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_050_a_place_is_read_back_and_a_foreign_one_is_refused() {
        let cursor = Cursor {
            values: vec![Some("ä\"".into()), None],
            shown: 3,
        };
        let text = cursor.encode().expect("short");

        assert_eq!(Cursor::decode(&text, 2).expect("valid"), cursor);
        for (wrong, keys) in [(text.as_str(), 3), ("e30", 2), ("%", 2), ("", 0)] {
            assert!(Cursor::decode(wrong, keys).is_err(), "{wrong}");
        }
    }
}
