//! A row of `realtime.messages` that the replication stream reports as inserted: a broadcast from the database.

use bytes::Bytes;
use chrono::NaiveDateTime;
use selvedge_postgres::replication::{Relation, Tuple, TupleValue};

/// The form in which the stream sends timestamps.
const TIMESTAMP_FORMAT: &str = "%Y-%m-%d %H:%M:%S%.f";

/// An inserted row of `realtime.messages`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BroadcastRow {
    pub id: String,
    /// The topic's name without the prefix `realtime:`.
    pub topic: String,
    pub event: Option<String>,
    pub extension: String,
    pub is_private: bool,
    /// Payload of the broadcast as JSON text.
    pub payload: Option<Bytes>,
    pub binary_payload: Option<Bytes>,
    /// The start of the transaction that inserted the row, in UTC, unless the row contains another time.
    pub inserted_at: NaiveDateTime,
}

/// Reads an inserted row of `realtime.messages`. `None` when a required column is missing or the bytes are malformed.
pub(super) fn parse_broadcast_row(relation: &Relation, tuple: &Tuple) -> Option<BroadcastRow> {
    let value = |name: &str| {
        let position = relation.columns.iter().position(|column| column.name == name)?;
        match tuple.values.get(position)? {
            TupleValue::Text(text) => Some(text.clone()),
            TupleValue::Null | TupleValue::Unchanged => None,
        }
    };
    let text = |name: &str| value(name).map(|text| String::from_utf8_lossy(&text).into_owned());
    let binary_payload = match value("binary_payload") {
        None => None,
        Some(digits) => Some(hex::decode(digits.strip_prefix(b"\\x")?).ok()?.into()),
    };
    Some(BroadcastRow {
        id: text("id")?,
        topic: text("topic")?,
        event: text("event"),
        extension: text("extension")?,
        is_private: text("private").as_deref() == Some("t"),
        payload: value("payload"),
        binary_payload,
        inserted_at: NaiveDateTime::parse_from_str(&text("inserted_at")?, TIMESTAMP_FORMAT).ok()?,
    })
}
