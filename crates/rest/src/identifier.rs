//! Names of database objects.

use std::fmt;

use selvedge_postgres::quote_identifier;

/// A schema and the name of a relation, function or type in it; not quoted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QualifiedName {
    /// Schema; never empty for catalog objects.
    pub schema: String,
    /// Name inside the schema.
    pub name: String,
}

impl QualifiedName {
    /// Joins a schema and a name.
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            schema: schema.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

/// SQL that calls a function without arguments, given as `schema.name` by the configuration.
pub(crate) fn call_statement(function: &str) -> String {
    let name = function
        .splitn(2, '.')
        .map(quote_identifier)
        .collect::<Vec<_>>()
        .join(".");
    format!("select {name}()")
}
