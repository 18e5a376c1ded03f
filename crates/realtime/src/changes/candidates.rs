//! The groups that may get the changes of a batch, before rights and row-level security are asked.

use std::collections::HashMap;

use super::binding::ChangeKind;
use super::evaluation::Condition;
use super::matcher::Verdict;
use super::row_change::{Cell, RowChange};
use super::subscriptions::{FilterValue, Group, GroupKey, Subscriptions};

/// A group that may get a change, with the filters that PostgreSQL still has to evaluate.
pub(super) struct Candidate {
    pub(super) change: usize,
    pub(super) group: u64,
    /// Filters that have no answer yet.
    pub(super) conditions: Vec<Condition>,
    /// Whether a filter can be neither fulfilled nor not: it could not be evaluated, or the stream does not contain the value.
    pub(super) is_unknown: bool,
}

/// The groups whose event and filters match, as far as this can be decided without PostgreSQL.
pub(super) fn match_groups(changes: &[RowChange], subscriptions: &Subscriptions) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (position, change) in changes.iter().enumerate() {
        let Some(groups) = subscriptions.of_table(change.table.oid) else {
            continue;
        };
        let value_of = |column: usize| match change.filter_cell(column) {
            Cell::Text(text) => FilterValue::Text(text.as_ref()),
            // Compat: of a deleted row the stream has the replica identity only; a filter on another column is not fulfilled.
            Cell::Absent if change.kind == ChangeKind::Delete => FilterValue::Null,
            Cell::Null => FilterValue::Null,
            Cell::Absent | Cell::Unknown => FilterValue::Unknown,
        };
        for (id, group) in groups.candidates(value_of) {
            if !group.key.events.includes(change.kind) {
                continue;
            }
            if let Some((conditions, is_unknown)) = open_conditions(&group.key, change) {
                candidates.push(Candidate {
                    change: position,
                    group: id,
                    conditions,
                    is_unknown,
                });
            }
        }
    }
    candidates
}

/// The filters that PostgreSQL has to evaluate, and whether there is one that nobody can. `None` when a filter has already
/// failed.
fn open_conditions(group: &GroupKey, change: &RowChange) -> Option<(Vec<Condition>, bool)> {
    let mut conditions = Vec::new();
    let mut is_unknown = false;
    for matcher in group.matchers.iter() {
        let value = match change.filter_cell(matcher.column) {
            Cell::Absent if change.kind == ChangeKind::Delete => return None,
            // A large value (TOAST) that the update has left alone, or a generated one of a row that is gone.
            Cell::Absent | Cell::Unknown => {
                is_unknown = true;
                continue;
            }
            Cell::Null => None,
            Cell::Text(text) => Some(text),
        };
        match matcher.test(value.map(AsRef::as_ref)) {
            Verdict::Holds => {}
            Verdict::Fails => return None,
            Verdict::AskDatabase => conditions.push(Condition {
                type_oid: change.table.columns.get(matcher.column)?.type_oid,
                filter: matcher.filter.clone(),
                actual: value.cloned(),
            }),
        }
    }
    Some((conditions, is_unknown))
}

pub(super) fn group_of<'s>(
    candidate: &Candidate,
    changes: &[RowChange],
    subscriptions: &'s Subscriptions,
) -> Option<&'s Group> {
    let change = changes.get(candidate.change)?;
    subscriptions.of_table(change.table.oid)?.group(candidate.group)
}

/// Takes the answers that conditions got: drops candidates with a filter that is not fulfilled, and marks those with one that cannot be
/// evaluated. Conditions without an answer stay open.
pub(super) fn take_answers(candidates: &mut Vec<Candidate>, answers: &HashMap<Condition, Option<bool>>) {
    candidates.retain_mut(|candidate| {
        let mut is_fulfilled = true;
        candidate
            .conditions
            .retain(|condition| match answers.get(condition) {
                Some(Some(answer)) => {
                    is_fulfilled &= *answer;
                    false
                }
                Some(None) => {
                    candidate.is_unknown = true;
                    false
                }
                None => true,
            });
        is_fulfilled
    });
}
