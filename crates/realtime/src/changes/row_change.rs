//! One change of one row: its values from the stream, and its JSON for subscribers.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;
use std::rc::Rc;

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat};
use selvedge_postgres::replication::{Relation, ReplicaIdentity, Tuple, TupleValue};
use selvedge_postgres::write_json_string;

use super::binding::ChangeKind;
use super::catalog::{PublishedTable, Rendering};

/// Longest JSON of a row in bytes (1 MiB). Events of longer rows carry only their small columns and `Error 413`.
pub(crate) const MAX_RECORD_BYTES: usize = 1_048_576;

/// Longest value, in bytes of JSON, that is still sent when the row is too long.
const SMALL_VALUE_BYTES: usize = 64;

/// Microseconds from 1970-01-01 to 2000-01-01, the epoch of PostgreSQL's timestamps.
const POSTGRES_EPOCH_US: i64 = 946_684_800_000_000;

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    /// The stream does not contain the value: an unchanged TOAST value, or a column outside of the replica identity.
    Absent,
    /// The value of a generated column of a row that is gone.
    Unknown,
    Null,
    /// The value in PostgreSQL's text form.
    Text(Bytes),
}

/// The transaction of a change.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Transaction {
    /// Its id, without the epoch.
    pub(crate) xid: u32,
    /// Microseconds since 2000-01-01 UTC.
    pub(crate) committed_at_us: i64,
}

/// A committed change.
#[derive(Debug)]
pub(crate) struct RowChange {
    pub(crate) kind: ChangeKind,
    pub(crate) table: Rc<PublishedTable>,
    pub(crate) transaction: Transaction,
    /// The row after the change, by the table's columns; empty for a delete.
    new: Vec<Cell>,
    /// The row before, as far as it is known; empty for an insert.
    old: Vec<Cell>,
}

/// Maps the columns of a relation in the stream to those of its table in the catalog. While DDL runs, the two may have
/// different columns.
#[derive(Debug)]
pub(crate) struct RelationMap {
    pub(crate) table: Rc<PublishedTable>,
    relation: Relation,
    /// For each column of the relation its number in the table, which does not change when the column is renamed. The stream
    /// has only names; `None` for a name that is not in the catalog.
    numbers: Vec<Option<i16>>,
    /// For each column of the relation its position in the table. `None` for a column that is unknown or was dropped;
    /// its values are not sent, because no right to select them is known.
    places: Vec<Option<usize>>,
}

impl RelationMap {
    /// Creates the description. `before` is the previous one of the same relation, by which a name is resolved that the
    /// catalog, read after a renaming, no longer has.
    pub(crate) fn new(relation: Relation, table: Rc<PublishedTable>, before: Option<&Self>) -> Self {
        let number_of = |name: &str| {
            let known = table.columns.iter().find(|column| column.name == name);
            match (known, before) {
                (Some(column), _) => Some(column.number),
                (None, Some(before)) => before.number_of(name),
                (None, None) => None,
            }
        };
        let columns = relation.columns.iter();
        let mut map = Self {
            numbers: columns.map(|column| number_of(&column.name)).collect(),
            places: Vec::new(),
            table: Rc::clone(&table),
            relation,
        };
        map.replace_table(table);
        map
    }

    fn number_of(&self, name: &str) -> Option<i16> {
        let mut columns = self.relation.columns.iter().zip(&self.numbers);
        columns
            .find(|(column, _)| column.name == name)
            .and_then(|(_, number)| *number)
    }

    /// Switches to another snapshot of the table. Changes that were made before DDL may still be on their way, so the
    /// relation stays as the stream has described it.
    pub(crate) fn replace_table(&mut self, table: Rc<PublishedTable>) {
        let place_of = |number: i16| table.columns.iter().position(|column| column.number == number);
        self.places = self
            .numbers
            .iter()
            .map(|number| number.and_then(place_of))
            .collect();
        self.table = table;
    }

    /// The relation as the stream has described it.
    pub(crate) fn into_relation(self) -> Relation {
        self.relation
    }

    /// The values of a tuple in the order of the table's columns; with `identity_only`, those of the replica identity.
    fn cells(&self, tuple: &Tuple, identity_only: bool) -> Vec<Cell> {
        let mut cells = vec![Cell::Absent; self.table.columns.len()];
        let columns = self.relation.columns.iter().zip(&self.places);
        for ((column, place), value) in columns.zip(&tuple.values) {
            if identity_only && !column.is_identity {
                continue;
            }
            let Some(cell) = place.and_then(|place| cells.get_mut(place)) else {
                continue;
            };
            *cell = match value {
                TupleValue::Null => Cell::Null,
                TupleValue::Unchanged => Cell::Absent,
                TupleValue::Text(text) => Cell::Text(text.clone()),
            };
        }
        cells
    }
}

impl RowChange {
    /// An insert, from the row that the stream sent.
    pub(crate) fn insert(relation: &RelationMap, new: &Tuple, transaction: Transaction) -> Self {
        Self {
            kind: ChangeKind::Insert,
            table: Rc::clone(&relation.table),
            transaction,
            new: relation.cells(new, false),
            old: Vec::new(),
        }
    }

    /// An update, from the new row and, if the stream sent one, the old row.
    pub(crate) fn update(
        relation: &RelationMap,
        old: Option<&Tuple>,
        new: &Tuple,
        transaction: Transaction,
    ) -> Self {
        let old = match old {
            Some(old) => relation.cells(old, old.is_key_only),
            // PostgreSQL sends no old row when the replica identity did not change: the new row has the same values there.
            None => relation.cells(new, true),
        };
        let mut new = relation.cells(new, false);
        if relation.relation.replica_identity == ReplicaIdentity::Full {
            // The stream omits an unchanged TOAST value in the new row; with this identity the old row has it.
            for (cell, before) in new.iter_mut().zip(&old) {
                if *cell == Cell::Absent {
                    *cell = before.clone();
                }
            }
        }
        Self {
            kind: ChangeKind::Update,
            table: Rc::clone(&relation.table),
            transaction,
            new,
            old,
        }
    }

    /// A delete, from the old row that the stream sent: the replica identity, or the whole row with identity FULL.
    pub(crate) fn delete(relation: &RelationMap, old: &Tuple, transaction: Transaction) -> Self {
        Self {
            kind: ChangeKind::Delete,
            table: Rc::clone(&relation.table),
            transaction,
            new: Vec::new(),
            old: relation.cells(old, old.is_key_only),
        }
    }

    /// The value that filters test: in the new row or, for a delete, in the old one.
    pub(crate) fn filter_cell(&self, column: usize) -> &Cell {
        let row = if self.kind == ChangeKind::Delete {
            &self.old
        } else {
            &self.new
        };
        row.get(column).unwrap_or(&Cell::Absent)
    }

    /// The generated columns whose values the stream did not contain; none for a delete, whose row is gone.
    pub(crate) fn unread_columns(&self) -> Vec<usize> {
        let columns = self.table.columns.iter().zip(&self.new).enumerate();
        columns
            .filter(|(_, (column, cell))| column.is_generated && **cell == Cell::Absent)
            .map(|(position, _)| position)
            .collect()
    }

    /// Sets the value of a generated column, which was read after the change: a text, null, or nothing when the row is gone.
    pub(crate) fn set_unread(&mut self, column: usize, value: Option<Option<Bytes>>) {
        if let Some(cell) = self.new.get_mut(column) {
            *cell = match value {
                Some(Some(text)) => Cell::Text(text),
                Some(None) => Cell::Null,
                None => Cell::Unknown,
            };
        }
    }

    /// The texts of the primary key. `None` when the table has no primary key or the stream lacks a part of it.
    pub(crate) fn key(&self) -> Option<Vec<Bytes>> {
        let mut key = Vec::new();
        for column in self.table.key_columns() {
            match self.filter_cell(column) {
                Cell::Text(text) => key.push(text.clone()),
                Cell::Null | Cell::Absent | Cell::Unknown => return None,
            }
        }
        (!key.is_empty()).then_some(key)
    }

    /// The values whose JSON only PostgreSQL can write, each with its type as SQL writes it.
    pub(crate) fn sql_rendered(&self) -> impl Iterator<Item = (SqlValue, &str)> {
        self.table
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.rendering == Rendering::Sql)
            .flat_map(move |(index, column)| {
                [&self.new, &self.old]
                    .into_iter()
                    .filter_map(move |row| match row.get(index) {
                        Some(Cell::Text(text)) if text.len() <= MAX_RECORD_BYTES => Some((
                            SqlValue {
                                type_oid: column.type_oid,
                                text: text.clone(),
                            },
                            column.sql_type.as_str(),
                        )),
                        _ => None,
                    })
            })
    }

    /// Bytes of the row's values, before and after the change.
    pub(crate) fn value_bytes(&self) -> usize {
        let cells = self.new.iter().chain(&self.old);
        cells
            .map(|cell| match cell {
                Cell::Text(text) => text.len(),
                Cell::Null | Cell::Absent | Cell::Unknown => 0,
            })
            .sum()
    }

    /// The commit time in UTC with milliseconds, such as `2026-01-31T12:00:00.000Z`.
    fn commit_timestamp(&self) -> String {
        DateTime::from_timestamp_micros(self.transaction.committed_at_us.saturating_add(POSTGRES_EPOCH_US))
            .unwrap_or_default()
            .to_rfc3339_opts(SecondsFormat::Millis, true)
    }
}

/// A value whose JSON PostgreSQL has to write.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SqlValue {
    pub(crate) type_oid: u32,
    pub(crate) text: Bytes,
}

/// JSON texts that PostgreSQL wrote for a batch of changes.
pub(crate) type SqlTexts = HashMap<SqlValue, String>;

/// The JSON of a change's values. Written once; each selection of columns copies its parts from there.
pub(crate) struct RenderedChange<'a> {
    change: &'a RowChange,
    json: Vec<u8>,
    /// Whether the whole row is longer than [`MAX_RECORD_BYTES`]; the same for every subscriber.
    is_large: bool,
    /// Where each value is in `json`; `None` for a value that is not sent.
    new: Vec<Option<Range<usize>>>,
    old: Vec<Option<Range<usize>>>,
    commit_timestamp: String,
}

impl<'a> RenderedChange<'a> {
    pub(crate) fn new(change: &'a RowChange, sql_texts: &SqlTexts) -> Self {
        let mut json = Vec::new();
        let mut has_large_value = false;
        let mut write_row = |row: &[Cell]| -> Vec<Option<Range<usize>>> {
            row.iter()
                .zip(&change.table.columns)
                .map(|(cell, column)| {
                    let start = json.len();
                    match cell {
                        Cell::Absent => return None,
                        Cell::Null | Cell::Unknown => json.extend_from_slice(b"null"),
                        // Only small values of such a row are sent, so hundreds of megabytes need not be converted.
                        Cell::Text(text) if text.len() > MAX_RECORD_BYTES => {
                            has_large_value = true;
                            return None;
                        }
                        Cell::Text(text) => {
                            write_value(&mut json, &column.rendering, column.type_oid, text, sql_texts)
                        }
                    }
                    Some(start..json.len())
                })
                .collect()
        };
        let new = write_row(&change.new);
        let mut old = write_row(&change.old);
        if change.kind == ChangeKind::Delete && change.table.has_row_security {
            // Security: policies cannot be evaluated for a row that no longer exists, so subscribers get only its key.
            for (value, column) in old.iter_mut().zip(&change.table.columns) {
                if !column.is_key {
                    *value = None;
                }
            }
        }
        Self {
            change,
            is_large: has_large_value || json.len() > MAX_RECORD_BYTES,
            json,
            new,
            old,
            commit_timestamp: change.commit_timestamp(),
        }
    }

    /// The event's `data` with the columns for which `visible` is true.
    pub(crate) fn data(&self, visible: &[bool]) -> Bytes {
        self.data_of(visible, visible, visible, false)
    }

    /// The event's `data` when the row was changed again and row-level security decides: of the columns for which `visible` is
    /// true only the values for which `is_current` is, and of the row before only its key. Whether the identity could see the
    /// others when the row had them is not known.
    pub(crate) fn data_of_changed_row(&self, visible: &[bool], is_current: &[bool]) -> Bytes {
        let new: Vec<bool> = visible
            .iter()
            .zip(is_current)
            .map(|(visible, is_current)| *visible && *is_current)
            .collect();
        let columns = &self.change.table.columns;
        let old: Vec<bool> = visible
            .iter()
            .zip(columns)
            .map(|(visible, column)| *visible && column.is_key)
            .collect();
        self.data_of(visible, &new, &old, true)
    }

    fn data_of(&self, visible: &[bool], new: &[bool], old: &[bool], is_changed: bool) -> Bytes {
        let mut out = self.start(Some(&self.commit_timestamp));
        out.extend_from_slice(b",\"columns\":[");
        let mut separator = "";
        for (column, _) in self
            .change
            .table
            .columns
            .iter()
            .zip(visible)
            .filter(|(_, visible)| **visible)
        {
            out.extend_from_slice(separator.as_bytes());
            out.extend_from_slice(b"{\"name\":");
            write_json_string(&mut out, &column.name);
            out.extend_from_slice(b",\"type\":");
            write_json_string(&mut out, &column.type_name);
            out.push(b'}');
            separator = ",";
        }
        out.push(b']');
        if self.change.kind != ChangeKind::Delete {
            self.write_record(&mut out, "record", &self.new, new);
        }
        if self.change.kind != ChangeKind::Insert {
            self.write_record(&mut out, "old_record", &self.old, old);
        }
        let errors = match (self.is_large, is_changed) {
            (false, false) => "null",
            (true, false) => r#"["Error 413: Payload Too Large"]"#,
            (false, true) => r#"["Error 409: Conflict, the row has changed since"]"#,
            (true, true) => {
                r#"["Error 413: Payload Too Large","Error 409: Conflict, the row has changed since"]"#
            }
        };
        write!(out, ",\"errors\":{errors}}}").expect("writing to memory cannot fail");
        out.into()
    }

    /// The event's `data` for subscribers who may not see the row: no values, and `error` as the reason.
    pub(crate) fn refusal(&self, error: &str) -> Bytes {
        let mut out = self.start(None);
        out.extend_from_slice(b",\"columns\":[]");
        if self.change.kind != ChangeKind::Delete {
            out.extend_from_slice(b",\"record\":{}");
        }
        if self.change.kind != ChangeKind::Insert {
            out.extend_from_slice(b",\"old_record\":{}");
        }
        write!(out, ",\"errors\":[\"{error}\"]}}").expect("writing to memory cannot fail");
        out.into()
    }

    /// The beginning of an event's `data`, which all events share.
    fn start(&self, commit_timestamp: Option<&str>) -> Vec<u8> {
        let table = &self.change.table;
        let values = if self.is_large { 0 } else { self.json.len() };
        let mut out = Vec::with_capacity(values + 64 * table.columns.len() + 128);
        out.extend_from_slice(b"{\"schema\":");
        write_json_string(&mut out, &table.schema);
        out.extend_from_slice(b",\"table\":");
        write_json_string(&mut out, &table.name);
        write!(
            out,
            ",\"type\":\"{}\",\"commit_timestamp\":",
            self.change.kind.name()
        )
        .expect("writing to memory cannot fail");
        match commit_timestamp {
            Some(timestamp) => write_json_string(&mut out, timestamp),
            None => out.extend_from_slice(b"null"),
        }
        out
    }

    /// Appends `"<name>":{…}` with the visible values; of a row over the limit only the small ones.
    fn write_record(&self, out: &mut Vec<u8>, name: &str, values: &[Option<Range<usize>>], visible: &[bool]) {
        write!(out, ",\"{name}\":{{").expect("writing to memory cannot fail");
        let mut separator = "";
        for ((value, column), visible) in values.iter().zip(&self.change.table.columns).zip(visible) {
            let Some(range) = value.clone().filter(|_| *visible) else {
                continue;
            };
            if self.is_large && range.len() > SMALL_VALUE_BYTES {
                continue;
            }
            out.extend_from_slice(separator.as_bytes());
            write_json_string(out, &column.name);
            out.push(b':');
            out.extend_from_slice(self.json.get(range).unwrap_or_default());
            separator = ",";
        }
        out.push(b'}');
    }
}

/// Appends a value as JSON, in the form that `to_jsonb` would give it.
fn write_value(out: &mut Vec<u8>, rendering: &Rendering, type_oid: u32, text: &Bytes, sql_texts: &SqlTexts) {
    match rendering {
        Rendering::Json(json) => json.write(out, text),
        Rendering::Number(_) if matches!(text.as_ref(), b"NaN" | b"Infinity" | b"-Infinity") => {
            out.extend_from_slice(b"null");
        }
        Rendering::Number(json) => json.write(out, text),
        Rendering::Bytea => {
            let digits = text.strip_prefix(b"\\x").unwrap_or(text);
            write_json_string(out, &String::from_utf8_lossy(digits));
        }
        Rendering::Sql => {
            let value = SqlValue {
                type_oid,
                text: text.clone(),
            };
            match sql_texts.get(&value) {
                Some(json) => out.extend_from_slice(json.as_bytes()),
                // The conversion failed: send the value's text form rather than lose the event.
                None => write_json_string(out, &String::from_utf8_lossy(text)),
            }
        }
    }
}
