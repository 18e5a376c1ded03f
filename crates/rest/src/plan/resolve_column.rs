//! Looks up in the catalog the columns that a request mentions.

use std::sync::Arc;

use super::tree::{ColumnRef, ComputedColumn, Condition, SelectColumn};
use crate::catalog::{Catalog, Column, Relation};
use crate::identifier::QualifiedName;
use crate::request::ast::{Aggregate, Field, Filter, JsonOperand, LogicTree, Operation, SelectField};

/// Resolves the columns of one relation.
///
/// Unknown columns are accepted: they may be computed fields, and PostgreSQL refuses other names (42703).
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

    /// The column of this name, if the relation is known and has it.
    fn find_column(&self, name: &str) -> Option<&'a Column> {
        self.relation?.columns.get(name)
    }

    /// The function behind a computed column; `None` for stored columns, and where PostgreSQL finds the function by itself.
    fn find_computed_column(&self, name: &str) -> Option<Box<ComputedColumn>> {
        let relation = self.relation?;
        let function = relation.computed_columns.get(name)?;
        let is_stored = relation.columns.contains_key(name);
        (!is_stored).then(|| {
            Box::new(ComputedColumn {
                function: function.clone(),
                table: relation.name.clone(),
            })
        })
    }

    /// A column as it is, without a domain representation.
    pub(super) fn resolve_field(&self, field: Field) -> ColumnRef {
        let is_json = !field.path.is_empty()
            && self
                .find_column(&field.name)
                .is_some_and(|column| matches!(column.declared_type.as_str(), "json" | "jsonb"));
        ColumnRef {
            computed: self.find_computed_column(&field.name),
            name: field.name,
            path: field.path,
            to_json: !is_json,
            ..ColumnRef::default()
        }
    }

    /// A filter, with the function that converts its value from text and, for text search, `to_tsvector`.
    pub(super) fn resolve_filter(&self, filter: Filter) -> Condition {
        let mut column = self.resolve_field(filter.field);
        if let Some(known) = self.find_column(&column.name) {
            // A tsvector is searched as it is; any other text is converted, by the same configuration as the query.
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
            operation: filter.operation,
        }
    }

    /// A logic tree without embeds: a filter of a write.
    pub(super) fn resolve_logic(&self, tree: LogicTree) -> Condition {
        match tree {
            LogicTree::Filter(filter) => self.resolve_filter(filter),
            LogicTree::Group {
                negated,
                operator,
                children,
            } => Condition::Group {
                negated,
                operator,
                children: children
                    .into_iter()
                    .map(|child| self.resolve_logic(child))
                    .collect(),
            },
        }
    }

    /// The select list. `*` stays a star unless its columns have to be named: where rows are grouped (`aggregates`),
    /// or where a column has a domain representation.
    pub(super) fn resolve_select(
        &self,
        fields: Vec<SelectField>,
        is_spread: bool,
        aggregates: bool,
    ) -> Vec<SelectColumn> {
        // PostgreSQL expands a star to stored columns only, and would show a domain's own text.
        let names_columns = aggregates || self.has_representations();
        let mut select = Vec::with_capacity(fields.len());
        for field in fields {
            let is_star = field.field.name == "*" && field.field.path.is_empty();
            if let (true, None, Some(relation)) = (is_star && names_columns, field.aggregate, self.relation) {
                let columns = relation.columns.keys();
                select.extend(columns.map(|name| self.resolve_plain_column(name, is_spread)));
                continue;
            }
            let mut column = self.resolve_output(field.field);
            // The parent computes `count(*)` of a spread, so it needs a column to count.
            column.full_row =
                is_star && is_spread && names_columns && field.aggregate == Some(Aggregate::Count);
            let column = SelectColumn {
                column,
                cast: field.cast,
                aggregate: field.aggregate,
                aggregate_cast: field.aggregate_cast,
                alias: field.alias,
            };
            select.push(with_alias(column, is_spread));
        }
        select
    }

    /// Returns a column that is a part of `*`.
    fn resolve_plain_column(&self, name: &str, is_spread: bool) -> SelectColumn {
        let column = SelectColumn {
            column: self.resolve_output(Field::column(name)),
            cast: None,
            aggregate: None,
            aggregate_cast: None,
            alias: None,
        };
        with_alias(column, is_spread)
    }

    /// A column as clients see it.
    fn resolve_output(&self, field: Field) -> ColumnRef {
        let counts_rows = self.is_count_of_rows(&field);
        let mut column = self.resolve_field(field);
        column.counts_rows = counts_rows;
        column.transform = self
            .find_column(&column.name)
            .and_then(|known| self.catalog.representation(&known.declared_type, "json"))
            .map(str::to_owned);
        column
    }

    /// Whether a field is `count` as in `likes(count)`: PostgreSQL reads `rows.count` as `count(rows)`, unless there is a
    /// column or function of that name.
    fn is_count_of_rows(&self, field: &Field) -> bool {
        field.name == "count"
            && field.path.is_empty()
            && self.relation.is_some_and(|relation| {
                !relation.columns.contains_key("count")
                    && !self.catalog.has_function(&relation.name.schema, "count")
            })
    }

    /// Whether any column is shown through a function.
    fn has_representations(&self) -> bool {
        self.relation.is_some_and(|relation| {
            relation.columns.values().any(|column| {
                self.catalog
                    .representation(&column.declared_type, "json")
                    .is_some()
            })
        })
    }
}

/// Names a column where SQL would not give it the key that clients expect.
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
