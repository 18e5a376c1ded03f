//! What a run of changes has done.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use crate::rows::request::{Change, RowId, Texts};

/// The result of all changes, before the commit.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) statements: Vec<String>,
    /// The inverse changes, in the order in which they undo.
    pub(super) undo: Vec<Change>,
    /// The row of each insert and update as it is now.
    pub(super) rows: Vec<Value>,
    pub(super) notes: Vec<String>,
    pub(super) conflicts: Vec<Conflict>,
    /// Action, target, statement with parameters, rows.
    pub(super) audited: Vec<(&'static str, String, String, i64)>,
}

/// A row that is not as it was read.
#[derive(Serialize)]
pub(super) struct Conflict {
    pub(super) change: usize,
    pub(super) base: Texts,
    /// The values now; none when the row is gone.
    pub(super) theirs: Option<Texts>,
    pub(super) mine: Value,
    /// The row's id now, with which the change can be sent again.
    pub(super) id: Option<RowId>,
}

impl Outcome {
    /// Counts a change for the audit. Changes of one kind to one table are one entry.
    pub(super) fn count(&mut self, action: &'static str, target: &str, statement: &str, rows: i64) {
        let known = self
            .audited
            .iter_mut()
            .find(|(known, table, _, _)| *known == action && table == target);
        match known {
            Some((_, _, _, count)) => *count += rows,
            None => self
                .audited
                .push((action, target.to_owned(), statement.to_owned(), rows)),
        }
    }

    /// Adds a note once.
    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Where rows have gone that this transaction has changed: by table and former identity.
#[derive(Default)]
pub(super) struct Moves {
    places: HashMap<(String, Vec<String>), Vec<String>>,
}

impl Moves {
    /// A row has another key or another place now.
    pub(super) fn record(&mut self, table: &str, from: &[String], to: &[String]) {
        if from != to {
            self.places.insert((table.to_owned(), from.to_vec()), to.to_vec());
        }
    }

    /// The row's id now.
    pub(super) fn resolve(&self, table: &str, row: &RowId) -> RowId {
        let mut parts = parts_of(row);
        // A row that gets its former key back closes a circle; every move is followed at most once.
        for _ in 0..=self.places.len() {
            match self.places.get(&(table.to_owned(), parts.clone())) {
                Some(next) => parts = next.clone(),
                None => break,
            }
        }
        with_parts(row, parts)
    }
}

/// What tells the row apart, without its version.
fn parts_of(row: &RowId) -> Vec<String> {
    match row {
        RowId::Key { key, .. } => key.clone(),
        RowId::Place { tableoid, ctid, .. } => vec![tableoid.clone(), ctid.clone()],
        RowId::Values {} => Vec::new(),
    }
}

fn with_parts(row: &RowId, parts: Vec<String>) -> RowId {
    match row {
        RowId::Key { xmin, .. } => RowId::Key {
            key: parts,
            xmin: xmin.clone(),
        },
        RowId::Place { xmin, .. } => match <[String; 2]>::try_from(parts) {
            Ok([tableoid, ctid]) => RowId::Place {
                tableoid,
                ctid,
                xmin: xmin.clone(),
            },
            Err(_) => row.clone(),
        },
        RowId::Values {} => RowId::Values {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &str) -> RowId {
        RowId::Key {
            key: vec![value.to_owned()],
            xmin: "7".to_owned(),
        }
    }

    #[test]
    fn console_054_a_row_is_found_after_its_key_was_edited() {
        let mut moves = Moves::default();
        let part = |text: &str| vec![text.to_owned()];
        moves.record("t", &part("1"), &part("2"));
        moves.record("t", &part("2"), &part("3"));

        assert_eq!(moves.resolve("t", &key("1")), key("3"));
        assert_eq!(moves.resolve("other", &key("1")), key("1"));
        moves.record("t", &part("3"), &part("1"));
        moves.resolve("t", &key("1"));
    }
}
