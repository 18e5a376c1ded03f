//! Reads: a node and the lateral joins of its children, and the count of a root's rows.

use super::filter::Rows;
use super::{SOURCE, Sql};
use crate::catalog::Cardinality;
use crate::plan::{ChildOutput, Join, ReadNode, SelectColumn, SortTarget, Source, Spread, SpreadField};
use crate::request::ast::{Aggregate, JoinKind};
use crate::request::range::RowRange;

impl Sql {
    /// The query of a node. `parent` is how its parent's rows are named.
    pub(super) fn read_query(&mut self, node: &ReadNode, parent: Option<Rows<'_>>) {
        let rows = Rows::of(node);
        self.push("SELECT ");
        self.select_list(node, rows);
        self.from(node, parent);
        for child in node.children.iter().zip(&node.outputs) {
            self.lateral_join(child, rows);
        }
        self.where_clause(node, rows, parent);
        self.group_by(node, rows);
        if node.spread != Spread::ToMany {
            self.order_by(rows, &node.order, node);
        }
        self.limit(node.range);
    }

    fn select_list(&mut self, node: &ReadNode, rows: Rows<'_>) {
        if node.select.is_empty() && node.children.is_empty() {
            self.column(rows, "*");
            return;
        }
        let mut first = true;
        let mut next = |sql: &mut Self| {
            if !first {
                sql.push(", ");
            }
            first = false;
        };
        for column in &node.select {
            next(self);
            self.select_column(rows, column);
        }
        if node.spread == Spread::ToMany {
            // what the spread's arrays are sorted by must come out of this query
            for (index, key) in node.order.iter().enumerate() {
                next(self);
                match &key.target {
                    SortTarget::Own(column) => self.field(rows, column),
                    SortTarget::Related { child, column } => {
                        let lateral = node
                            .children
                            .get(*child)
                            .and_then(|child| child.join.as_ref())
                            .map(|j| j.lateral.as_str());
                        self.field(Rows::Alias(lateral.unwrap_or_default()), column)
                    }
                };
                self.push(" AS ").ident(&sort_name(node, index));
            }
        }
        // json has no equality to group by
        let as_jsonb = self.embeds_as_jsonb;
        for (child, output) in node.children.iter().zip(&node.outputs) {
            let Some(join) = &child.join else { continue };
            match output {
                ChildOutput::Hidden => {}
                ChildOutput::Object { name } => {
                    next(self);
                    self.push("row_to_json(").ident(&join.lateral).push(".*)");
                    self.push(if as_jsonb { "::jsonb AS " } else { " AS " })
                        .ident(name);
                }
                ChildOutput::Array { name } => {
                    next(self);
                    self.push("COALESCE(")
                        .ident(&join.lateral)
                        .push(".")
                        .ident(&join.lateral)
                        .push(", '[]')");
                    self.push(if as_jsonb { "::jsonb AS " } else { " AS " })
                        .ident(name);
                }
                ChildOutput::Spread { fields } => {
                    for field in fields {
                        next(self);
                        self.spread_column(&join.lateral, field);
                    }
                }
            }
        }
    }

    fn select_column(&mut self, rows: Rows<'_>, column: &SelectColumn) {
        self.aggregated(column.aggregate, column.aggregate_cast.as_deref(), |sql| {
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

    fn spread_column(&mut self, lateral: &str, field: &SpreadField) {
        self.aggregated(field.aggregate, field.aggregate_cast.as_deref(), |sql| {
            sql.column(Rows::Alias(lateral), &field.name);
        });
        if let Some(alias) = &field.alias {
            self.push(" AS ").ident(alias);
        }
    }

    fn aggregated(
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
            // the grammar lets only words through
            self.push(" AS ").push(cast).push(")");
        }
    }

    fn from(&mut self, node: &ReadNode, parent: Option<Rows<'_>>) {
        self.push(" FROM ");
        match (&node.join, node.source) {
            (_, Source::Result) => {
                self.ident(SOURCE);
            }
            (
                Some(Join {
                    relationship,
                    junction,
                    ..
                }),
                Source::Relation,
            ) => match &relationship.cardinality {
                Cardinality::Computed { function, .. } => {
                    let parent = match parent {
                        Some(Rows::Alias(alias)) => alias,
                        Some(Rows::Table(table)) => &table.name,
                        None => "",
                    };
                    self.qualified(function)
                        .push("(")
                        .ident(parent)
                        .push("::")
                        .qualified(&relationship.origin)
                        .push(")");
                }
                Cardinality::ManyToMany(found) => {
                    self.qualified(&found.table)
                        .push(" AS ")
                        .ident(junction)
                        .push(", ");
                    self.qualified(&relationship.target);
                }
                _ => {
                    self.qualified(&relationship.target);
                }
            },
            (None, Source::Relation) => {
                self.qualified(&node.table);
            }
        }
        if let Some(alias) = &node.alias {
            self.push(" AS ").ident(alias);
        }
    }

    fn lateral_join(&mut self, (child, output): (&ReadNode, &ChildOutput), rows: Rows<'_>) {
        let Some(join) = &child.join else { return };
        let inner = join.kind == JoinKind::Inner;
        let lateral = join.lateral.as_str();
        self.push(if inner {
            " INNER JOIN LATERAL ("
        } else {
            " LEFT JOIN LATERAL ("
        });
        if join.relationship.is_to_one() {
            self.read_query(child, Some(rows));
            self.push(") AS ").ident(lateral).push(" ON TRUE");
            return;
        }
        self.push("SELECT json_agg(")
            .ident(lateral)
            .push(") AS ")
            .ident(lateral);
        if let ChildOutput::Spread { fields } = output {
            for field in fields {
                self.push(", ");
                self.spread_array(child, lateral, field);
            }
        }
        self.push(" FROM (");
        self.read_query(child, Some(rows));
        self.push(") AS ").ident(lateral).push(") AS ").ident(lateral);
        if inner {
            self.push(" ON ")
                .ident(lateral)
                .push(".")
                .ident(lateral)
                .push(" IS NOT NULL");
        } else {
            self.push(" ON TRUE");
        }
    }

    /// One column of a to-many spread, as an array in the spread's order.
    fn spread_array(&mut self, child: &ReadNode, lateral: &str, field: &SpreadField) {
        self.push("COALESCE(json_agg(")
            .column(Rows::Alias(lateral), &field.name);
        if !child.order.is_empty() {
            self.push(" ORDER BY ");
            self.list(child.order.iter().enumerate(), ", ", |sql, (index, key)| {
                sql.ident(lateral).push(".").ident(&sort_name(child, index));
                sql.sort_suffix(key);
            });
        }
        self.push("), '[]') AS ")
            .ident(field.alias.as_deref().unwrap_or(&field.name));
    }

    fn where_clause(&mut self, node: &ReadNode, rows: Rows<'_>, parent: Option<Rows<'_>>) {
        self.conditions(rows, &node.filters, Some(node));
        self.join_conditions(node, rows, parent, node.filters.is_empty());
    }

    fn join_conditions(
        &mut self,
        node: &ReadNode,
        rows: Rows<'_>,
        parent: Option<Rows<'_>>,
        mut first: bool,
    ) {
        let (Some(join), Some(parent)) = (&node.join, parent) else {
            return;
        };
        let mut equal = |sql: &mut Self, left: (Rows<'_>, &str), right: (Rows<'_>, &str)| {
            sql.push(if first { " WHERE " } else { " AND " });
            first = false;
            sql.column(left.0, left.1).push(" = ").column(right.0, right.1);
        };
        match &join.relationship.cardinality {
            Cardinality::Computed { .. } => {}
            Cardinality::ManyToMany(junction) => {
                let through = Rows::Alias(&join.junction);
                for (column, far) in &junction.target_columns {
                    equal(self, (through, far), (rows, column));
                }
                for (column, near) in &junction.origin_columns {
                    equal(self, (through, near), (parent, column));
                }
            }
            Cardinality::OneToMany { columns, .. }
            | Cardinality::ManyToOne { columns, .. }
            | Cardinality::OneToOne { columns, .. } => {
                for (column, foreign) in columns {
                    equal(self, (rows, foreign), (parent, column));
                }
            }
        }
    }

    /// Groups by everything that is shown and not aggregated.
    fn group_by(&mut self, node: &ReadNode, rows: Rows<'_>) {
        if !node.is_aggregated() {
            return;
        }
        let mut first = true;
        let mut next = |sql: &mut Self| {
            sql.push(if first { " GROUP BY " } else { ", " });
            first = false;
        };
        for column in node.select.iter().filter(|column| column.aggregate.is_none()) {
            next(self);
            match &column.alias {
                Some(alias) => self.ident(alias),
                None => self.field(rows, &column.column),
            };
        }
        for (child, output) in node.children.iter().zip(&node.outputs) {
            match output {
                ChildOutput::Hidden => {}
                ChildOutput::Object { name } | ChildOutput::Array { name } => {
                    next(self);
                    self.ident(name);
                }
                ChildOutput::Spread { fields } => {
                    let Some(join) = &child.join else { continue };
                    for field in fields.iter().filter(|field| field.aggregate.is_none()) {
                        next(self);
                        self.column(
                            Rows::Alias(&join.lateral),
                            field.alias.as_deref().unwrap_or(&field.name),
                        );
                    }
                }
            }
        }
    }

    pub(super) fn limit(&mut self, range: RowRange) {
        if let Some(limit) = range.limit() {
            self.push(" LIMIT ").integer(limit);
        }
        if range.lower > 0 {
            self.push(" OFFSET ").integer(range.lower);
        }
    }

    /// `SELECT 1` for every row of a node: its filters, and those of inner joined children. No limit.
    pub(super) fn count_query(&mut self, node: &ReadNode) {
        self.count_query_below(node, None);
    }

    pub(super) fn count_query_below(&mut self, node: &ReadNode, parent: Option<Rows<'_>>) {
        let rows = Rows::of(node);
        self.push("SELECT 1");
        self.from(node, parent);
        let mut first = true;
        for condition in &node.filters {
            self.push(if first { " WHERE " } else { " AND " });
            first = false;
            self.condition(rows, condition, Some(node), true);
        }
        self.join_conditions(node, rows, parent, first);
        if let (Some(join), Some(_)) = (&node.join, parent) {
            first &= matches!(join.relationship.cardinality, Cardinality::Computed { .. });
        }
        for child in &node.children {
            if child
                .join
                .as_ref()
                .is_some_and(|join| join.kind == JoinKind::Inner)
            {
                self.push(if first { " WHERE EXISTS (" } else { " AND EXISTS (" });
                first = false;
                self.count_query_below(child, Some(rows));
                self.push(")");
            }
        }
    }
}

/// Name of the column by which a to-many spread sorts its arrays.
fn sort_name(node: &ReadNode, index: usize) -> String {
    let lateral = node.join.as_ref().map_or("", |join| join.lateral.as_str());
    format!("{lateral}_sort_{index}")
}
