//! The passes that make a select tree, in their order.

use super::aggregate::{check_aggregates_enabled, check_row_aggregates, check_spread_aggregates};
use super::citus::choose_join_forms;
use super::draft::{Draft, TreeParameters};
use super::outputs::decide_outputs;
use super::resolve_tree::resolve_tree;
use super::tree::{ReadNode, SortTarget, Source};
use crate::catalog::Catalog;
use crate::config::RestConfig;
use crate::error::{RequestError, RestError};
use crate::identifier::QualifiedName;
use crate::request::range::RowRange;

/// Plans what the response selects: `root` is the relation that is read, or the name of a write's or call's result.
///
/// # Errors
/// PGRST108, 118, 123, 127, 200 and 201; each pass names its own.
pub(super) fn plan_read_tree(
    catalog: &Catalog,
    config: &RestConfig,
    parameters: TreeParameters,
    root: &QualifiedName,
    source: Source,
) -> Result<ReadNode, RestError> {
    let is_write = parameters.root_range.is_none();
    let draft = Draft::new(parameters, &root.name, config.legacy_target_names)?;
    let mut tree = resolve_tree(catalog, draft, root, source)?;
    check_related_orders(&tree)?;
    check_aggregates_enabled(&tree, config.aggregates_enabled)?;
    check_row_aggregates(&tree, catalog)?;
    // Spreads move aggregates to their parents here, so the check of aggregates in spreads comes after it.
    decide_outputs(&mut tree);
    check_spread_aggregates(&tree)?;
    if catalog.has_citus() {
        choose_join_forms(&mut tree, catalog);
    }
    if !is_write {
        cap_rows(&mut tree, config.max_rows);
    }
    Ok(tree)
}

/// Checks that rows are sorted by a column of an embed only where the embed has at most one row.
///
/// # Errors
/// PGRST118.
fn check_related_orders(node: &ReadNode) -> Result<(), RequestError> {
    for key in &node.order {
        let SortTarget::Related { child, .. } = &key.target else {
            continue;
        };
        let child = &node.children[*child];
        if !child.is_to_one() {
            return Err(RequestError::RelatedOrder {
                origin: node.table.name.clone(),
                target: child.client_name().to_owned(),
            });
        }
    }
    node.children.iter().try_for_each(check_related_orders)
}

/// Limits every list to `db-max-rows`. Writes are not limited: their response shows all rows that were written.
fn cap_rows(node: &mut ReadNode, max_rows: Option<u64>) {
    // A to-one embed has one row at most; a limit that it cannot reach would only cost planning.
    if !(node.is_to_one() && node.range == RowRange::ALL) {
        node.range = node.range.capped(max_rows);
    }
    for child in &mut node.children {
        cap_rows(child, max_rows);
    }
}
