//! Rows of a statement, printed as a table, as CSV or as JSON.

use anyhow::Result;
use selvedge_terminal::print_text;
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
    let text = match format {
        RowFormat::Table => render_table(rows),
        RowFormat::Csv => render_csv(rows),
        RowFormat::Json => render_json(rows)?,
    };
    Ok(print_text(&text)?)
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

/// Renders rows as an array of objects. Numbers and JSON are written as PostgreSQL has written them, because they may have more
/// digits than a program reads; of equal column names the later ones get a number.
fn render_json(rows: &Rows) -> Result<String> {
    let mut names: Vec<String> = Vec::with_capacity(rows.columns.len());
    for column in &rows.columns {
        let numbered = (2..).map(|number| format!("{column}_{number}"));
        let name = std::iter::once(column.clone())
            .chain(numbered)
            .find(|name| !names.contains(name))
            .unwrap_or_default();
        names.push(name);
    }
    let mut objects = Vec::with_capacity(rows.rows.len());
    for row in &rows.rows {
        let mut members = Vec::with_capacity(row.len());
        for (index, (name, value)) in names.iter().zip(row).enumerate() {
            let value = match value {
                None => "null".to_owned(),
                Some(text) => json_value(text, rows.types.get(index))?,
            };
            members.push(format!("    {}: {value}", serde_json::to_string(name)?));
        }
        objects.push(format!("  {{\n{}\n  }}", members.join(",\n")));
    }
    Ok(match objects.is_empty() {
        true => "[]\n".to_owned(),
        false => format!("[\n{}\n]\n", objects.join(",\n")),
    })
}

/// A value in JSON: numbers, truth values and JSON as such, everything else as text.
fn json_value(text: &str, kind: Option<&Type>) -> Result<String> {
    let is_json = matches!(
        kind,
        Some(
            &Type::INT2
                | &Type::INT4
                | &Type::INT8
                | &Type::FLOAT4
                | &Type::FLOAT8
                | &Type::JSON
                | &Type::JSONB
        )
    );
    if kind == Some(&Type::BOOL) {
        return Ok((text == "t").to_string());
    }
    // NaN and infinity are no numbers of JSON.
    if is_json && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return Ok(text.to_owned());
    }
    Ok(serde_json::to_string(text)?)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
        let parsed: Value = serde_json::from_str(&render_json(&rows()).unwrap()).unwrap();
        assert_eq!(
            parsed,
            json!([{ "id": 1, "body": "a \"b\", c" }, { "id": 22, "body": null }])
        );
    }

    #[test]
    fn json_keeps_every_digit_and_every_column() {
        let rows = Rows {
            columns: vec!["a".to_owned(), "a".to_owned(), "a_2".to_owned()],
            types: vec![Type::JSONB, Type::FLOAT8, Type::BOOL],
            rows: vec![vec![
                Some("{\"n\": 12345678901234567890.123}".to_owned()),
                Some("NaN".to_owned()),
                Some("t".to_owned()),
            ]],
        };

        assert_eq!(
            render_json(&rows).unwrap(),
            "[\n  {\n    \"a\": {\"n\": 12345678901234567890.123},\n    \"a_2\": \"NaN\",\n    \"a_2_2\": true\n  }\n]\n"
        );
    }
}
