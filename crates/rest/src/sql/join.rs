//! Embeds: the lateral subquery of a child, and the conditions by which its rows belong to the parent's.

use super::builder::Sql;
use super::filter::RowsName;
use crate::catalog::{Cardinality, Relationship};
use crate::identifier::QualifiedName;
use crate::plan::{ChildOutput, Join, ReadNode, Source, Spread, SpreadField};
use crate::request::ast::JoinKind;

impl Sql {
    /// ` FROM …`: the relation or result behind a node. `parent` is how the parent's rows are named.
    pub(super) fn write_from(&mut self, node: &ReadNode, parent: Option<RowsName<'_>>) {
        self.push(" FROM ");
        match (&node.join, node.source) {
            (_, Source::Result) => {
                self.ident(super::builder::SOURCE);
            }
            (Some(join), Source::Relation) => self.write_joined_relation(join, parent),
            (None, Source::Relation) => {
                self.qualified(&node.table);
            }
        }
        if let Some(alias) = &node.alias {
            self.push(" AS ").ident(alias);
        }
    }

    /// The relation of an embed; with its junction table, or as the call of a computed relationship's function.
    fn write_joined_relation(&mut self, join: &Join, parent: Option<RowsName<'_>>) {
        let relationship: &Relationship = &join.relationship;
        match &relationship.cardinality {
            Cardinality::Computed { function, .. } => {
                self.write_computed_relationship(function, &relationship.origin, parent);
            }
            Cardinality::ManyToMany(junction) => {
                self.qualified(&junction.table)
                    .push(" AS ")
                    .ident(&join.junction)
                    .push(", ");
                self.qualified(&relationship.target);
            }
            _ => {
                self.qualified(&relationship.target);
            }
        }
    }

    /// `function(parent::origin)`: the cast picks the overload that takes the origin's row type.
    fn write_computed_relationship(
        &mut self,
        function: &QualifiedName,
        origin: &QualifiedName,
        parent: Option<RowsName<'_>>,
    ) {
        let call = |sql: &mut Self| {
            sql.qualified(function).push("(");
            match parent {
                Some(parent) if sql.for_citus => sql.typed_row(parent, origin),
                _ => sql
                    .ident(parent.map_or("", RowsName::row))
                    .push("::")
                    .qualified(origin),
            };
            sql.push(")");
        };
        if self.for_citus {
            self.write_opaque_rows(call);
        } else {
            call(self);
        }
    }

    /// ` LEFT JOIN LATERAL (…) AS … ON …` of a child. A to-one child is its one row; a to-many child is one row that holds
    /// the array of its rows, under the name of the subquery itself.
    pub(super) fn write_lateral_join(
        &mut self,
        child: &ReadNode,
        output: &ChildOutput,
        parent: RowsName<'_>,
    ) {
        let Some(join) = &child.join else { return };
        if self.write_grouped_child(child, join, parent) {
            return;
        }
        let is_inner = join.kind == JoinKind::Inner;
        let lateral = join.lateral.as_str();
        self.push(if is_inner {
            " INNER JOIN LATERAL ("
        } else {
            " LEFT JOIN LATERAL ("
        });
        if join.relationship.is_to_one() {
            self.write_select(child, Some(parent));
            self.push(") AS ").ident(lateral).push(" ON TRUE");
            return;
        }
        // Without matching rows `json_agg` is null: a left join then shows `[]`, and an inner join drops the parent.
        self.push("SELECT json_agg(")
            .ident(lateral)
            .push(") AS ")
            .ident(lateral);
        if let ChildOutput::Spread { fields } = output {
            for field in fields {
                self.push(", ");
                self.write_spread_array(child, lateral, field);
            }
        }
        // The inner query sorts and limits; `json_agg` around it keeps that order.
        self.push(" FROM (");
        self.write_select(child, Some(parent));
        self.push(") AS ").ident(lateral).push(") AS ").ident(lateral);
        if is_inner {
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
    fn write_spread_array(&mut self, child: &ReadNode, lateral: &str, field: &SpreadField) {
        self.push("COALESCE(json_agg(")
            .column(RowsName::Alias(lateral), &field.name);
        if !child.order.is_empty() {
            self.push(" ORDER BY ");
            self.list(child.order.iter().enumerate(), ", ", |sql, (index, key)| {
                sql.ident(lateral).push(".").ident(&sort_column(child, index));
                sql.write_sort_suffix(key);
            });
        }
        self.push("), '[]') AS ")
            .ident(field.alias.as_deref().unwrap_or(&field.name));
    }

    /// Writes the conditions that join the rows of a many-to-many embed to those of the junction table; nothing for other embeds.
    /// Returns whether there is a `WHERE` now.
    pub(super) fn write_junction_conditions(
        &mut self,
        node: &ReadNode,
        rows: RowsName<'_>,
        has_where: bool,
    ) -> bool {
        let join = node.join.as_ref();
        let Some((join, Cardinality::ManyToMany(junction))) =
            join.map(|join| (join, &join.relationship.cardinality))
        else {
            return has_where;
        };
        let through = RowsName::Alias(&join.junction);
        for (index, (column, far)) in junction.target_columns.iter().enumerate() {
            let is_first = !has_where && index == 0;
            self.push(if is_first { " WHERE " } else { " AND " });
            self.column(through, far).push(" = ").column(rows, column);
        }
        true
    }

    /// Writes the conditions that join a child's rows to the parent's, with `WHERE` in front of the first. Returns whether
    /// anything was written.
    pub(super) fn write_join_conditions(
        &mut self,
        node: &ReadNode,
        rows: RowsName<'_>,
        parent: Option<RowsName<'_>>,
        has_where: bool,
    ) -> bool {
        let (Some(join), Some(parent)) = (&node.join, parent) else {
            return false;
        };
        let mut has_where = has_where;
        let mut written = false;
        let mut equal = |left: (RowsName<'_>, &str), right: (RowsName<'_>, &str)| {
            self.push(if has_where { " AND " } else { " WHERE " });
            (has_where, written) = (true, true);
            self.column(left.0, left.1).push(" = ").column(right.0, right.1);
        };
        match &join.relationship.cardinality {
            Cardinality::Computed { .. } => {}
            // The target joins the junction, and the junction joins the parent's row.
            Cardinality::ManyToMany(junction) => {
                let through = RowsName::Alias(&join.junction);
                for (column, far) in &junction.target_columns {
                    equal((through, far), (rows, column));
                }
                for (column, near) in &junction.origin_columns {
                    equal((through, near), (parent, column));
                }
            }
            Cardinality::OneToMany { columns, .. }
            | Cardinality::ManyToOne { columns, .. }
            | Cardinality::OneToOne { columns, .. } => {
                for (column, foreign) in columns {
                    equal((rows, foreign), (parent, column));
                }
            }
        }
        written
    }
}

/// Name of the column by which a to-many spread sorts its arrays.
pub(super) fn sort_column(node: &ReadNode, index: usize) -> String {
    debug_assert_eq!(node.spread, Spread::ToMany, "only arrays are sorted from outside");
    let lateral = node.join.as_ref().map_or("", |join| join.lateral.as_str());
    format!("{lateral}_sort_{index}")
}
