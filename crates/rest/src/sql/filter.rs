//! Columns, conditions and sort keys: the parts that reads, writes and counts have in common.

use super::builder::Sql;
use crate::identifier::QualifiedName;
use crate::plan::{ColumnRef, Condition, ReadNode, SortKey, SortTarget};
use crate::request::ast::{
    Direction, JsonOperand, LogicOperator, Nulls, Operation, QuantOperator, Quantifier,
};

/// How the rows that a column belongs to are named in SQL.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowsName<'a> {
    /// `"schema"."name"`: the root of a read has no alias.
    Table(&'a QualifiedName),
    Alias(&'a str),
}

/// How `embed=is.null` is tested.
#[derive(Debug, Clone, Copy)]
enum EmbedTest {
    /// By the row of the lateral join.
    Joined,
    /// By a subquery: a count query joins no embeds.
    Exists,
}

impl<'a> RowsName<'a> {
    /// The name of a node's rows.
    pub(super) fn from_node(node: &'a ReadNode) -> Self {
        match &node.alias {
            Some(alias) => Self::Alias(alias),
            None => Self::Table(&node.table),
        }
    }

    /// The unqualified name: as an expression, the whole row.
    pub(super) fn row(self) -> &'a str {
        match self {
            Self::Table(table) => &table.name,
            Self::Alias(alias) => alias,
        }
    }
}

impl Sql {
    /// Appends the name of rows.
    fn rows(&mut self, rows: RowsName<'_>) -> &mut Self {
        match rows {
            RowsName::Table(table) => self.qualified(table),
            RowsName::Alias(alias) => self.ident(alias),
        }
    }

    /// A column that a body writes. A table may have one that is named `*`, so the name never means all of them.
    pub(super) fn written_column(&mut self, rows: RowsName<'_>, name: &str) -> &mut Self {
        self.rows(rows).push(".").ident(name)
    }

    /// `rows.column`, or `rows.*`.
    pub(super) fn column(&mut self, rows: RowsName<'_>, name: &str) -> &mut Self {
        self.rows(rows).push(".");
        if name == "*" {
            self.push("*")
        } else {
            self.ident(name)
        }
    }

    /// A column with its path, as it is stored; inside of `to_tsvector` for a text search in text.
    pub(super) fn field(&mut self, rows: RowsName<'_>, column: &ColumnRef) -> &mut Self {
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

    /// A field without text search around it.
    fn field_inside(&mut self, rows: RowsName<'_>, column: &ColumnRef) -> &mut Self {
        if column.full_row {
            return self.ident(rows.row());
        }
        if column.counts_rows {
            // PostgreSQL would read `rows.count` as `count(rows)`, which forms every row only to see that it is not null.
            return self.push("count(*)");
        }
        if column.path.is_empty() {
            return self.field_value(rows, column);
        }
        if column.to_json {
            self.push("to_jsonb(").field_value(rows, column).push(")");
        } else {
            self.field_value(rows, column);
        }
        for step in &column.path {
            self.push(if step.as_text { "->>" } else { "->" });
            match &step.operand {
                JsonOperand::Key(key) => self.param(key),
                // A bare parameter would be text, by which `->` looks up a key instead of an index.
                JsonOperand::Index(index) => self.param(index).push("::int"),
            };
        }
        self
    }

    /// A column without its path.
    fn field_value(&mut self, rows: RowsName<'_>, column: &ColumnRef) -> &mut Self {
        match &column.computed {
            Some(computed) => self
                .qualified(&computed.function)
                .push("(")
                .typed_row(rows, &computed.table)
                .push(")"),
            None => self.column(rows, &column.name),
        }
    }

    /// A row as a value of a table's row type. Citus gives the row itself the type of its shard.
    pub(super) fn typed_row(&mut self, rows: RowsName<'_>, table: &QualifiedName) -> &mut Self {
        self.push("ROW(").column(rows, "*").push(")::").qualified(table)
    }

    /// A column as clients see it: through the function of its domain's representation, if it has one.
    pub(super) fn shown_field(&mut self, rows: RowsName<'_>, column: &ColumnRef) -> &mut Self {
        match &column.transform {
            Some(function) => self.push(function).push("(").field(rows, column).push(")"),
            None => self.field(rows, column),
        }
    }

    /// ` WHERE` and all conditions joined by AND, if there are any. `node` is whose embeds the conditions may mean.
    pub(super) fn write_conditions(
        &mut self,
        rows: RowsName<'_>,
        conditions: &[Condition],
        node: Option<&ReadNode>,
    ) {
        if !conditions.is_empty() {
            self.push(" WHERE ");
            self.list(conditions, " AND ", |sql, condition| {
                sql.write_condition(rows, condition, node, EmbedTest::Joined)
            });
        }
    }

    /// A condition on the rows of a write's payload or relation, which have no embeds.
    pub(super) fn write_plain_condition(&mut self, rows: RowsName<'_>, condition: &Condition) {
        self.write_condition(rows, condition, None, EmbedTest::Joined);
    }

    /// A condition in a count query.
    pub(super) fn write_count_condition(
        &mut self,
        rows: RowsName<'_>,
        condition: &Condition,
        node: &ReadNode,
    ) {
        self.write_condition(rows, condition, Some(node), EmbedTest::Exists);
    }

    /// Writes one condition; `test` says how embeds are tested.
    fn write_condition(
        &mut self,
        rows: RowsName<'_>,
        condition: &Condition,
        node: Option<&ReadNode>,
        test: EmbedTest,
    ) {
        match condition {
            Condition::Group {
                negated,
                operator,
                children,
            } => {
                self.push(if *negated { "NOT (" } else { "(" });
                let separator = match operator {
                    LogicOperator::And => " AND ",
                    LogicOperator::Or => " OR ",
                };
                self.list(children, separator, |sql, child| {
                    sql.write_condition(rows, child, node, test)
                });
                self.push(")");
            }
            Condition::Embed { child, present } => {
                if let Some(child) = node.and_then(|node| node.children.get(*child)) {
                    self.write_embed_test(rows, child, *present, test);
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
                self.write_operation(column, operation);
            }
        }
    }

    /// Whether an embed has a row. `IS DISTINCT FROM NULL` looks at the row as a whole; `IS NOT NULL` would be false for a
    /// row with a single null column.
    fn write_embed_test(&mut self, rows: RowsName<'_>, child: &ReadNode, present: bool, test: EmbedTest) {
        match (test, &child.join) {
            (EmbedTest::Exists, _) => self.write_child_test(child, rows, present),
            // Totals are one row for each parent, also where they count none.
            (EmbedTest::Joined, Some(_)) if child.joins_totals() => {
                self.push(if present { "TRUE" } else { "FALSE" });
            }
            (EmbedTest::Joined, Some(join)) => {
                self.ident(&join.lateral);
                self.push(if present {
                    " IS DISTINCT FROM NULL"
                } else {
                    " IS NOT DISTINCT FROM NULL"
                });
            }
            (EmbedTest::Joined, None) => {}
        }
    }

    /// An operator and its value, behind the field.
    fn write_operation(&mut self, column: &ColumnRef, operation: &Operation) {
        match operation {
            Operation::Simple(operator, value) => {
                self.push(" ").push(operator.sql()).push(" ").value(column, value);
            }
            Operation::Quant(operator, quantifier, value) => {
                self.write_quantified(column, *operator, *quantifier, value);
            }
            Operation::Is(value) => {
                self.push(" IS ").push(value.sql());
            }
            Operation::IsDistinct(value) => {
                self.push(" IS DISTINCT FROM ").param(value);
            }
            Operation::In(values) => self.write_in_list(column, values),
            Operation::TextSearch(operator, configuration, value) => {
                self.push(" @@ ").push(operator.sql()).push("(");
                if let Some(configuration) = configuration {
                    self.param(configuration).push(", ");
                }
                self.param(value).push(")");
            }
        }
    }

    /// `= value`, or `= ANY(value)` where the value is an array literal. Patterns write `%` as `*`, which URLs need not
    /// encode.
    fn write_quantified(
        &mut self,
        column: &ColumnRef,
        operator: QuantOperator,
        quantifier: Option<Quantifier>,
        value: &str,
    ) {
        self.push(" ").push(operator.sql()).push(" ");
        match quantifier {
            Some(Quantifier::Any) => self.push("ANY("),
            Some(Quantifier::All) => self.push("ALL("),
            None => self,
        };
        if operator.has_wildcard() {
            // The pattern decides whether an index helps, which a generic plan cannot know.
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

    /// `= ANY (…)` with one array parameter, so that the text does not depend on the number of values.
    fn write_in_list(&mut self, column: &ColumnRef, values: &[String]) {
        // `in.()` parses as one empty value; it means no value at all.
        if matches!(values, [only] if only.is_empty()) {
            self.push(" = ANY('{}')");
            return;
        }
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

    /// A value to compare with; through the function of the column's domain representation, if it has one.
    fn value(&mut self, column: &ColumnRef, value: &str) -> &mut Self {
        match &column.transform {
            Some(function) => self.push(function).push("(").param(value).push(")"),
            None => self.param(value),
        }
    }

    /// ` ORDER BY …`, if there is anything to sort by.
    pub(super) fn write_order_by(&mut self, rows: RowsName<'_>, keys: &[SortKey], node: &ReadNode) {
        if !keys.is_empty() {
            self.push(" ORDER BY ");
            self.list(keys, ", ", |sql, key| {
                match &key.target {
                    SortTarget::Own(column) => {
                        sql.field(rows, column);
                    }
                    SortTarget::Related { child, column } => {
                        if let Some(join) = node.children.get(*child).and_then(|child| child.join.as_ref()) {
                            sql.field(RowsName::Alias(&join.lateral), column);
                        }
                    }
                }
                sql.write_sort_suffix(key);
            });
        }
    }

    /// ` ASC` or ` DESC`, ` NULLS FIRST` or ` NULLS LAST`, where the client chose one.
    pub(super) fn write_sort_suffix(&mut self, key: &SortKey) {
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

/// `{"a","b"}` with quotes and backslashes escaped: an array literal, whose type PostgreSQL takes from the column that
/// it is compared with.
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
