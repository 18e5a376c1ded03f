//! The select tree: one node per relation, with everything that the SQL writer needs to know about it.
//!
//! Types only; `read.rs` lists the passes that make a tree.

use std::sync::Arc;

use crate::catalog::Relationship;
use crate::identifier::QualifiedName;
use crate::request::ast::{Aggregate, Direction, JoinKind, JsonStep, LogicOperator, Nulls, Operation};
use crate::request::range::RowRange;

/// Where a node's rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The relation itself, or the function of a computed relationship.
    Relation,
    /// The result of a write or a call.
    Result,
}

/// A mention of a column: in a select list, a filter or a sort key.
#[derive(Debug, Clone, Default)]
pub struct ColumnRef {
    /// Column or computed field, not quoted; `*` for all.
    pub name: String,
    /// Steps into the column's JSON form; usually none.
    pub path: Vec<JsonStep>,
    /// Whether the path needs `to_jsonb(…)` around the column, because the column is neither json nor jsonb.
    pub to_json: bool,
    /// Whether the whole row is meant instead of a column.
    pub full_row: bool,
    /// Whether this is `count` where the relation has no such column: the number of rows.
    pub counts_rows: bool,
    /// SQL function between the column's domain and the form that clients see (a domain representation).
    pub transform: Option<String>,
    /// `to_tsvector` around the field, with a text search configuration or without.
    pub text_search: Option<Option<String>>,
    /// The function behind a computed column of a table that Citus distributes.
    pub computed: Option<Box<ComputedColumn>>,
}

/// A column that is the result of a function of the row. Citus names the row's type after the shard, so the function is called with
/// a row of the table's own type.
#[derive(Debug, Clone)]
pub struct ComputedColumn {
    pub function: QualifiedName,
    /// The table whose row the function takes.
    pub table: QualifiedName,
}

/// One column of a node's output.
#[derive(Debug, Clone)]
pub struct SelectColumn {
    /// The selected column.
    pub column: ColumnRef,
    /// `::type` behind the column.
    pub cast: Option<String>,
    /// `.sum()` and its like.
    pub aggregate: Option<Aggregate>,
    /// `::type` behind the aggregate.
    pub aggregate_cast: Option<String>,
    /// Output key, where it differs from what PostgreSQL would choose.
    pub alias: Option<String>,
}

impl SelectColumn {
    /// The name under which the column comes out of its node.
    pub fn output_name(&self) -> &str {
        match (&self.alias, self.aggregate) {
            (Some(alias), _) => alias,
            (None, Some(aggregate)) => aggregate.name(),
            (None, None) => &self.column.name,
        }
    }

    /// Whether the column is an aggregate or the number of rows.
    pub fn is_total(&self) -> bool {
        self.aggregate.is_some() || self.column.counts_rows
    }
}

/// A condition on a node's rows.
#[derive(Debug, Clone)]
pub enum Condition {
    /// An operator applied to a column.
    Filter {
        column: ColumnRef,
        negated: bool,
        operation: Operation,
    },
    /// Whether an embedded resource has a row (`comments=is.null`); `child` indexes [`ReadNode::children`].
    Embed { child: usize, present: bool },
    /// `and(…)` or `or(…)`.
    Group {
        negated: bool,
        operator: LogicOperator,
        children: Vec<Condition>,
    },
}

impl Condition {
    /// Calls `visit` for every column that the condition compares, those of nested conditions included.
    fn visit_columns(&mut self, visit: &mut impl FnMut(&mut ColumnRef)) {
        match self {
            Self::Filter { column, .. } => visit(column),
            Self::Embed { .. } => {}
            Self::Group { children, .. } => {
                for child in children {
                    child.visit_columns(visit);
                }
            }
        }
    }
}

/// The expression of a sort key.
#[derive(Debug, Clone)]
pub enum SortTarget {
    /// A column of the node itself.
    Own(ColumnRef),
    /// A column of an embedded to-one resource; `child` indexes [`ReadNode::children`].
    Related { child: usize, column: ColumnRef },
}

/// One sort key.
#[derive(Debug, Clone)]
pub struct SortKey {
    pub target: SortTarget,
    /// `None`: PostgreSQL's default, ascending.
    pub direction: Option<Direction>,
    /// `None`: PostgreSQL's default, nulls as the largest values.
    pub nulls: Option<Nulls>,
}

/// How a child's columns reach its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Not spread: as an object or an array under its own key.
    No,
    /// `...target(…)` over a to-one relationship: as columns of the parent.
    ToOne,
    /// `...target(…)` over a to-many relationship: as one array per column.
    ToMany,
}

/// Which subquery reads the rows of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JoinForm {
    /// A lateral one, for each row of the parent.
    #[default]
    Lateral,
    /// One for all rows of the parent's table, which returns a JSON value for each. Citus refuses a lateral join where rows of the
    /// child, or of an embed in it, are in shards and the parent's are not.
    Grouped,
    /// The same for the rows of a result, which is a small part of its table.
    GroupedForResult,
}

/// How a child joins its parent.
#[derive(Debug, Clone)]
pub struct Join {
    /// How the child's relation is related to its parent's.
    pub relationship: Arc<Relationship>,
    /// LEFT or INNER.
    pub kind: JoinKind,
    /// SQL alias of the lateral subquery in the parent.
    pub lateral: String,
    /// SQL alias of the junction table of a many-to-many relationship; else empty.
    pub junction: String,
    /// Which subquery reads the child's rows.
    pub form: JoinForm,
}

/// A column that a spread child gives to its parent.
#[derive(Debug, Clone)]
pub struct SpreadField {
    /// Key in the child's output.
    pub name: String,
    /// Aggregate lifted from the child, computed in the parent.
    pub aggregate: Option<Aggregate>,
    /// `::type` behind the aggregate.
    pub aggregate_cast: Option<String>,
    /// Key in the parent's output, where it differs from `name`.
    pub alias: Option<String>,
}

/// How a child appears in its parent's output.
#[derive(Debug, Clone)]
pub enum ChildOutput {
    /// Not at all: it only joins, as in `select=id,comments!inner()`.
    Hidden,
    /// A to-one embed, under this key.
    Object { name: String },
    /// A to-many embed, under this key.
    Array { name: String },
    /// Its columns become columns of the parent.
    Spread { fields: Vec<SpreadField> },
}

/// One level of the select tree.
#[derive(Debug, Clone)]
pub struct ReadNode {
    /// Where the rows come from.
    pub source: Source,
    /// The relation's name in the catalog.
    pub table: QualifiedName,
    /// SQL alias; `None` for the root of a read, which SQL names by schema and table.
    pub alias: Option<String>,
    /// The word that the client used for the embed's target: a relation, constraint, column or function.
    pub target: String,
    /// Output key that the client chose (`alias:target(…)`).
    pub client_alias: Option<String>,
    /// Whether a filter, order or limit used the target word although there is an alias; deprecated by PostgREST.
    pub legacy_name_used: bool,
    /// Columns of the node itself; embeds are `children`.
    pub select: Vec<SelectColumn>,
    pub filters: Vec<Condition>,
    pub order: Vec<SortKey>,
    /// Limit and offset, `db-max-rows` included.
    pub range: RowRange,
    /// `None` for the root.
    pub join: Option<Join>,
    pub spread: Spread,
    /// Embedded resources.
    pub children: Vec<ReadNode>,
    /// How each child appears; same indices as `children`.
    pub outputs: Vec<ChildOutput>,
}

impl ReadNode {
    /// The name by which filters, orders and limits address the node, and its output key.
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

    /// Whether the node's own columns contain an aggregate, or the number of its rows.
    pub fn shows_aggregates(&self) -> bool {
        self.is_aggregated() || self.select.iter().any(SelectColumn::is_total)
    }

    /// Whether one subquery reads the node's rows for all parents, see [`JoinForm::Grouped`].
    pub fn is_grouped(&self) -> bool {
        self.join
            .as_ref()
            .is_some_and(|join| join.form != JoinForm::Lateral && self.spread == Spread::No)
    }

    /// Whether the node is one row of totals, such as `likes(count)`, which one subquery computes for all parents.
    pub fn joins_totals(&self) -> bool {
        self.is_grouped()
            && !self.is_to_one()
            && self.children.is_empty()
            && self.range.lower == 0
            && self.range.limit() != Some(0)
            && !self.select.is_empty()
            && self.select.iter().all(SelectColumn::is_total)
    }

    /// Whether the node is a to-one embed that one subquery renders for all parents.
    pub fn joins_rendered_row(&self) -> bool {
        self.is_grouped() && self.is_to_one() && !self.shows_aggregates() && self.range == RowRange::ALL
    }

    /// Whether some embed in the tree has to be grouped by, because a node that shows it is aggregated.
    pub fn groups_embeds(&self) -> bool {
        (self.is_aggregated() && !self.children.is_empty()) || self.children.iter().any(Self::groups_embeds)
    }

    /// Whether neither the node nor anything below it is shown.
    pub fn shows_nothing(&self) -> bool {
        self.select.is_empty() && self.children.iter().all(Self::shows_nothing)
    }

    /// Whether at most one row belongs to each row of the parent.
    pub fn is_to_one(&self) -> bool {
        self.join
            .as_ref()
            .is_some_and(|join| join.relationship.is_to_one())
    }

    /// Calls `visit` for each column that select, filters and order of the node name. Columns of its embeds are not visited.
    pub fn visit_columns(&mut self, visit: &mut impl FnMut(&mut ColumnRef)) {
        for column in &mut self.select {
            visit(&mut column.column);
        }
        for condition in &mut self.filters {
            condition.visit_columns(visit);
        }
        for key in &mut self.order {
            if let SortTarget::Own(column) = &mut key.target {
                visit(column);
            }
        }
    }

    /// Visits every node, parents first.
    pub fn walk(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }
}
