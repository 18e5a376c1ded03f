//! What the groups of a batch get, encoded once for all that get the same and given to the sink in the order of the changes.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;

use super::checks::ChecksDatabase;
use super::row_change::{RenderedChange, RowChange};
use super::subscriptions::{Subscriptions, TableGroups};
use super::{ChangeSink, ChannelKey};

/// The outcome for a group that matches a change.
pub(crate) struct Outcome {
    pub(crate) change: usize,
    pub(crate) group: u64,
    pub(crate) content: Content,
    /// Whether a filter of the group could not be evaluated.
    pub(crate) is_unknown: bool,
}

/// What a group gets of a change.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Content {
    /// The row, with those columns for which the flag is true.
    Row(Vec<bool>),
    /// The same of a row that was changed since, with the values for which the second flag is true.
    ChangedRow(Vec<bool>, Vec<bool>),
    /// Only this error text, without values.
    Refusal(&'static str),
}

/// Positions of selected columns; `None` for all.
type SelectedColumns = Option<Rc<[usize]>>;

/// Encodes the outcomes and gives them to the sink, change by change.
pub(crate) async fn emit(
    outcomes: &[Outcome],
    changes: &[RowChange],
    subscriptions: &Subscriptions,
    checks: &ChecksDatabase,
    sink: &dyn ChangeSink,
) {
    let mut told: Vec<&RowChange> = Vec::new();
    for outcome in outcomes {
        if let (Some(change), Content::Row(_) | Content::ChangedRow(..)) =
            (changes.get(outcome.change), &outcome.content)
        {
            told.push(change);
        }
    }
    let sql_texts = checks.render(&told).await;
    for outcomes in outcomes.chunk_by(|one, next| one.change == next.change) {
        let Some(change) = outcomes.first().and_then(|outcome| changes.get(outcome.change)) else {
            continue;
        };
        if let Some(groups) = subscriptions.of_table(change.table.oid) {
            emit_change(outcomes, &RenderedChange::new(change, &sql_texts), groups, sink);
        }
    }
}

/// Gives the outcomes of one change to the sink.
fn emit_change(
    outcomes: &[Outcome],
    rendered: &RenderedChange<'_>,
    groups: &TableGroups,
    sink: &dyn ChangeSink,
) {
    let mut encoded: HashMap<&Content, Bytes> = HashMap::new();
    // Compat: a channel with several matching bindings gets one message per selection of columns, with all their ids.
    let mut together: HashMap<(ChannelKey, SelectedColumns), (Bytes, Vec<u64>)> = HashMap::new();
    for outcome in outcomes {
        let Some(group) = groups.group(outcome.group) else {
            continue;
        };
        let data = encoded
            .entry(&outcome.content)
            .or_insert_with_key(|content| match content {
                Content::Row(visible) => rendered.data(visible),
                Content::ChangedRow(visible, is_current) => rendered.data_of_changed_row(visible, is_current),
                Content::Refusal(error) => rendered.refusal(error),
            })
            .clone();
        if !group.single.is_empty() {
            let channels: Vec<ChannelKey> = group.single.iter().copied().collect();
            sink.deliver(&channels, &Arc::from([group.key.binding_id]), &data);
        }
        for channel in &group.several {
            let entry = together
                .entry((*channel, group.key.select.clone()))
                .or_insert_with(|| (data.clone(), Vec::new()));
            entry.1.push(group.key.binding_id);
        }
    }
    for ((channel, _), (data, ids)) in together {
        sink.deliver(&[channel], &ids.into(), &data);
    }
}
