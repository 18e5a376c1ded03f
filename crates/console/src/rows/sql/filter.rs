//! Filters with the operators of the REST service (CONSOLE-052).

use selvedge_introspection::{ColumnShape, TableShape, TextForm};
use selvedge_postgres::quote_identifier;

use super::list::parse_list;
use super::statement::Statement;
use crate::error::ConsoleError;
use crate::rows::request::Filter;

/// How the right side of an operator is written in SQL.
enum Operand {
    /// The value is cast to the column's type.
    OfColumn(&'static str),
    /// Both the value and the column are compared as text, as patterns need it.
    Text(&'static str),
    /// The value is a list of values of the column's type.
    List,
    /// The value is one of the words `null`, `not_null`, `true`, `false` and `unknown`, which become tests such as `is
    /// null`.
    State,
    /// The value is a full-text query, which the named function parses.
    Search(&'static str),
}

fn operand_of(operator: &str) -> Option<Operand> {
    Some(match operator {
        "eq" => Operand::OfColumn(" = "),
        "neq" => Operand::OfColumn(" <> "),
        "gt" => Operand::OfColumn(" > "),
        "gte" => Operand::OfColumn(" >= "),
        "lt" => Operand::OfColumn(" < "),
        "lte" => Operand::OfColumn(" <= "),
        "isdistinct" => Operand::OfColumn(" is distinct from "),
        "cs" => Operand::OfColumn(" @> "),
        "cd" => Operand::OfColumn(" <@ "),
        "ov" => Operand::OfColumn(" && "),
        "sl" => Operand::OfColumn(" << "),
        "sr" => Operand::OfColumn(" >> "),
        "nxr" => Operand::OfColumn(" &< "),
        "nxl" => Operand::OfColumn(" &> "),
        "adj" => Operand::OfColumn(" -|- "),
        "like" => Operand::Text(" like "),
        "ilike" => Operand::Text(" ilike "),
        "match" => Operand::Text(" ~ "),
        "imatch" => Operand::Text(" ~* "),
        "in" => Operand::List,
        "is" => Operand::State,
        "fts" => Operand::Search("to_tsquery("),
        "plfts" => Operand::Search("plainto_tsquery("),
        "phfts" => Operand::Search("phraseto_tsquery("),
        "wfts" => Operand::Search("websearch_to_tsquery("),
        _ => return None,
    })
}

/// Appends all filters joined by `and`, or `true` when there are none, so that the condition is never empty.
pub(in crate::rows) fn push_filters(
    statement: &mut Statement,
    table: &TableShape,
    filters: &[Filter],
) -> Result<(), ConsoleError> {
    if filters.is_empty() {
        statement.sql("true");
    }
    for (index, filter) in filters.iter().enumerate() {
        statement.sql(if index == 0 { "(" } else { " and (" });
        push_filter(statement, table, filter)?;
        statement.sql(")");
    }
    Ok(())
}

/// Looks up the column and the operator of a filter, and refuses a filter in which one of them is unknown.
fn parse_filter<'t>(
    table: &'t TableShape,
    filter: &Filter,
) -> Result<(&'t ColumnShape, Operand), ConsoleError> {
    let column = table
        .column(&filter.column)
        .ok_or_else(|| ConsoleError::invalid(format!("There is no column {}", filter.column)))?;
    let operand = operand_of(&filter.operator)
        .ok_or_else(|| ConsoleError::invalid(format!("There is no operator {}", filter.operator)))?;
    Ok((column, operand))
}

fn push_filter(statement: &mut Statement, table: &TableShape, filter: &Filter) -> Result<(), ConsoleError> {
    let (column, operand) = parse_filter(table, filter)?;
    if filter.not {
        statement.sql("not (");
    }
    let is_path = !filter.path.is_empty();
    let cast_type = if is_path {
        "pg_catalog.text"
    } else {
        column.cast_type.as_str()
    };
    let value = filter.value.as_deref();
    match operand {
        Operand::OfColumn(operator) => {
            push_reference(statement, column, &filter.path);
            statement.sql(operator).value(value, cast_type);
        }
        Operand::Text(operator) => {
            push_reference(statement, column, &filter.path);
            // Patterns are for texts alone, so a number or a date is compared by what people see of it.
            if !is_path && column.form != TextForm::Text {
                statement.sql("::text");
            }
            statement.sql(operator).value(value, "pg_catalog.text");
        }
        Operand::List => {
            push_reference(statement, column, &filter.path);
            push_list(statement, value.unwrap_or_default(), cast_type);
        }
        Operand::State => {
            push_reference(statement, column, &filter.path);
            statement.sql(state_test(value.unwrap_or("null"))?);
        }
        Operand::Search(function) => {
            statement.sql("to_tsvector(");
            push_reference(statement, column, &filter.path);
            statement
                .sql("::text) @@ ")
                .sql(function)
                .value(value, "pg_catalog.text")
                .sql(")");
        }
    }
    if filter.not {
        statement.sql(")");
    }
    Ok(())
}

/// Appends the left side of a comparison: the column, or the text that a path leads to in a JSON column.
fn push_reference(statement: &mut Statement, column: &ColumnShape, path: &[String]) {
    let reference = format!("t.{}", quote_identifier(&column.name));
    if path.is_empty() {
        statement.expression(&reference);
        return;
    }
    // The keys of the path are values, because they come from the request and not from the catalog.
    statement.sql("(").expression(&reference).sql(" #>> array[");
    for (index, key) in path.iter().enumerate() {
        statement.sql(if index == 0 { "" } else { ", " });
        statement.value(Some(key), "pg_catalog.text");
    }
    statement.sql("])");
}

fn push_list(statement: &mut Statement, list: &str, cast_type: &str) {
    let values = parse_list(list);
    if values.is_empty() {
        // An empty `in ()` is no valid SQL; the condition is false.
        statement.sql(" is null and false");
        return;
    }
    statement.sql(" in (");
    for (index, value) in values.iter().enumerate() {
        statement.sql(if index == 0 { "" } else { ", " });
        statement.value(Some(value), cast_type);
    }
    statement.sql(")");
}

fn state_test(state: &str) -> Result<&'static str, ConsoleError> {
    match state.to_ascii_lowercase().as_str() {
        "null" => Ok(" is null"),
        "not_null" | "not null" => Ok(" is not null"),
        "true" => Ok(" is true"),
        "false" => Ok(" is false"),
        "unknown" => Ok(" is unknown"),
        other => Err(ConsoleError::invalid(format!(
            "A value is null, not_null, true, false or unknown, but not {other}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::testing::table;

    fn filter(column: &str, operator: &str, value: &str) -> Filter {
        Filter {
            column: column.into(),
            operator: operator.into(),
            value: Some(value.into()),
            path: Vec::new(),
            not: false,
        }
    }

    fn written(filters: &[Filter]) -> String {
        let mut statement = Statement::default();
        push_filters(&mut statement, &table(&["id", "data"]), filters).expect("valid");
        statement.readable().to_owned()
    }

    #[test]
    fn console_052_operators_are_those_of_rest() {
        assert_eq!(written(&[]), "true");
        assert_eq!(written(&[filter("id", "eq", "1")]), r#"(t."id" = '1')"#);
        assert_eq!(
            written(&[filter("id", "in", "(1,2)")]),
            r#"(t."id" in ('1', '2'))"#
        );
        assert_eq!(
            written(&[filter("id", "in", "()")]),
            r#"(t."id" is null and false)"#
        );
        assert_eq!(
            written(&[filter("id", "is", "not_null"), filter("data", "ilike", "%x%")]),
            r#"(t."id" is not null) and (t."data" ilike '%x%')"#
        );
        let mut path = filter("data", "eq", "x");
        path.path = vec!["a'".into(), "b".into()];
        path.not = true;
        assert_eq!(
            written(&[path]),
            r#"(not ((t."data" #>> array['a''', 'b']) = 'x'))"#
        );
    }

    #[test]
    fn console_166_unknown_columns_operators_and_states_are_refused() {
        let shape = table(&["id"]);
        for wrong in [
            filter("id\" = 1 or true --", "eq", "1"),
            filter("id", "= 1 or", "1"),
            filter("id", "is", "null or true"),
        ] {
            let outcome = push_filters(&mut Statement::default(), &shape, &[wrong]);
            assert_eq!(outcome.expect_err("refused").code(), "invalid");
        }
    }
}
