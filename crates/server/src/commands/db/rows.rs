//! Rows of a statement, printed as a table, as CSV or as JSON.

use anyhow::Result;
use serde_json::{Map, Value};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::cli::RowFormat;

/// The result of a statement: the names of its columns, and its rows as text.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    columns: Vec<String>,
    /// The types of the columns, for JSON; empty when the text has several statements.
    types: Vec<Type>,
    rows: Vec<Vec<Option<String>>>,
}

/// Prints rows to standard output.
pub(crate) fn print_rows(rows: &Rows, format: RowFormat) -> Result<()> {
    match format {
        RowFormat::Table => print!("{}", render_table(rows)),
        RowFormat::Csv => print!("{}", render_csv(rows)),
        RowFormat::Json => println!("{}", serde_json::to_string_pretty(&to_json(rows))?),
    }
    Ok(())
}

/// Runs SQL and returns the rows of its last statement that has some.
pub(crate) async fn query_rows(client: &Client, sql: &str) -> Result<Rows> {
    // A text of several statements cannot be prepared; then all values are printed as text.
    let types = match client.prepare(sql).await {
        Ok(statement) => statement
            .columns()
            .iter()
            .map(|column| column.type_().clone())
            .collect(),
        Err(_) => Vec::new(),
    };
    let mut rows = Rows {
        types,
        ..Rows::default()
    };
    for message in client.simple_query(sql).await? {
        match message {
            SimpleQueryMessage::RowDescription(columns) => {
                rows.columns = columns.iter().map(|column| column.name().to_owned()).collect();
                rows.rows.clear();
            }
            SimpleQueryMessage::Row(row) => {
                rows.rows.push(
                    (0..row.len())
                        .map(|index| row.get(index).map(str::to_owned))
                        .collect(),
                );
            }
            _ => {}
        }
    }
    Ok(rows)
}

fn render_table(rows: &Rows) -> String {
    if rows.columns.is_empty() {
        return String::new();
    }
    let cell = |value: &Option<String>| value.as_deref().unwrap_or("NULL").replace('\n', " ");
    let lines: Vec<Vec<String>> = std::iter::once(rows.columns.clone())
        .chain(rows.rows.iter().map(|row| row.iter().map(cell).collect()))
        .collect();
    let width = |index: usize| lines.iter().map(|line| line[index].chars().count()).max();
    let widths: Vec<usize> = (0..rows.columns.len())
        .map(|index| width(index).unwrap_or_default())
        .collect();
    let render = |line: &Vec<String>| {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut text = render(&lines[0]) + &render(&rule);
    text.extend(lines[1..].iter().map(render));
    text
}

/// Renders rows as CSV with a line of column names; lines end in LF, and null is empty.
pub(crate) fn render_csv(rows: &Rows) -> String {
    let quote = |value: &str| {
        if value.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", value.replace('"', "\"\""))
        } else {
            value.to_owned()
        }
    };
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let mut text = line(rows.columns.iter().map(|name| quote(name)).collect());
    for row in &rows.rows {
        let cells = row
            .iter()
            .map(|value| quote(value.as_deref().unwrap_or_default()));
        text += &line(cells.collect());
    }
    text
}

fn to_json(rows: &Rows) -> Value {
    let object = |row: &Vec<Option<String>>| {
        let values = row.iter().enumerate().map(|(index, value)| match value {
            None => Value::Null,
            Some(text) => json_value(text, rows.types.get(index)),
        });
        Value::Object(rows.columns.iter().cloned().zip(values).collect::<Map<_, _>>())
    };
    Value::Array(rows.rows.iter().map(object).collect())
}

/// A value in JSON: numbers that JSON holds exactly, truth values and JSON as such, everything else as text.
fn json_value(text: &str, kind: Option<&Type>) -> Value {
    let parsed = match kind {
        Some(&Type::BOOL) => Some(Value::Bool(text == "t")),
        Some(
            &Type::INT2
            | &Type::INT4
            | &Type::INT8
            | &Type::FLOAT4
            | &Type::FLOAT8
            | &Type::JSON
            | &Type::JSONB,
        ) => serde_json::from_str(text).ok(),
        _ => None,
    };
    parsed.unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows() -> Rows {
        Rows {
            columns: vec!["id".to_owned(), "body".to_owned()],
            types: vec![Type::INT4, Type::TEXT],
            rows: vec![
                vec![Some("1".to_owned()), Some("a \"b\", c".to_owned())],
                vec![Some("22".to_owned()), None],
            ],
        }
    }

    #[test]
    fn rows_are_printed_as_a_table_csv_and_json() {
        assert_eq!(
            render_table(&rows()),
            "id  body\n--  --------\n1   a \"b\", c\n22  NULL\n"
        );
        assert_eq!(render_csv(&rows()), "id,body\n1,\"a \"\"b\"\", c\"\n22,\n");
        assert_eq!(
            to_json(&rows()),
            json!([{ "id": 1, "body": "a \"b\", c" }, { "id": 22, "body": null }])
        );
    }
}
