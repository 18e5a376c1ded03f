//! Values of generated columns, which the stream does not contain.
//!
//! Up to PostgreSQL 17 `pgoutput` leaves generated columns out, and from 18 on it sends stored ones only if the publication says so. They are
//! read by the row's key, as the row is then. What subscribers get of them is decided like every other value: by the rights on the
//! column and, with row-level security, by comparing the value with the row that the subscriber sees.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;

use super::catalog::PublishedTable;
use super::checks::ChecksDatabase;
use super::row_change::RowChange;
use super::subscriptions::Subscriptions;

/// Fills in the values of generated columns in changes of tables that somebody has subscribed to. Values of rows that are gone, and of
/// tables that `service_role` may not read, stay unknown.
pub(crate) async fn read_generated(
    changes: &mut [RowChange],
    subscriptions: &Subscriptions,
    checks: &mut ChecksDatabase,
) {
    let mut by_table: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut are_wanted: HashMap<u32, bool> = HashMap::new();
    let mut transactions = BTreeSet::new();
    for (position, change) in changes.iter().enumerate() {
        if change.unread_columns().is_empty() {
            continue;
        }
        let is_wanted = are_wanted
            .entry(change.table.oid)
            .or_insert_with(|| is_subscribed(&change.table, subscriptions));
        if *is_wanted {
            by_table.entry(change.table.oid).or_default().push(position);
            transactions.insert(change.transaction.xid);
        }
    }
    if by_table.is_empty() {
        return;
    }
    checks.wait_until_visible(transactions).await;
    for positions in by_table.into_values() {
        let Some(columns) = positions
            .first()
            .and_then(|position| changes.get(*position))
            .map(RowChange::unread_columns)
        else {
            continue;
        };
        let rows = checks.generated_values(changes, &positions, &columns).await;
        for position in positions {
            let values = rows.get(&position);
            for (index, column) in columns.iter().enumerate() {
                let value: Option<Option<Bytes>> = values.and_then(|values| values.get(index)).cloned();
                if let Some(change) = changes.get_mut(position) {
                    change.set_unread(*column, value);
                }
            }
        }
    }
}

/// Whether a channel has a binding on the table, also one that a lane delivers to.
fn is_subscribed(table: &PublishedTable, subscriptions: &Subscriptions) -> bool {
    subscriptions.channels().any(|(_, subscription)| {
        let mut bindings = subscription.bindings.iter();
        bindings.any(|(_, binding)| binding.covers(&table.schema, &table.name))
    })
}
