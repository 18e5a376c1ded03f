//! Columns of a result that have the same name. Citus renames the second one, so the statement may contain only one of them.

use std::collections::HashSet;

use super::negotiate::Handler;
use super::tree::{ChildOutput, ColumnRef, ReadNode, SelectColumn, Spread, SpreadField};
use crate::catalog::{Catalog, Distribution};
use crate::error::{DatabaseFault, RestError};
use crate::identifier::QualifiedName;

/// Makes the names of each node's columns unique in a database with Citus. Readers of JSON use the last of several columns with one
/// name, so the others are left out.
///
/// # Errors
/// 0A000 with the name, if one of the relations may be distributed, and the response is not JSON, or rows are grouped by such a column.
pub(super) fn make_names_unique(
    tree: &mut ReadNode,
    handler: &Handler,
    catalog: &Catalog,
) -> Result<(), RestError> {
    if !catalog.has_citus() {
        return Ok(());
    }
    let mut is_distributed = false;
    tree.walk(&mut |node| is_distributed |= may_be_distributed(node, catalog));
    if !is_distributed {
        return Ok(());
    }
    if matches!(
        handler,
        Handler::Nothing | Handler::Json { stripped: false } | Handler::JsonObject { stripped: false }
    ) {
        drop_repeated_columns(tree, catalog);
    }
    let mut repeated = None;
    tree.walk(&mut |node| repeated = repeated.take().or_else(|| find_repeated_name(node, catalog)));
    match repeated {
        Some(name) => Err(RestError::Database(DatabaseFault::with_repeated_name(&name))),
        None => Ok(()),
    }
}

/// Whether Citus plans queries of the node's rows. The catalog does not say which tables a view reads, so views count
/// as distributed.
fn may_be_distributed(node: &ReadNode, catalog: &Catalog) -> bool {
    let relation = catalog.find_relation(&node.table);
    relation.is_some_and(|relation| relation.is_view || relation.distribution != Distribution::Local)
}

/// Removes columns whose name a later column of the same node has.
fn drop_repeated_columns(node: &mut ReadNode, catalog: &Catalog) {
    for child in &mut node.children {
        drop_repeated_columns(child, catalog);
    }
    // The parent of a spread embed lists its columns by name, so they are removed there.
    if node.spread != Spread::No || find_repeated_name(node, catalog).is_none() {
        return;
    }
    let mut names = HashSet::new();
    let mut is_new = |name: &str| names.insert(name.to_owned());
    if node.shows_aggregates() {
        // The other columns stay, because rows are grouped by them.
        retain_last(&mut node.select, |column| {
            !column.is_total() || is_new(column.output_name())
        });
        return;
    }
    for (child, output) in node.children.iter().zip(&mut node.outputs).rev() {
        let is_shown = match output {
            ChildOutput::Hidden => false,
            ChildOutput::Object { name } | ChildOutput::Array { name } => is_new(name),
            ChildOutput::Spread { fields } => {
                let given = std::mem::take(fields).into_iter();
                *fields = given
                    .flat_map(|field| expand_field(field, child, catalog))
                    .collect();
                retain_last(fields, |field| {
                    is_new(field.alias.as_ref().unwrap_or(&field.name))
                });
                true
            }
        };
        if !is_shown {
            *output = ChildOutput::Hidden;
        }
    }
    let given = std::mem::take(&mut node.select).into_iter();
    node.select = given
        .flat_map(|column| expand_column(column, &node.table, catalog))
        .collect();
    retain_last(&mut node.select, |column| is_new(column.output_name()));
}

/// Keeps the items that `keep` accepts, in their order. `keep` is called for the last item first.
fn retain_last<T>(items: &mut Vec<T>, keep: impl FnMut(&T) -> bool) {
    items.reverse();
    items.retain(keep);
    items.reverse();
}

/// Returns the columns that `*` stands for; another column as it is.
fn expand_column(column: SelectColumn, table: &QualifiedName, catalog: &Catalog) -> Vec<SelectColumn> {
    match catalog.find_relation(table) {
        Some(relation) if column.output_name() == "*" => {
            let names = relation.columns.keys();
            names
                .map(|name| SelectColumn {
                    column: ColumnRef {
                        name: name.clone(),
                        ..ColumnRef::default()
                    },
                    ..column.clone()
                })
                .collect()
        }
        _ => vec![column],
    }
}

/// Returns the columns of a spread embed that `*` stands for; another column as it is.
fn expand_field(field: SpreadField, child: &ReadNode, catalog: &Catalog) -> Vec<SpreadField> {
    if field.alias.is_some() || field.name != "*" {
        return vec![field];
    }
    let names = list_names(child, catalog).into_iter();
    names
        .map(|name| SpreadField {
            name,
            ..field.clone()
        })
        .collect()
}

/// Returns the first name that more than one column of a node has.
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
        .flat_map(|column| stored(column.output_name()))
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
