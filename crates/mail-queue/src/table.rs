//! The name of the project's table.

use selvedge_postgres::quote_identifier;

/// A table of mails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueTable {
    schema: String,
    name: String,
}

impl QueueTable {
    /// Reads `schema.table`; `None` for another form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (schema, name) = text.split_once('.')?;
        let is_name = |name: &str| !name.is_empty() && !name.contains('.');
        (is_name(schema) && is_name(name)).then(|| Self {
            schema: schema.to_owned(),
            name: name.to_owned(),
        })
    }

    /// The quoted name.
    pub(crate) fn quoted(&self) -> String {
        format!(
            "{}.{}",
            quote_identifier(&self.schema),
            quote_identifier(&self.name)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_schema_and_a_name() {
        let table = QueueTable::parse("private.mails").expect("a table");

        assert_eq!(table.quoted(), "\"private\".\"mails\"");
        for malformed in ["mails", "private.", ".mails", "a.b.c", ""] {
            assert_eq!(QueueTable::parse(malformed), None, "{malformed}");
        }
    }
}
