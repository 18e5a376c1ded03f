//! What the catalog knows about a column, where a query mentions it.

use super::read::{ColumnRef, Condition, SelectColumn, columns_of};
use crate::catalog::{Catalog, Column, Relation};
use crate::identifier::QualifiedName;
use crate::request::ast::{Aggregate, Field, Filter, JsonOperand, LogicTree, Operation, SelectField};
use std::sync::Arc;

/// Resolves the columns of one relation. Unknown ones pass: PostgreSQL knows computed fields, and says no to the rest.
pub(super) struct Resolver<'a> {
    catalog: &'a Catalog,
    relation: Option<&'a Arc<Relation>>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(catalog: &'a Catalog, table: &QualifiedName) -> Self {
        Self {
            catalog,
            relation: catalog.find_relation(table),
        }
    }

    fn column(&self, name: &str) -> Option<&'a Column> {
        self.relation?.columns.get(name)
    }

    /// A column without conversion.
    pub(super) fn plain(&self, field: &Field) -> ColumnRef {
        let is_json = !field.path.is_empty()
            && self
                .column(&field.name)
                .is_some_and(|column| matches!(column.declared_type.as_str(), "json" | "jsonb"));
        ColumnRef {
            name: field.name.clone(),
            path: field.path.clone(),
            to_json: !is_json,
            ..ColumnRef::default()
        }
    }

    /// A filter, with the value's conversion and the text search's wrapping.
    pub(super) fn filter(&self, filter: &Filter) -> Condition {
        let mut column = self.plain(&filter.field);
        if let Some(known) = self.column(&filter.field.name) {
            if let Operation::TextSearch(_, configuration, _) = &filter.operation
                && known.base_type != "tsvector"
            {
                column.text_search = Some(configuration.clone());
            }
            column.transform = self
                .catalog
                .representation("text", &known.declared_type)
                .map(str::to_owned);
        }
        Condition::Filter {
            column,
            negated: filter.negated,
            operation: filter.operation.clone(),
        }
    }

    /// A tree of filters without embeds, for writes.
    pub(super) fn tree(&self, tree: &LogicTree) -> Condition {
        match tree {
            LogicTree::Filter(filter) => self.filter(filter),
            LogicTree::Group {
                negated,
                operator,
                children,
            } => Condition::Group {
                negated: *negated,
                operator: *operator,
                children: children.iter().map(|child| self.tree(child)).collect(),
            },
        }
    }

    /// The select list; `*` becomes columns where something must be done to them.
    pub(super) fn select(
        &self,
        fields: &[SelectField],
        is_spread: bool,
        aggregates: bool,
    ) -> Vec<SelectColumn> {
        let expands = aggregates || self.has_output_forms();
        let mut select = Vec::with_capacity(fields.len());
        for field in fields {
            let is_star = field.field.name == "*" && field.field.path.is_empty();
            if is_star && field.aggregate.is_none() && expands && self.relation.is_some() {
                select.extend(columns_of(self.relation).into_iter().map(|name| {
                    let column = self.output(&Field::column(name));
                    with_alias(
                        SelectColumn {
                            column,
                            cast: None,
                            aggregate: None,
                            aggregate_cast: None,
                            alias: None,
                        },
                        is_spread,
                    )
                }));
                continue;
            }
            let mut column = self.output(&field.field);
            column.full_row = is_star && is_spread && expands && field.aggregate == Some(Aggregate::Count);
            select.push(with_alias(
                SelectColumn {
                    column,
                    cast: field.cast.clone(),
                    aggregate: field.aggregate,
                    aggregate_cast: field.aggregate_cast.clone(),
                    alias: field.alias.clone(),
                },
                is_spread,
            ));
        }
        select
    }

    fn output(&self, field: &Field) -> ColumnRef {
        let mut column = self.plain(field);
        column.counts_rows = self.is_count_of_rows(field);
        column.transform = self
            .column(&field.name)
            .and_then(|known| self.catalog.representation(&known.declared_type, "json"))
            .map(str::to_owned);
        column
    }

    /// PostgreSQL reads `rows.count` as `count(rows)`, unless there is such a column or somebody's own function.
    fn is_count_of_rows(&self, field: &Field) -> bool {
        field.name == "count"
            && field.path.is_empty()
            && self.relation.is_some_and(|relation| {
                !relation.columns.contains_key("count")
                    && !self.catalog.has_function(&relation.name.schema, "count")
            })
    }

    fn has_output_forms(&self) -> bool {
        self.relation.is_some_and(|relation| {
            relation.columns.values().any(|column| {
                self.catalog
                    .representation(&column.declared_type, "json")
                    .is_some()
            })
        })
    }
}

/// Names a column where SQL would not name it as the client expects.
fn with_alias(mut column: SelectColumn, is_spread: bool) -> SelectColumn {
    if column.alias.is_some() {
        return column;
    }
    column.alias = match column.aggregate {
        Some(aggregate) if is_spread => Some(aggregate.name().to_owned()),
        Some(_) => None,
        None if !column.column.path.is_empty() => Some(last_key(&column.column).to_owned()),
        None if column.column.transform.is_some() => Some(column.column.name.clone()),
        None => None,
    };
    column
}

/// The last key of a path; an index falls back to the nearest key before it, then to the column.
fn last_key(column: &ColumnRef) -> &str {
    column
        .path
        .iter()
        .rev()
        .find_map(|step| match &step.operand {
            JsonOperand::Key(key) => Some(key.as_str()),
            JsonOperand::Index(_) => None,
        })
        .unwrap_or(&column.name)
}
