//! Reads: the query of a node with the lateral joins of its children.

use super::builder::Sql;
use super::filter::RowsName;
use super::join::sort_column;
use crate::plan::{ChildOutput, ReadNode, SelectColumn, SortTarget, Spread, SpreadField};
use crate::request::ast::Aggregate;
use crate::request::range::RowRange;

/// Writes `first` before the first item of a list, and `separator` before every other item.
struct ListSeparator {
    next: &'static str,
    separator: &'static str,
}

impl ListSeparator {
    fn new(first: &'static str, separator: &'static str) -> Self {
        Self {
            next: first,
            separator,
        }
    }

    /// Appends the separator before the next item.
    fn write(&mut self, sql: &mut Sql) {
        sql.push(std::mem::replace(&mut self.next, self.separator));
    }
}

impl Sql {
    /// The query of a node: `SELECT … FROM … WHERE … GROUP BY … ORDER BY … LIMIT …`. `parent` is how its parent's rows are
    /// named.
    pub(super) fn write_select(&mut self, node: &ReadNode, parent: Option<RowsName<'_>>) {
        let rows = RowsName::from_node(node);
        self.push("SELECT ");
        self.write_select_list(node, rows);
        self.write_from(node, parent);
        for (child, output) in node.children.iter().zip(&node.outputs) {
            self.write_lateral_join(child, output, rows);
        }
        // Filters stand behind the joins, because they may test whether an embed has a row.
        self.write_conditions(rows, &node.filters, Some(node));
        self.write_join_conditions(node, rows, parent, !node.filters.is_empty());
        self.write_group_by(node, rows);
        // The arrays of a to-many spread are sorted where they are made.
        if node.spread != Spread::ToMany {
            self.write_order_by(rows, &node.order, node);
        }
        self.write_limit(node.range);
    }

    /// The columns of a node and of its embeds; `*` for a node that selects nothing at all.
    pub(super) fn write_select_list(&mut self, node: &ReadNode, rows: RowsName<'_>) {
        if node.select.is_empty() && node.children.is_empty() {
            self.column(rows, "*");
            return;
        }
        let mut separator = ListSeparator::new("", ", ");
        for column in &node.select {
            separator.write(self);
            self.write_select_column(rows, column);
        }
        if node.spread == Spread::ToMany {
            self.write_sort_columns(node, rows, &mut separator);
        }
        for (child, output) in node.children.iter().zip(&node.outputs) {
            self.write_child_output(child, output, &mut separator);
        }
    }

    /// Writes the sort columns of a to-many spread, because its arrays are sorted outside of the spread's query.
    fn write_sort_columns(&mut self, node: &ReadNode, rows: RowsName<'_>, separator: &mut ListSeparator) {
        for (index, key) in node.order.iter().enumerate() {
            separator.write(self);
            match &key.target {
                SortTarget::Own(column) => self.field(rows, column),
                SortTarget::Related { child, column } => {
                    let child = node.children.get(*child);
                    let join = child.and_then(|child| child.join.as_ref());
                    let lateral = join.map_or("", |join| join.lateral.as_str());
                    self.field(RowsName::Alias(lateral), column)
                }
            };
            self.push(" AS ").ident(&sort_column(node, index));
        }
    }

    /// An embed in the select list of its parent.
    fn write_child_output(&mut self, child: &ReadNode, output: &ChildOutput, separator: &mut ListSeparator) {
        let Some(join) = &child.join else { return };
        let lateral = join.lateral.as_str();
        let name = match output {
            ChildOutput::Hidden => return,
            ChildOutput::Spread { fields } => {
                for field in fields {
                    separator.write(self);
                    self.write_spread_column(lateral, field);
                }
                return;
            }
            ChildOutput::Object { name } => {
                separator.write(self);
                if child.joins_rendered_row() {
                    self.ident(lateral).push(".").ident(lateral);
                } else {
                    self.push("row_to_json(").ident(lateral).push(".*)");
                }
                name
            }
            ChildOutput::Array { name } => {
                separator.write(self);
                self.push("COALESCE(")
                    .ident(lateral)
                    .push(".")
                    .ident(lateral)
                    .push(", ");
                self.write_empty_children(child);
                self.push(")");
                name
            }
        };
        // Rows cannot be grouped by json, which has no equality.
        if self.embeds_as_jsonb {
            self.push("::jsonb");
        }
        self.push(" AS ").ident(name);
    }

    /// A column with its cast, aggregate and alias.
    fn write_select_column(&mut self, rows: RowsName<'_>, column: &SelectColumn) {
        self.write_aggregated(column.aggregate, column.aggregate_cast.as_deref(), |sql| {
            if let Some(cast) = &column.cast {
                sql.push("CAST(")
                    .shown_field(rows, &column.column)
                    .push(" AS ")
                    .push(cast)
                    .push(")");
            } else if column.column.name == "*"
                && column.aggregate == Some(Aggregate::Count)
                && !column.column.full_row
            {
                sql.push("*");
            } else {
                sql.shown_field(rows, &column.column);
            }
        });
        if let Some(alias) = &column.alias {
            self.push(" AS ").ident(alias);
        }
    }

    /// Writes a column of a to-one spread (`...creator(name)`), which becomes a column of its parent.
    fn write_spread_column(&mut self, lateral: &str, field: &SpreadField) {
        self.write_aggregated(field.aggregate, field.aggregate_cast.as_deref(), |sql| {
            sql.column(RowsName::Alias(lateral), &field.name);
        });
        if let Some(alias) = &field.alias {
            self.push(" AS ").ident(alias);
        }
    }

    /// Writes `inner`, inside of the aggregate and its cast if there are any.
    fn write_aggregated(
        &mut self,
        aggregate: Option<Aggregate>,
        cast: Option<&str>,
        inner: impl FnOnce(&mut Self),
    ) {
        let Some(aggregate) = aggregate else {
            return inner(self);
        };
        if cast.is_some() {
            self.push("CAST(");
        }
        self.push(aggregate.name()).push("(");
        inner(self);
        self.push(")");
        if let Some(cast) = cast {
            // A cast cannot be a parameter; the grammar allows only letters, digits, `_`, `$` and blanks in it.
            self.push(" AS ").push(cast).push(")");
        }
    }

    /// Groups by everything that is shown and not aggregated.
    fn write_group_by(&mut self, node: &ReadNode, rows: RowsName<'_>) {
        if !node.is_aggregated() {
            return;
        }
        let mut separator = ListSeparator::new(" GROUP BY ", ", ");
        for column in node.select.iter().filter(|column| column.aggregate.is_none()) {
            separator.write(self);
            match &column.alias {
                Some(alias) => self.ident(alias),
                None => self.field(rows, &column.column),
            };
        }
        for (child, output) in node.children.iter().zip(&node.outputs) {
            match output {
                ChildOutput::Hidden => {}
                ChildOutput::Object { name } | ChildOutput::Array { name } => {
                    separator.write(self);
                    self.ident(name);
                }
                ChildOutput::Spread { fields } => {
                    let Some(join) = &child.join else { continue };
                    let rows = RowsName::Alias(&join.lateral);
                    for field in fields.iter().filter(|field| field.aggregate.is_none()) {
                        separator.write(self);
                        self.column(rows, field.alias.as_deref().unwrap_or(&field.name));
                    }
                }
            }
        }
    }

    /// ` LIMIT … OFFSET …`, written as checked integers: as parameters they would hide the limit from the planner.
    fn write_limit(&mut self, range: RowRange) {
        if let Some(limit) = range.limit() {
            self.push(" LIMIT ").integer(limit);
        }
        if range.lower > 0 {
            self.push(" OFFSET ").integer(range.lower);
        } else if self.for_citus && range.limit().is_none() {
            // Citus merges a subquery without LIMIT or OFFSET into the outer query, and names the keys of its JSON f1, f2 and so
            // on.
            self.push(" OFFSET 0");
        }
    }
}
