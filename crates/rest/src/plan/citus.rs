//! What a select tree needs where Citus distributes its tables: how embeds are joined, and which requests are refused.

use super::negotiate::Handler;
use super::tree::{JoinForm, ReadNode, SortKey, SortTarget, Source};
use crate::catalog::{Cardinality, Catalog, Distribution};
use crate::error::{DatabaseFault, RestError};

/// Chooses the form of each embed's join. Returns whether the node's table, or that of an embed in it, is sharded.
pub(super) fn choose_join_forms(node: &mut ReadNode, catalog: &Catalog) -> bool {
    let is_sharded = catalog.distribution(&node.table) == Distribution::Sharded;
    let form = match node.source {
        Source::Relation if is_sharded => JoinForm::Lateral,
        Source::Relation => JoinForm::Grouped,
        Source::Result => JoinForm::GroupedForResult,
    };
    let mut has_shards = is_sharded;
    for (index, child) in node.children.iter_mut().enumerate() {
        let mut child_has_shards = choose_join_forms(child, catalog);
        // A sort key needs the embed's columns, which a JSON value hides.
        let sorts_parent =
            |key: &SortKey| matches!(&key.target, SortTarget::Related { child, .. } if *child == index);
        let is_sort_key = node.order.iter().any(sorts_parent);
        if let Some(join) = &mut child.join {
            // A function is called for each row, so its rows cannot be read for all parents.
            let is_computed = match &join.relationship.cardinality {
                Cardinality::Computed { .. } => true,
                Cardinality::ManyToMany(junction) => {
                    child_has_shards |= catalog.distribution(&junction.table) == Distribution::Sharded;
                    false
                }
                _ => false,
            };
            if child_has_shards && !is_computed && !is_sort_key {
                join.form = form;
            }
        }
        has_shards |= child_has_shards;
    }
    has_shards
}

/// Checks that the computed columns of written rows are not rendered as CSV, whose header names all columns of the written rows.
///
/// # Errors
/// 0A000.
pub(super) fn check_csv(handler: &Handler, tree: &ReadNode) -> Result<(), RestError> {
    let mut computed = tree
        .select
        .iter()
        .filter_map(|column| column.column.computed.as_ref());
    match (handler, computed.next()) {
        (Handler::Csv, Some(column)) => {
            let name = &column.function.name;
            Err(RestError::Database(DatabaseFault::with_computed_csv(name)))
        }
        _ => Ok(()),
    }
}
