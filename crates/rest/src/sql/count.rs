//! The query that counts: `SELECT 1` for every row of a node, without limit.

use super::builder::Sql;
use super::filter::RowsName;
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
        let rows = RowsName::from_node(node);
        self.push("SELECT 1");
        self.write_from(node, parent);
        let mut has_where = false;
        for condition in &node.filters {
            self.push(if has_where { " AND " } else { " WHERE " });
            has_where = true;
            self.write_count_condition(rows, condition, node);
        }
        has_where |= self.write_join_conditions(node, rows, parent, has_where);
        for child in &node.children {
            // A left joined embed keeps all rows of the parent, so it does not change their number.
            let is_inner = child
                .join
                .as_ref()
                .is_some_and(|join| join.kind == JoinKind::Inner);
            if is_inner {
                self.push(if has_where {
                    " AND EXISTS ("
                } else {
                    " WHERE EXISTS ("
                });
                has_where = true;
                self.write_count_subquery(child, Some(rows));
                self.push(")");
            }
        }
    }
}
