//! Columns, conditions and sort keys.

use super::Sql;
use crate::identifier::QualifiedName;
use crate::plan::{ColumnRef, Condition, ReadNode, SortKey, SortTarget};
use crate::request::ast::{Direction, JsonOperand, LogicOperator, Nulls, Operation, Quantifier};

/// How the rows that a column belongs to are named in SQL.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rows<'a> {
    Table(&'a QualifiedName),
    Alias(&'a str),
}

impl<'a> Rows<'a> {
    pub(super) fn of(node: &'a ReadNode) -> Self {
        match &node.alias {
            Some(alias) => Self::Alias(alias),
            None => Self::Table(&node.table),
        }
    }

    /// The row itself, as a value.
    fn name(self) -> &'a str {
        match self {
            Self::Table(table) => &table.name,
            Self::Alias(alias) => alias,
        }
    }
}

impl Sql {
    pub(super) fn rows(&mut self, rows: Rows<'_>) -> &mut Self {
        match rows {
            Rows::Table(table) => self.qualified(table),
            Rows::Alias(alias) => self.ident(alias),
        }
    }

    /// `rows.column`, or `rows.*`.
    pub(super) fn column(&mut self, rows: Rows<'_>, name: &str) -> &mut Self {
        self.rows(rows).push(".");
        if name == "*" {
            self.push("*")
        } else {
            self.ident(name)
        }
    }

    /// A column with its path, without conversion.
    pub(super) fn field(&mut self, rows: Rows<'_>, column: &ColumnRef) -> &mut Self {
        if let Some(configuration) = &column.text_search {
            self.push("to_tsvector(");
            if let Some(configuration) = configuration {
                self.param(configuration).push(", ");
            }
            self.field_inside(rows, column).push(")")
        } else {
            self.field_inside(rows, column)
        }
    }

    fn field_inside(&mut self, rows: Rows<'_>, column: &ColumnRef) -> &mut Self {
        if column.full_row {
            return self.ident(rows.name());
        }
        if column.counts_rows {
            // What PostgreSQL makes of it is `count(rows)`, which reads every row to find that it is one.
            return self.push("count(*)");
        }
        if column.path.is_empty() {
            return self.column(rows, &column.name);
        }
        if column.to_json {
            self.push("to_jsonb(").column(rows, &column.name).push(")");
        } else {
            self.column(rows, &column.name);
        }
        for step in &column.path {
            self.push(if step.as_text { "->>" } else { "->" });
            match &step.operand {
                JsonOperand::Key(key) => self.param(key),
                JsonOperand::Index(index) => self.param(index).push("::int"),
            };
        }
        self
    }

    /// A column as clients see it.
    pub(super) fn shown_field(&mut self, rows: Rows<'_>, column: &ColumnRef) -> &mut Self {
        match &column.transform {
            Some(function) => self.push(function).push("(").field(rows, column).push(")"),
            None => self.field(rows, column),
        }
    }

    /// All conditions joined by AND, with `WHERE` in front if there are any.
    pub(super) fn conditions(&mut self, rows: Rows<'_>, conditions: &[Condition], node: Option<&ReadNode>) {
        if !conditions.is_empty() {
            self.push(" WHERE ");
            self.list(conditions, " AND ", |sql, condition| {
                sql.condition(rows, condition, node, false)
            });
        }
    }

    /// One condition. In a count query embeds are not joined, so their conditions become `EXISTS`.
    pub(super) fn condition(
        &mut self,
        rows: Rows<'_>,
        condition: &Condition,
        node: Option<&ReadNode>,
        in_count: bool,
    ) {
        match condition {
            Condition::Group {
                negated,
                operator,
                children,
            } => {
                self.push(if *negated { "NOT (" } else { "(" });
                let separator = if *operator == LogicOperator::And {
                    " AND "
                } else {
                    " OR "
                };
                self.list(children, separator, |sql, child| {
                    sql.condition(rows, child, node, in_count)
                });
                self.push(")");
            }
            Condition::Embed { child, present } => {
                let Some(child) = node.and_then(|node| node.children.get(*child)) else {
                    return;
                };
                if in_count {
                    self.push(if *present { "EXISTS (" } else { "NOT EXISTS (" });
                    self.count_query_below(child, Some(rows));
                    self.push(")");
                } else if let Some(join) = &child.join {
                    self.ident(&join.lateral);
                    self.push(if *present {
                        " IS DISTINCT FROM NULL"
                    } else {
                        " IS NOT DISTINCT FROM NULL"
                    });
                }
            }
            Condition::Filter {
                column,
                negated,
                operation,
            } => {
                if *negated {
                    self.push("NOT ");
                }
                self.field(rows, column);
                self.operation(column, operation);
            }
        }
    }

    fn operation(&mut self, column: &ColumnRef, operation: &Operation) {
        match operation {
            Operation::Simple(operator, value) => {
                self.push(" ").push(operator.sql()).push(" ").value(column, value);
            }
            Operation::Quant(operator, quantifier, value) => {
                self.push(" ").push(operator.sql()).push(" ");
                match quantifier {
                    Some(Quantifier::Any) => self.push("ANY("),
                    Some(Quantifier::All) => self.push("ALL("),
                    None => self,
                };
                if operator.has_wildcard() {
                    self.wants_custom_plan = true;
                    self.param(&value.replace('*', "%"));
                } else {
                    self.value(column, value);
                }
                if quantifier.is_some() {
                    self.wants_custom_plan = true;
                    self.push(")");
                }
            }
            Operation::Is(value) => {
                self.push(" IS ").push(value.sql());
            }
            Operation::IsDistinct(value) => {
                self.push(" IS DISTINCT FROM ").param(value);
            }
            Operation::In(values) if matches!(values.as_slice(), [only] if only.is_empty()) => {
                self.push(" = ANY('{}')");
            }
            Operation::In(values) => {
                self.wants_custom_plan = true;
                let literal = array_literal(values);
                match &column.transform {
                    Some(function) => self
                        .push(" = ANY (SELECT ")
                        .push(function)
                        .push("(unnest(")
                        .param(&literal)
                        .push("::text[])))"),
                    None => self.push(" = ANY (").param(&literal).push(")"),
                };
            }
            Operation::TextSearch(operator, configuration, value) => {
                self.push(" @@ ").push(operator.sql()).push("(");
                if let Some(configuration) = configuration {
                    self.param(configuration).push(", ");
                }
                self.param(value).push(")");
            }
        }
    }

    /// A value to compare with, converted from the form that clients use.
    fn value(&mut self, column: &ColumnRef, value: &str) -> &mut Self {
        match &column.transform {
            Some(function) => self.push(function).push("(").param(value).push(")"),
            None => self.param(value),
        }
    }

    /// `ORDER BY …`, if there is anything to sort by.
    pub(super) fn order_by(&mut self, rows: Rows<'_>, keys: &[SortKey], node: &ReadNode) {
        if !keys.is_empty() {
            self.push(" ORDER BY ");
            self.list(keys, ", ", |sql, key| {
                match &key.target {
                    SortTarget::Own(column) => {
                        sql.field(rows, column);
                    }
                    SortTarget::Related { child, column } => {
                        if let Some(join) = node.children.get(*child).and_then(|child| child.join.as_ref()) {
                            sql.field(Rows::Alias(&join.lateral), column);
                        }
                    }
                }
                sql.sort_suffix(key);
            });
        }
    }

    pub(super) fn sort_suffix(&mut self, key: &SortKey) {
        match key.direction {
            Some(Direction::Ascending) => self.push(" ASC"),
            Some(Direction::Descending) => self.push(" DESC"),
            None => self,
        };
        match key.nulls {
            Some(Nulls::First) => self.push(" NULLS FIRST"),
            Some(Nulls::Last) => self.push(" NULLS LAST"),
            None => self,
        };
    }
}

/// `{"a","b"}` with quotes and backslashes escaped: an array that PostgreSQL types by the column beside it.
pub(super) fn array_literal(values: &[String]) -> String {
    let mut literal = String::with_capacity(2 + values.iter().map(|value| value.len() + 3).sum::<usize>());
    literal.push('{');
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            literal.push(',');
        }
        literal.push('"');
        for c in value.chars() {
            if matches!(c, '"' | '\\') {
                literal.push('\\');
            }
            literal.push(c);
        }
        literal.push('"');
    }
    literal.push('}');
    literal
}
