//! Aggregates: whether they are allowed, and where those inside of spreads are computed.
//!
//! `select=...author(age.sum())` sums over the rows of the parent: the columns of a to-one spread are columns of its
//! parent, so its aggregates are lifted to the nearest ancestor that is not spread itself.

use super::tree::{ChildOutput, ReadNode, Spread, SpreadField};
use crate::catalog::Catalog;
use crate::error::RequestError;

/// Checks that aggregates are used only where `db-aggregates-enabled` allows them.
///
/// # Errors
/// PGRST123.
pub(super) fn check_aggregates_enabled(tree: &ReadNode, enabled: bool) -> Result<(), RequestError> {
    if enabled || !uses_aggregates(tree) {
        Ok(())
    } else {
        Err(RequestError::AggregatesDisabled)
    }
}

/// Whether any node selects an aggregate.
fn uses_aggregates(node: &ReadNode) -> bool {
    node.select.iter().any(|column| column.aggregate.is_some()) || node.children.iter().any(uses_aggregates)
}

/// Aggregates of PostgreSQL that return all rows that they are given. In SQL `t.json_agg` means `json_agg(t)` if the table has no
/// such column, as `t.full_name` may mean a function of the project: `select=json_agg` would return every row of the table in one,
/// whatever `db-max-rows` and `db-aggregates-enabled` say.
const ROW_AGGREGATES: [&str; 5] = [
    "array_agg",
    "json_agg",
    "json_agg_strict",
    "jsonb_agg",
    "jsonb_agg_strict",
];

/// Checks that no node selects an aggregate of its rows in the place of a column. A call's result of which no columns are known may
/// have one of such a name.
///
/// # Errors
/// PGRST123.
pub(super) fn check_row_aggregates(node: &ReadNode, catalog: &Catalog) -> Result<(), RequestError> {
    let is_aggregate = |name: &str| {
        ROW_AGGREGATES.contains(&name)
            && catalog
                .find_relation(&node.table)
                .is_some_and(|relation| !relation.columns.contains_key(name))
    };
    if node.select.iter().any(|column| is_aggregate(&column.column.name)) {
        return Err(RequestError::AggregatesDisabled);
    }
    node.children
        .iter()
        .try_for_each(|child| check_row_aggregates(child, catalog))
}

/// The columns that a spread child gives to its parent.
///
/// Aggregates of a to-one spread are taken out of the child, which then gives the plain values to aggregate.
pub(super) fn spread_fields(child: &mut ReadNode) -> Vec<SpreadField> {
    let lifts = child.spread == Spread::ToOne;
    let mut fields = Vec::new();
    for column in &mut child.select {
        let (aggregate, aggregate_cast) = if lifts {
            (column.aggregate.take(), column.aggregate_cast.take())
        } else {
            (None, None)
        };
        // Only a lifted aggregate still needs its alias: other columns have theirs inside of the child already.
        let alias = aggregate.and(column.alias.clone());
        fields.push(SpreadField {
            name: column.output_name().to_owned(),
            aggregate,
            aggregate_cast,
            alias,
        });
    }
    for output in &mut child.outputs {
        match output {
            ChildOutput::Hidden => {}
            ChildOutput::Object { name } | ChildOutput::Array { name } => fields.push(SpreadField {
                name: name.clone(),
                aggregate: None,
                aggregate_cast: None,
                alias: None,
            }),
            ChildOutput::Spread { fields: inner } => {
                fields.extend(inner.iter_mut().map(|field| lift_spread_field(field, lifts)));
            }
        }
    }
    fields
}

/// The field that the parent of the outer spread gets for a field of an inner spread.
fn lift_spread_field(field: &mut SpreadField, lifts: bool) -> SpreadField {
    let (aggregate, aggregate_cast) = if lifts {
        (field.aggregate.take(), field.aggregate_cast.take())
    } else {
        (None, None)
    };
    SpreadField {
        name: field.alias.clone().unwrap_or_else(|| field.name.clone()),
        alias: aggregate.and(field.alias.clone()),
        aggregate,
        aggregate_cast,
    }
}

/// Checks that no to-many spread aggregates: each of its columns is an array per parent row, with nothing to group by.
///
/// # Errors
/// PGRST127.
pub(super) fn check_spread_aggregates(node: &ReadNode) -> Result<(), RequestError> {
    if node.spread == Spread::ToMany && node.is_aggregated() {
        return Err(RequestError::SpreadAggregate);
    }
    node.children.iter().try_for_each(check_spread_aggregates)
}
