//! Names of database objects.

use std::fmt;

/// A schema and a name in it; not quoted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QualifiedName {
    /// Schema; never empty for catalog objects.
    pub schema: String,
    /// Name inside the schema.
    pub name: String,
}

impl QualifiedName {
    /// Makes a name of its parts.
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

/// A name as SQL writes it, whatever it holds.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The call of a function without arguments, `schema.name`.
pub(crate) fn call_of(function: &str) -> String {
    let name = function.splitn(2, '.').map(quoted).collect::<Vec<_>>().join(".");
    format!("select {name}()")
}
