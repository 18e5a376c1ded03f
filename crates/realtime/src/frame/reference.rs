//! `ref` and `join_ref` of a frame.

/// A `ref` or `join_ref` as JSON text. It is echoed exactly as received, because clients may send strings or numbers
/// and compare the echo with what they sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reference {
    /// `None` is JSON null.
    json: Option<Box<str>>,
}

impl Reference {
    /// No reference: JSON null.
    pub(crate) const NULL: Self = Self { json: None };

    /// A reference from its JSON text.
    pub(crate) fn from_json(json: &str) -> Self {
        Self {
            json: (json != "null").then(|| json.into()),
        }
    }

    /// A reference from a binary frame, where it is plain text without quotes.
    pub(crate) fn from_text(text: &str) -> Self {
        Self {
            json: Some(serde_json::Value::from(text).to_string().into()),
        }
    }

    /// The reference as JSON text.
    pub(crate) fn as_json(&self) -> &str {
        self.json.as_deref().unwrap_or("null")
    }
}
