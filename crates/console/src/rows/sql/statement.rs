//! Builds a statement in two forms: with parameters for PostgreSQL, and with literals for the user to read.
//!
//! Text reaches SQL only in three ways: keywords are constants of this program, names are quoted by one function, and values
//! are parameters. The form to read has the same effect.

use selvedge_postgres::{push_identifier, quote_literal};
use tokio_postgres::types::{ToSql, Type};

/// A statement that is being built, with its parameters, which are all sent as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::rows) struct Statement {
    text: String,
    values: Vec<Option<String>>,
    readable: String,
}

impl Statement {
    pub(in crate::rows) fn new(sql: &'static str) -> Self {
        let mut statement = Self::default();
        statement.sql(sql);
        statement
    }

    /// Appends SQL that is a literal of this program, so no text of a request can get here.
    pub(in crate::rows) fn sql(&mut self, sql: &'static str) -> &mut Self {
        self.text.push_str(sql);
        self.readable.push_str(sql);
        self
    }

    /// Appends a name of the catalog as a quoted identifier.
    pub(in crate::rows) fn name(&mut self, name: &str) -> &mut Self {
        push_identifier(&mut self.text, name);
        push_identifier(&mut self.readable, name);
        self
    }

    /// Appends a schema and a name as a quoted, qualified identifier.
    pub(in crate::rows) fn qualified(&mut self, schema: &str, name: &str) -> &mut Self {
        self.name(schema).sql(".").name(name)
    }

    /// Appends a number in digits, for `limit` and `offset`.
    pub(in crate::rows) fn number(&mut self, number: u64) -> &mut Self {
        let digits = number.to_string();
        self.text.push_str(&digits);
        self.readable.push_str(&digits);
        self
    }

    /// Appends a value as a parameter that is cast to `cast_type`, a quoted type name of the catalog.
    pub(in crate::rows) fn value(&mut self, value: Option<&str>, cast_type: &str) -> &mut Self {
        self.values.push(value.map(str::to_owned));
        let index = self.values.len();
        self.text
            .push_str(&format!("${index}::pg_catalog.text::{cast_type}"));
        match value {
            None => self.readable.push_str("null"),
            Some(value) => self.readable.push_str(&quote_literal(value)),
        }
        self
    }

    /// Appends an expression that this crate has generated from the catalog.
    pub(in crate::rows) fn expression(&mut self, expression: &str) -> &mut Self {
        self.text.push_str(expression);
        self.readable.push_str(expression);
        self
    }

    /// Appends what is only for PostgreSQL, such as the columns that carry the rows' identities.
    pub(in crate::rows) fn machine_only(&mut self, sql: &str) -> &mut Self {
        self.text.push_str(sql);
        self
    }

    /// Appends what is only for people, in the place of something that is only for PostgreSQL.
    pub(in crate::rows) fn human_only(&mut self, sql: &str) -> &mut Self {
        self.readable.push_str(sql);
        self
    }

    /// Removes the text for people, so that the caller can append another one.
    pub(in crate::rows) fn hidden_from_people(mut self) -> Self {
        self.readable.clear();
        self
    }

    /// Returns the text that PostgreSQL gets, with `$1`, `$2` … for its parameters.
    pub(in crate::rows) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parameters with their types in the form that `query_typed` takes.
    pub(in crate::rows) fn parameters(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.values
            .iter()
            .map(|value| (value as &(dyn ToSql + Sync), Type::TEXT))
            .collect()
    }

    /// Returns the text that people read, in which literals stand in the place of parameters.
    pub(in crate::rows) fn readable(&self) -> &str {
        &self.readable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_166_names_and_values_never_leave_their_quotes() {
        let hostile = r#"x"; drop table y; --"#;
        let mut statement = Statement::new("select ");
        statement
            .qualified("s\"", hostile)
            .sql(" where a = ")
            .value(Some("'; delete from t; \\'"), "pg_catalog.int4")
            .sql(" limit ")
            .number(5);

        assert_eq!(
            statement.text(),
            r#"select "s"""."x""; drop table y; --" where a = $1::pg_catalog.text::pg_catalog.int4 limit 5"#
        );
        assert_eq!(
            statement.readable(),
            r#"select "s"""."x""; drop table y; --" where a = E'''; delete from t; \\''' limit 5"#
        );
        assert_eq!(statement.parameters().len(), 1);
    }

    #[test]
    fn null_is_a_word_for_people_and_a_parameter_for_postgresql() {
        let mut statement = Statement::default();
        statement.value(None, "pg_catalog.text");

        assert_eq!(statement.text(), "$1::pg_catalog.text::pg_catalog.text");
        assert_eq!(statement.readable(), "null");
    }
}
