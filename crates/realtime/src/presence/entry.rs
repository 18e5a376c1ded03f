//! The presence entry of one channel, and its JSON.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::frame::json_string;

/// Names that only the server sets in a meta. A client's values under these names are dropped; they could make others
/// miss a leave.
const RESERVED: [&str; 2] = ["phx_ref", "phx_ref_prev"];

/// What a channel has tracked under a key. Two tabs of one user with the same key are two entries.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Key under which clients list the entry.
    pub(crate) key: Arc<str>,
    /// Unique for each track and update; clients match a leave with its join by it.
    pub(crate) phx_ref: String,
    /// The `phx_ref` before the last update, under which clients know the entry.
    pub(super) previous_ref: Option<String>,
    /// The tracked object.
    pub(crate) payload: Arc<Map<String, Value>>,
    /// The members of the payload as JSON, each behind a comma. Kept, because every member who joins the topic gets all
    /// its entries.
    fields: Arc<str>,
}

impl Entry {
    /// An entry that members do not know yet.
    pub(crate) fn new(key: Arc<str>, phx_ref: String, payload: Map<String, Value>) -> Self {
        Self {
            key,
            phx_ref,
            previous_ref: None,
            fields: render_fields(&payload).into(),
            payload: Arc::new(payload),
        }
    }

    /// Whether the tracked object is equal to this one.
    pub(super) fn has_payload(&self, payload: &Map<String, Value>) -> bool {
        *self.payload == *payload
    }

    /// Writes the entry as a meta: the tracked object with `phx_ref` and, after an update, `phx_ref_prev`.
    fn render(&self, json: &mut String) {
        // References are made by the server of hexadecimal digits and a dot, which need no escapes.
        json.push_str(r#"{"phx_ref":""#);
        json.push_str(&self.phx_ref);
        json.push('"');
        if let Some(previous) = &self.previous_ref {
            json.push_str(r#","phx_ref_prev":""#);
            json.push_str(previous);
            json.push('"');
        }
        json.push_str(&self.fields);
        json.push('}');
    }
}

/// The members of a tracked object without the reserved ones, each behind a comma.
fn render_fields(payload: &Map<String, Value>) -> String {
    let mut fields = String::new();
    let of_client = payload
        .iter()
        .filter(|(name, _)| !RESERVED.contains(&name.as_str()));
    for (name, value) in of_client {
        fields.push(',');
        fields.push_str(&json_string(name));
        fields.push(':');
        fields.push_str(&value.to_string());
    }
    fields
}

/// Writes entries as `{"<key>":{"metas":[…]},…}`, in the order in which they were tracked.
pub(super) fn render_by_key<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let mut by_key: IndexMap<&str, Vec<&Entry>, foldhash::quality::RandomState> = IndexMap::default();
    for entry in entries {
        by_key.entry(&entry.key).or_default().push(entry);
    }
    let mut json = String::from("{");
    for (index, (key, entries)) in by_key.iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        json.push_str(&json_string(key));
        json.push_str(r#":{"metas":["#);
        for (index, entry) in entries.iter().enumerate() {
            if index > 0 {
                json.push(',');
            }
            entry.render(&mut json);
        }
        json.push_str("]}");
    }
    json.push('}');
    json
}
