//! Collects what a run of staged changes has done: results, conflicts, undo, and entries for the audit.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use crate::rows::request::{Change, RowId, Texts};

/// The result of all changes, collected before the transaction commits.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) statements: Vec<String>,
    /// The inverse changes in the order in which they must be sent to undo the run.
    pub(super) undo: Vec<Change>,
    /// For each change the row as it is now; null for deletes and for updates of all matching rows.
    pub(super) rows: Vec<Value>,
    pub(super) notes: Vec<String>,
    pub(super) conflicts: Vec<Conflict>,
    /// The entries for the audit: action, target, statement with parameters, and number of rows.
    pub(super) audited: Vec<(&'static str, String, String, i64)>,
}

/// A change that was not applied because its row has changed since it was read.
#[derive(Serialize)]
pub(super) struct Conflict {
    pub(super) change: usize,
    pub(super) base: Texts,
    /// The present values of the row, or `None` when the row was deleted.
    pub(super) theirs: Option<Texts>,
    pub(super) mine: Value,
    /// The row's present identity and version, with which a person who insists can send the change again.
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

    /// Adds a sentence for the user, unless it was added before.
    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Where rows are found that this transaction has changed: their new identity by table and former identity.
#[derive(Default)]
pub(super) struct Moves {
    places: HashMap<(String, Vec<String>), Vec<String>>,
}

impl Moves {
    /// Records that a change of this run has given a row another key or another place.
    pub(super) fn record(&mut self, table: &str, from: &[String], to: &[String]) {
        if from != to {
            self.places.insert((table.to_owned(), from.to_vec()), to.to_vec());
        }
    }

    /// Returns the identity that a row has now, after the earlier changes of this run.
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

/// Returns a row's identity without its version, because the version changes with every write.
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
