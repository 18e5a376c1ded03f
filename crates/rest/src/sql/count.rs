//! The query that counts: `SELECT 1` for every row of a node, without limit.

use super::builder::Sql;
use super::filter::RowsName;
use super::grouped_join::relationship_keys;
use crate::plan::ReadNode;
use crate::request::ast::JoinKind;

impl Sql {
    /// A row for every row of the root: its filters apply, and so do its inner joined embeds.
    pub(super) fn write_count_query(&mut self, root: &ReadNode) {
        self.write_count_subquery(root, None);
    }

    /// Writes the count of an embed's rows for one row of the parent. Nested embeds are not joined but tested by `EXISTS`,
    /// which stops at the first row.
    pub(super) fn write_count_subquery(&mut self, node: &ReadNode, parent: Option<RowsName<'_>>) {
        self.push("SELECT 1");
        self.write_counted_rows(node, parent);
    }

    /// Writes ` FROM … WHERE …` of the rows to count.
    fn write_counted_rows(&mut self, node: &ReadNode, parent: Option<RowsName<'_>>) {
        let rows = RowsName::from_node(node);
        self.write_from(node, parent);
        let mut has_where = false;
        for condition in &node.filters {
            self.push(if has_where { " AND " } else { " WHERE " });
            has_where = true;
            self.write_count_condition(rows, condition, node);
        }
        has_where |= if parent.is_some() {
            self.write_join_conditions(node, rows, parent, has_where)
        } else {
            self.write_junction_conditions(node, rows, has_where)
        };
        for child in &node.children {
            // A left joined embed keeps all rows of the parent, so it does not change their number.
            let is_inner = child
                .join
                .as_ref()
                .is_some_and(|join| join.kind == JoinKind::Inner);
            if is_inner {
                self.push(if has_where { " AND " } else { " WHERE " });
                has_where = true;
                self.write_child_test(child, rows, true);
            }
        }
    }

    /// Writes the condition that a row of the parent has a row of an embed, or has none. Citus refuses most correlated subqueries, but
    /// runs others by themselves.
    pub(super) fn write_child_test(&mut self, child: &ReadNode, parent: RowsName<'_>, present: bool) {
        let join = child.join.as_ref().filter(|_| self.for_citus);
        let Some(keys) = join.and_then(|join| relationship_keys(child, join)) else {
            self.push(if present { "EXISTS (" } else { "NOT EXISTS (" });
            self.write_count_subquery(child, Some(parent));
            self.push(")");
            return;
        };
        self.push("((");
        self.list(&keys, ", ", |sql, key| {
            sql.column(parent, key.parent);
        });
        self.push(") IN (SELECT ");
        self.list(&keys, ", ", |sql, key| {
            sql.column(key.rows, key.column);
        });
        self.write_counted_rows(child, None);
        // A null among the keys makes IN null, where a row has no match.
        self.push(if present { "))" } else { ") IS NOT TRUE)" });
    }
}
