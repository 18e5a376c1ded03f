//! The tree of what is selected: its types, and the order in which it is made.

use super::embed::{self, Draft};
use super::{Planner, aggregate};
use crate::catalog::{Relation, Relationship};
use crate::error::{RequestError, RestError};
use crate::identifier::QualifiedName;
use crate::request::ast::{
    Aggregate, Direction, JoinKind, JsonStep, LogicOperator, Nulls, Operation, SelectItem,
};
use crate::request::range::RowRange;
use std::sync::Arc;

/// Where a node's rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The relation itself, or the function of a computed relationship.
    Relation,
    /// The result of a write or a call.
    Result,
}

/// A column with everything known about how to write it.
#[derive(Debug, Clone, Default)]
pub struct ColumnRef {
    pub name: String,
    pub path: Vec<JsonStep>,
    /// The path needs `to_jsonb(…)` around the column.
    pub to_json: bool,
    /// The whole row instead of a column.
    pub full_row: bool,
    /// `count`, where no such column is: the number of rows.
    pub counts_rows: bool,
    /// Function between the column's type and the form clients see.
    pub transform: Option<String>,
    /// `to_tsvector` around the field, with a configuration or without.
    pub text_search: Option<Option<String>>,
}

/// One column of a node's output.
#[derive(Debug, Clone)]
pub struct SelectColumn {
    pub column: ColumnRef,
    pub cast: Option<String>,
    pub aggregate: Option<Aggregate>,
    pub aggregate_cast: Option<String>,
    pub alias: Option<String>,
}

impl SelectColumn {
    /// The name under which the column comes out of its node.
    pub fn output_name(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.column.name)
    }
}

/// A condition on a node's rows.
#[derive(Debug, Clone)]
pub enum Condition {
    Filter {
        column: ColumnRef,
        negated: bool,
        operation: Operation,
    },
    /// Whether an embedded resource has a row: `rel=is.null`.
    Embed { child: usize, present: bool },
    Group {
        negated: bool,
        operator: LogicOperator,
        children: Vec<Condition>,
    },
}

/// What a sort key sorts by.
#[derive(Debug, Clone)]
pub enum SortTarget {
    Own(ColumnRef),
    /// A column of an embedded to-one resource.
    Related {
        child: usize,
        column: ColumnRef,
    },
}

/// One sort key.
#[derive(Debug, Clone)]
pub struct SortKey {
    pub target: SortTarget,
    pub direction: Option<Direction>,
    pub nulls: Option<Nulls>,
}

/// How a child's columns reach its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// As an object or an array of its own.
    No,
    /// As columns.
    ToOne,
    /// As one array per column.
    ToMany,
}

/// How a child joins its parent.
#[derive(Debug, Clone)]
pub struct Join {
    pub relationship: Arc<Relationship>,
    pub kind: JoinKind,
    /// SQL alias of the lateral subquery in the parent.
    pub lateral: String,
    /// SQL alias of the junction.
    pub junction: String,
}

/// A column that a spread child gives to its parent.
#[derive(Debug, Clone)]
pub struct SpreadField {
    /// Name in the child's output.
    pub name: String,
    pub aggregate: Option<Aggregate>,
    pub aggregate_cast: Option<String>,
    pub alias: Option<String>,
}

/// How a child appears in its parent's output; same index as the child.
#[derive(Debug, Clone)]
pub enum ChildOutput {
    /// It only joins.
    Hidden,
    Object {
        name: String,
    },
    Array {
        name: String,
    },
    Spread {
        fields: Vec<SpreadField>,
    },
}

/// One level of the select tree.
#[derive(Debug, Clone)]
pub struct ReadNode {
    pub source: Source,
    /// The relation as the catalog knows it.
    pub table: QualifiedName,
    /// SQL alias; `None` for the root of a read, which is named in full.
    pub alias: Option<String>,
    /// Target word of the embed.
    pub target: String,
    /// Alias that the client gave.
    pub client_alias: Option<String>,
    /// A parameter used the target word although there is an alias.
    pub legacy_name_used: bool,
    pub select: Vec<SelectColumn>,
    pub filters: Vec<Condition>,
    pub order: Vec<SortKey>,
    pub range: RowRange,
    pub join: Option<Join>,
    pub spread: Spread,
    pub children: Vec<ReadNode>,
    pub outputs: Vec<ChildOutput>,
}

impl ReadNode {
    /// The name under which clients address the node.
    pub fn client_name(&self) -> &str {
        self.client_alias.as_deref().unwrap_or(&self.target)
    }

    /// Whether this is `select=*` and nothing else.
    pub fn has_default_select(&self) -> bool {
        self.children.is_empty() && matches!(self.select.as_slice(), [only] if only.column.name == "*")
    }

    /// Whether anything in the node's own output is aggregated.
    pub fn is_aggregated(&self) -> bool {
        self.select.iter().any(|column| column.aggregate.is_some())
            || self.outputs.iter().any(|output| match output {
                ChildOutput::Spread { fields } => fields.iter().any(|field| field.aggregate.is_some()),
                _ => false,
            })
    }

    /// Whether an embed anywhere is something to group by: its own, or one lifted by a spread.
    pub fn groups_embeds(&self) -> bool {
        (self.is_aggregated() && !self.children.is_empty()) || self.children.iter().any(Self::groups_embeds)
    }

    /// Nothing of the node or below it is shown.
    fn shows_nothing(&self) -> bool {
        self.select.is_empty() && self.children.iter().all(Self::shows_nothing)
    }

    /// Every node, parents first.
    pub fn walk(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }
}

/// Plans what the answer selects.
pub(super) fn plan(
    planner: &Planner<'_>,
    root: &QualifiedName,
    source: Source,
) -> Result<ReadNode, RestError> {
    let mut draft = Draft::of_select(&planner.request.query.select, &root.name);
    draft.attach_parameters(planner)?;
    let mut node = embed::build(planner, draft, root, source)?;
    resolve_orders(&mut node)?;
    if !planner.config.aggregates_enabled && uses_aggregates(&node) {
        return Err(RequestError::AggregatesDisabled.into());
    }
    make_outputs(&mut node);
    aggregate::check_spreads(&node)?;
    if !matches!(planner.request.action, crate::request::Action::Mutate { .. }) {
        cap_rows(&mut node, planner.config.max_rows);
    }
    Ok(node)
}

/// Related orders need an embedded to-one resource.
fn resolve_orders(node: &mut ReadNode) -> Result<(), RequestError> {
    for key in &node.order {
        let SortTarget::Related { child, .. } = &key.target else {
            continue;
        };
        let child = &node.children[*child];
        let to_one = child
            .join
            .as_ref()
            .is_some_and(|join| join.relationship.is_to_one());
        if !to_one {
            return Err(RequestError::RelatedOrder {
                origin: node.table.name.clone(),
                target: child.client_name().to_owned(),
            });
        }
    }
    node.children.iter_mut().try_for_each(resolve_orders)
}

fn uses_aggregates(node: &ReadNode) -> bool {
    node.select.iter().any(|column| column.aggregate.is_some()) || node.children.iter().any(uses_aggregates)
}

/// Decides how each child appears; children first, because spreads lift what their own children show.
fn make_outputs(node: &mut ReadNode) {
    for child in &mut node.children {
        make_outputs(child);
    }
    node.outputs = node
        .children
        .iter_mut()
        .map(|child| {
            if child.spread != Spread::No {
                return ChildOutput::Spread {
                    fields: aggregate::spread_fields(child),
                };
            }
            if child.shows_nothing() {
                return ChildOutput::Hidden;
            }
            let name = child.client_name().to_owned();
            if child
                .join
                .as_ref()
                .is_some_and(|join| join.relationship.is_to_one())
            {
                ChildOutput::Object { name }
            } else {
                ChildOutput::Array { name }
            }
        })
        .collect();
}

fn cap_rows(node: &mut ReadNode, max_rows: Option<u64>) {
    let is_to_one = node
        .join
        .as_ref()
        .is_some_and(|join| join.relationship.is_to_one());
    // A to-one embed has one row at most; a limit that it cannot reach would only cost planning.
    if !(is_to_one && node.range == RowRange::ALL) {
        node.range = node.range.capped(max_rows);
    }
    for child in &mut node.children {
        cap_rows(child, max_rows);
    }
}

/// The select items that are columns.
pub(super) fn fields(items: &[SelectItem]) -> impl Iterator<Item = &crate::request::ast::SelectField> {
    items.iter().filter_map(|item| match item {
        SelectItem::Field(field) => Some(field),
        SelectItem::Embed(_) => None,
    })
}

/// A relation's columns, for `*`.
pub(super) fn columns_of(relation: Option<&Arc<Relation>>) -> Vec<String> {
    relation
        .map(|relation| relation.columns.keys().cloned().collect())
        .unwrap_or_default()
}
