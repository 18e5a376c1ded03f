//! Writes the SQL condition that selects the rows which a request is about.

use std::fmt::Write;

use selvedge_postgres::quote_identifier;

use super::verb::{Filter, RowId, TextParam};
use crate::SimulationError;
use crate::catalog::Table;

/// An SQL condition with its parameters and the columns that it reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Condition {
    /// The condition without the keyword `where`, or an empty text when it selects all rows.
    pub(crate) sql: String,
    pub(crate) params: Vec<TextParam>,
    /// The columns that the condition reads, because the role needs the privilege SELECT on each of them.
    pub(crate) columns: Vec<String>,
}

impl Condition {
    /// Returns the condition as a `where` clause, or an empty text when it selects all rows.
    pub(crate) fn where_clause(&self) -> String {
        match self.sql.as_str() {
            "" => String::new(),
            sql => format!(" where {sql}"),
        }
    }

    fn add_conjunct(&mut self, sql: &str, column: &str) {
        if !self.sql.is_empty() {
            self.sql.push_str(" and ");
        }
        self.sql.push_str(sql);
        if !self.columns.iter().any(|known| known == column) {
            self.columns.push(column.to_owned());
        }
    }

    /// Adds a parameter of the given type and returns its place, for example `$2::integer`.
    fn param(&mut self, value: &str, data_type: &str) -> String {
        self.params.push(TextParam(Some(value.to_owned())));
        format!("${}::text::{data_type}", self.params.len())
    }

    /// Limits the condition to rows with one of these primary keys.
    pub(crate) fn restrict_to_keys(
        &mut self,
        table: &Table,
        keys: &[Vec<String>],
    ) -> Result<(), SimulationError> {
        let mut alternatives = Vec::with_capacity(keys.len());
        for key in keys {
            let mut parts = Vec::with_capacity(key.len());
            for (name, value) in table.key.iter().zip(key) {
                let data_type = table.column(name)?.data_type.clone();
                parts.push(format!(
                    "{} = {}",
                    quote_identifier(name),
                    self.param(value, &data_type)
                ));
            }
            alternatives.push(format!("({})", parts.join(" and ")));
        }
        let sql = match alternatives.is_empty() {
            true => "false".to_owned(),
            false => format!("({})", alternatives.join(" or ")),
        };
        for name in &table.key {
            if !self.columns.contains(name) {
                self.columns.push(name.clone());
            }
        }
        if !self.sql.is_empty() {
            self.sql.push_str(" and ");
        }
        self.sql.push_str(&sql);
        Ok(())
    }
}

/// Builds the condition of a request: the row that it names, or the rows that its filters match.
///
/// # Errors
/// [`SimulationError::Invalid`] for unknown columns and operators, and for a key of another length.
pub(crate) fn build_condition(
    table: &Table,
    row: Option<&RowId>,
    filters: &[Filter],
) -> Result<Condition, SimulationError> {
    let mut condition = Condition::default();
    match row {
        Some(RowId::Key { key, .. }) => {
            if key.is_empty() || key.len() != table.key.len() {
                return Err(SimulationError::Invalid(
                    "The row's key does not fit the primary key of the table.".into(),
                ));
            }
            condition.restrict_to_keys(table, std::slice::from_ref(key))?;
        }
        // The table has no primary key, so the row is found by its ctid, which stays the same until the row is updated.
        Some(RowId::Place { tableoid, ctid, .. }) => {
            let place = format!(
                "tableoid = {} and ctid = {}",
                condition.param(tableoid, "oid"),
                condition.param(ctid, "tid")
            );
            condition.sql = place;
        }
        None => {}
    }
    // Filters count in addition to a row, as they would in a URL.
    for filter in filters {
        add_filter(&mut condition, table, filter)?;
    }
    Ok(condition)
}

fn add_filter(condition: &mut Condition, table: &Table, filter: &Filter) -> Result<(), SimulationError> {
    let column = table.column(&filter.column)?;
    let (left, data_type) = filter_target(condition, column.data_type.clone(), filter);
    let (negated, operator) = match filter.operator.strip_prefix("not.") {
        Some(rest) => (true, rest),
        None => (false, filter.operator.as_str()),
    };
    let test = match operator {
        "eq" | "neq" | "gt" | "gte" | "lt" | "lte" | "cs" | "cd" | "ov" => {
            let value = condition.param(&filter.value, &data_type);
            format!("{left} {} {value}", symbol(operator))
        }
        "like" | "ilike" | "match" | "imatch" => {
            // REST writes the wildcard of LIKE as `*`, because `%` would have to be encoded in a URL.
            let pattern = match operator.ends_with("like") {
                true => filter.value.replace('*', "%"),
                false => filter.value.clone(),
            };
            let value = condition.param(&pattern, "text");
            format!("{left} {} {value}", symbol(operator))
        }
        "is" => format!("{left} is {}", is_operand(&filter.value)?),
        "in" => {
            let mut list = String::new();
            for value in split_list(&filter.value) {
                let place = condition.param(&value, &data_type);
                write!(list, "{}{place}", if list.is_empty() { "" } else { ", " })
                    .expect("writing to a string");
            }
            match list.is_empty() {
                true => "false".to_owned(),
                false => format!("{left} in ({list})"),
            }
        }
        unknown => {
            return Err(SimulationError::Invalid(format!(
                "The operator {unknown:?} cannot be simulated."
            )));
        }
    };
    let sql = if negated { format!("not ({test})") } else { test };
    condition.add_conjunct(&sql, &filter.column);
    Ok(())
}

/// Returns the left side of a filter as SQL and the type of its right side, which is text for a value inside of a JSON
/// column.
fn filter_target(condition: &mut Condition, data_type: String, filter: &Filter) -> (String, String) {
    let column = quote_identifier(&filter.column);
    if filter.path.is_empty() {
        return (column, data_type);
    }
    let steps: Vec<String> = filter
        .path
        .iter()
        .map(|step| condition.param(step, "text"))
        .collect();
    (
        format!("({column} #>> array[{}])", steps.join(", ")),
        "text".to_owned(),
    )
}

fn symbol(operator: &str) -> &'static str {
    match operator {
        "neq" => "<>",
        "gt" => ">",
        "gte" => ">=",
        "lt" => "<",
        "lte" => "<=",
        "cs" => "@>",
        "cd" => "<@",
        "ov" => "&&",
        "like" => "like",
        "ilike" => "ilike",
        "match" => "~",
        "imatch" => "~*",
        _ => "=",
    }
}

fn is_operand(value: &str) -> Result<&'static str, SimulationError> {
    match value.to_ascii_lowercase().as_str() {
        "null" => Ok("null"),
        "not_null" => Ok("not null"),
        "true" => Ok("true"),
        "false" => Ok("false"),
        "unknown" => Ok("unknown"),
        _ => Err(SimulationError::Invalid(
            "The operator \"is\" takes null, not_null, true, false or unknown.".into(),
        )),
    }
}

/// Splits a list such as `(a,"b,c")`: commas separate values, double quotes hold a value with commas together, and a
/// backslash takes the next character as it is.
fn split_list(text: &str) -> Vec<String> {
    let inner = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or(text);
    if inner.is_empty() {
        return Vec::new();
    }
    let mut values = vec![String::new()];
    let (mut quoted, mut chars) = (false, inner.chars());
    while let Some(char) = chars.next() {
        match char {
            '"' => quoted = !quoted,
            '\\' if quoted => values.last_mut().expect("never empty").extend(chars.next()),
            ',' if !quoted => values.push(String::new()),
            other => values.last_mut().expect("never empty").push(other),
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_in_keep_quoted_commas_together() {
        assert_eq!(split_list(r#"(1,"a,b","c\"d",)"#), ["1", "a,b", "c\"d", ""]);
        assert!(split_list("()").is_empty());
    }
}
