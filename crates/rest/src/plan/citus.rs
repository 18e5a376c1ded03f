//! What a select tree needs where Citus distributes its tables: how embeds are joined, and which requests are refused.

use std::collections::HashSet;

use super::negotiate::Handler;
use super::tree::{ChildOutput, JoinForm, ReadNode, SelectColumn, SortKey, SortTarget, Source};
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

/// Checks that no two columns of a result have one name, because Citus changes the name of the second.
///
/// # Errors
/// 0A000 with the name, if one of the tables is distributed.
pub(super) fn check_names(tree: &ReadNode, catalog: &Catalog) -> Result<(), RestError> {
    let mut is_distributed = false;
    tree.walk(&mut |node| is_distributed |= catalog.distribution(&node.table) != Distribution::Local);
    if !is_distributed {
        return Ok(());
    }
    let mut repeated = None;
    tree.walk(&mut |node| repeated = repeated.take().or_else(|| find_repeated_name(node, catalog)));
    match repeated {
        Some(name) => Err(RestError::Database(DatabaseFault::with_repeated_name(&name))),
        None => Ok(()),
    }
}

/// Checks that the computed columns of a result are not rendered as CSV, whose header names all columns of the result.
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

/// Returns the first name that two columns of a node have.
fn find_repeated_name(node: &ReadNode, catalog: &Catalog) -> Option<String> {
    let mut names = HashSet::new();
    list_names(node, catalog)
        .into_iter()
        .find(|name| !names.insert(name.clone()))
}

/// Lists the names of a node's columns, those of spread embeds included.
fn list_names(node: &ReadNode, catalog: &Catalog) -> Vec<String> {
    let stored = |name: &str| match catalog.find_relation(&node.table) {
        Some(relation) if name == "*" => relation.columns.keys().cloned().collect(),
        _ => vec![name.to_owned()],
    };
    let mut names: Vec<String> = node
        .select
        .iter()
        .flat_map(|column| match &column.alias {
            Some(alias) => vec![alias.clone()],
            None => stored(result_name(column)),
        })
        .collect();
    for (child, output) in node.children.iter().zip(&node.outputs) {
        match output {
            ChildOutput::Hidden => {}
            ChildOutput::Object { name } | ChildOutput::Array { name } => names.push(name.clone()),
            ChildOutput::Spread { fields } => {
                for field in fields {
                    match (&field.alias, field.name.as_str()) {
                        (Some(alias), _) => names.push(alias.clone()),
                        (None, "*") => names.extend(list_names(child, catalog)),
                        (None, name) => names.push(name.to_owned()),
                    }
                }
            }
        }
    }
    names
}

/// The name that PostgreSQL gives to a column without alias.
fn result_name(column: &SelectColumn) -> &str {
    match column.aggregate {
        Some(aggregate) => aggregate.name(),
        None => &column.column.name,
    }
}
