//! Embeds that are read by one subquery for all parents, for Citus: their rows, or totals such as `likes(count)`.

use super::builder::{SOURCE, Sql};
use super::filter::RowsName;
use crate::catalog::Cardinality;
use crate::plan::{Join, JoinForm, ReadNode};
use crate::request::ast::{Aggregate, JoinKind};

/// A pair of columns by which a child joins its parent.
pub(super) struct JoinKey<'a> {
    /// Column of the parent.
    pub(super) parent: &'a str,
    /// Name of the rows that have the other column: the child's, or those of the junction table.
    pub(super) rows: RowsName<'a>,
    pub(super) column: &'a str,
}

impl Sql {
    /// Writes ` LEFT JOIN (…) AS … ON …` of a child whose rows are read for all parents by one subquery. Returns whether the child
    /// is joined in this way.
    pub(super) fn write_grouped_child(
        &mut self,
        child: &ReadNode,
        join: &Join,
        parent: RowsName<'_>,
    ) -> bool {
        let lateral = join.lateral.as_str();
        let has_totals = child.joins_totals();
        let Some(keys) = join_keys(child, join) else {
            return false;
        };
        // Every parent has totals, so an inner join keeps all parents, too.
        self.push(if join.kind == JoinKind::Inner && !has_totals {
            " INNER JOIN ("
        } else {
            " LEFT JOIN ("
        });
        if has_totals {
            self.write_totals(child, lateral, &keys);
        } else if child.is_to_one() {
            self.write_rendered_rows(child, lateral, &keys);
        } else {
            self.write_groups(child, lateral, &keys);
        }
        self.push(") AS ").ident(lateral).push(" ON ");
        self.list(keys.iter().enumerate(), " AND ", |sql, (index, key)| {
            sql.key_column(lateral, index)
                .push(" = ")
                .column(parent, key.parent);
        });
        true
    }

    /// Appends the name of a key in the subquery `lateral`.
    fn key_column(&mut self, lateral: &str, index: usize) -> &mut Self {
        self.ident(lateral).push(".").ident(&format!("pgrst_key_{index}"))
    }

    /// Writes the columns by which the rows belong to a parent, under the names `pgrst_key_0` and so on.
    fn write_keys(&mut self, keys: &[JoinKey<'_>]) {
        self.list(keys.iter().enumerate(), ", ", |sql, (index, key)| {
            sql.column(key.rows, key.column)
                .push(" AS ")
                .ident(&format!("pgrst_key_{index}"));
        });
    }

    /// Writes the query of a child's rows as one JSON array per parent. Each row is rendered as JSON and numbered among those of its
    /// parent; the number replaces ORDER BY and LIMIT of a lateral join.
    fn write_groups(&mut self, child: &ReadNode, lateral: &str, keys: &[JoinKey<'_>]) {
        self.push("SELECT ");
        self.list(0..keys.len(), ", ", |sql, index| {
            sql.key_column(lateral, index);
        });
        self.push(", json_agg(")
            .ident(lateral)
            .push(".pgrst_row ORDER BY ");
        self.ident(lateral)
            .push(".pgrst_place) AS ")
            .ident(lateral)
            .push(" FROM (");
        self.write_numbered_rows(child, keys);
        self.push(") AS ")
            .ident(lateral)
            .push(" WHERE ")
            .ident(lateral)
            .push(".pgrst_place > ");
        self.integer(child.range.lower);
        if let Some(limit) = child.range.limit() {
            self.push(" AND ").ident(lateral).push(".pgrst_place <= ");
            self.integer(child.range.lower.saturating_add(limit));
        }
        self.push(" GROUP BY ");
        self.list(0..keys.len(), ", ", |sql, index| {
            sql.key_column(lateral, index);
        });
    }

    /// Writes the query of a child's rows: join columns, number among the rows with equal join columns, and the row as JSON.
    fn write_numbered_rows(&mut self, child: &ReadNode, keys: &[JoinKey<'_>]) {
        let rows = RowsName::from_node(child);
        self.push("SELECT ");
        self.write_keys(keys);
        // Rows are numbered per parent, because LIMIT would apply to the rows of all parents together.
        self.push(", row_number() OVER (PARTITION BY ");
        self.list(keys, ", ", |sql, key| {
            sql.column(key.rows, key.column);
        });
        self.write_order_by(rows, &child.order, child);
        self.push(") AS pgrst_place, ");
        self.write_rendered_row(child, rows);
        self.push(" AS pgrst_row");
        self.write_rows_of_all_parents(child, rows, keys);
    }

    /// Writes the query of a to-one child's rows: join columns, and the row as JSON under the name `lateral`.
    fn write_rendered_rows(&mut self, child: &ReadNode, lateral: &str, keys: &[JoinKey<'_>]) {
        let rows = RowsName::from_node(child);
        self.push("SELECT ");
        self.write_keys(keys);
        self.push(", ");
        self.write_rendered_row(child, rows);
        self.push(" AS ").ident(lateral);
        self.write_rows_of_all_parents(child, rows, keys);
    }

    /// Writes a row of a child as a JSON object.
    fn write_rendered_row(&mut self, child: &ReadNode, rows: RowsName<'_>) {
        self.push("(SELECT row_to_json(pgrst_row.*) FROM (SELECT ");
        self.write_select_list(child, rows);
        self.push(") AS pgrst_row)");
    }

    /// Writes ` FROM … WHERE …` of a child without the condition on a single parent.
    fn write_rows_of_all_parents(&mut self, child: &ReadNode, rows: RowsName<'_>, keys: &[JoinKey<'_>]) {
        self.write_from(child, None);
        for (grandchild, output) in child.children.iter().zip(&child.outputs) {
            self.write_lateral_join(grandchild, output, rows);
        }
        self.write_conditions(rows, &child.filters, Some(child));
        let has_where = self.write_junction_conditions(child, rows, !child.filters.is_empty());
        let is_of_result = |join: &Join| join.form == JoinForm::GroupedForResult;
        if child.join.as_ref().is_some_and(is_of_result) {
            // Without this condition PostgreSQL would read all rows of the child's table, although the result needs only a few.
            self.push(if has_where { " AND (" } else { " WHERE (" });
            self.list(keys, ", ", |sql, key| {
                sql.column(key.rows, key.column);
            });
            self.push(") IN (SELECT ");
            self.list(keys, ", ", |sql, key| {
                sql.ident(key.parent);
            });
            self.push(" FROM ").push(SOURCE).push(")");
        }
    }

    /// Writes the query of a child's totals: join columns, and one JSON array with the totals of the rows that have them.
    fn write_totals(&mut self, child: &ReadNode, lateral: &str, keys: &[JoinKey<'_>]) {
        let rows = RowsName::from_node(child);
        self.push("SELECT ");
        self.list(0..keys.len(), ", ", |sql, index| {
            sql.key_column(lateral, index);
        });
        self.push(", (SELECT json_agg(row_to_json(pgrst_row.*)) FROM (SELECT ");
        self.list(&child.select, ", ", |sql, column| {
            sql.column(RowsName::Alias(lateral), column.output_name());
        });
        self.push(") AS pgrst_row) AS ")
            .ident(lateral)
            .push(" FROM (SELECT ");
        self.write_keys(keys);
        self.push(", ");
        self.write_select_list(child, rows);
        self.write_rows_of_all_parents(child, rows, keys);
        self.push(" GROUP BY ");
        self.list(keys, ", ", |sql, key| {
            sql.column(key.rows, key.column);
        });
        self.push(") AS ").ident(lateral);
    }

    /// Writes what a parent shows to which no row of the child belongs: an empty array, or an array with the totals of no rows.
    pub(super) fn write_empty_children(&mut self, child: &ReadNode) {
        if !child.joins_totals() {
            self.push("'[]'");
            return;
        }
        self.push("(SELECT json_agg(row_to_json(pgrst_row.*)) FROM (SELECT ");
        self.list(&child.select, ", ", |sql, column| {
            let counts = column.column.counts_rows || column.aggregate == Some(Aggregate::Count);
            let value = if counts { "0" } else { "NULL" };
            match &column.aggregate_cast {
                Some(cast) => sql.push("CAST(").push(value).push(" AS ").push(cast).push(")"),
                None => sql.push(value),
            };
            sql.push(" AS ").ident(column.output_name());
        });
        self.push(") AS pgrst_row)");
    }
}

/// Returns the join columns of a child whose rows are read for all parents; `None` for one that is joined laterally.
fn join_keys<'a>(child: &'a ReadNode, join: &'a Join) -> Option<Vec<JoinKey<'a>>> {
    let is_possible = match &join.relationship.cardinality {
        Cardinality::OneToMany { .. } | Cardinality::ManyToMany(_) => child.is_grouped(),
        Cardinality::ManyToOne { .. } | Cardinality::OneToOne { .. } => child.joins_rendered_row(),
        Cardinality::Computed { .. } => false,
    };
    // PostgreSQL refuses aggregates beside columns that are not grouped by. The lateral form is kept for them, so that its error is
    // reported.
    if !is_possible || (child.shows_aggregates() && !child.joins_totals()) {
        return None;
    }
    relationship_keys(child, join)
}

/// Returns the columns by which the rows of a child belong to those of its parent; `None` for a computed relationship.
pub(super) fn relationship_keys<'a>(child: &'a ReadNode, join: &'a Join) -> Option<Vec<JoinKey<'a>>> {
    let rows = RowsName::from_node(child);
    let (columns, rows) = match &join.relationship.cardinality {
        Cardinality::ManyToMany(junction) => (&junction.origin_columns, RowsName::Alias(&join.junction)),
        Cardinality::OneToMany { columns, .. }
        | Cardinality::ManyToOne { columns, .. }
        | Cardinality::OneToOne { columns, .. } => (columns, rows),
        Cardinality::Computed { .. } => return None,
    };
    let keys = columns
        .iter()
        .map(|(parent, column)| JoinKey { parent, rows, column });
    Some(keys.collect())
}
