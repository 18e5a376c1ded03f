//! The presence entry of one channel, and its JSON.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::frame::json_string;
use crate::limits::HeldMemory;

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
    pub(crate) tracked: Tracked,
}

/// An object that a channel tracks.
#[derive(Debug, Clone)]
pub(crate) struct Tracked {
    /// The members of the object as JSON, each behind a comma: every member who joins the topic gets them.
    fields: Arc<str>,
    /// The reservation of the entry's memory; `None` for one of another node.
    memory: Option<Arc<HeldMemory>>,
}

impl Tracked {
    /// Reads a JSON object, without the reserved names; `None` for any other JSON.
    pub(crate) fn parse(json: &str) -> Option<Self> {
        let fields: Fields = serde_json::from_str(json).ok()?;
        Some(Self {
            fields: fields.0.into(),
            memory: None,
        })
    }

    /// Bytes of the object.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// Ties reserved memory to the object and all messages about it.
    pub(crate) fn held_by(self, memory: HeldMemory) -> Self {
        Self {
            memory: Some(Arc::new(memory)),
            ..self
        }
    }

    /// The object as JSON text.
    pub(crate) fn to_json(&self) -> String {
        format!("{{{}}}", self.fields.strip_prefix(',').unwrap_or_default())
    }

    /// The reservation of the object's memory.
    pub(super) fn memory(&self) -> Option<&Arc<HeldMemory>> {
        self.memory.as_ref()
    }
}

/// The members of a JSON object without the reserved ones, each behind a comma.
struct Fields(String);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Fields, A::Error> {
        let mut fields = String::new();
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            let value = members.next_value::<&RawValue>()?;
            if !RESERVED.contains(&&*name) {
                fields.push(',');
                fields.push_str(&json_string(&name));
                fields.push(':');
                fields.push_str(value.get());
            }
        }
        Ok(Fields(fields))
    }
}

impl Entry {
    /// An entry that members do not know yet.
    pub(crate) fn new(key: Arc<str>, phx_ref: String, tracked: Tracked) -> Self {
        Self {
            key,
            phx_ref,
            previous_ref: None,
            tracked,
        }
    }

    /// Whether the tracked object is equal to this one.
    pub(super) fn has_tracked(&self, tracked: &Tracked) -> bool {
        self.tracked.fields == tracked.fields
    }

    /// Bytes of the key and the tracked object.
    pub(crate) fn len(&self) -> usize {
        self.key.len() + self.tracked.len()
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
        json.push_str(&self.tracked.fields);
        json.push('}');
    }
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
