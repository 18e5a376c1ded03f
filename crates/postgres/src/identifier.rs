//! Quoting of SQL identifiers. Every name in generated SQL that comes from a request, the database or the configuration
//! must be quoted by these functions.

/// Appends `name` as a quoted SQL identifier: inner quotes are doubled.
///
/// NUL characters are left out: the protocol ends strings with them, and no object has one in its name.
pub fn push_identifier(sql: &mut String, name: &str) {
    sql.push('"');
    // Nearly every name has neither, and is copied without a search for its parts.
    if name.bytes().all(|byte| byte != b'"' && byte != 0) {
        sql.push_str(name);
        sql.push('"');
        return;
    }
    for part in name.split_inclusive('"') {
        if part.contains('\0') {
            sql.push_str(&part.replace('\0', ""));
        } else {
            sql.push_str(part);
        }
        if part.ends_with('"') {
            sql.push('"');
        }
    }
    sql.push('"');
}

/// `name` as a quoted SQL identifier; see [`push_identifier`].
pub fn quote_identifier(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len() + 2);
    push_identifier(&mut quoted, name);
    quoted
}

/// `value` as a string literal, for places where a statement takes no parameters.
pub fn quote_literal(value: &str) -> String {
    let quoted = value.replace('\'', "''");
    if value.contains('\\') {
        // Correct whatever `standard_conforming_strings` says.
        format!("E'{}'", quoted.replace('\\', "\\\\"))
    } else {
        format!("'{quoted}'")
    }
}

/// A table that the configuration names as `schema.table`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    schema: String,
    name: String,
}

impl TableName {
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

    /// Returns the name as it stands in SQL: schema and table quoted.
    #[must_use]
    pub fn quoted(&self) -> String {
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
        let table = TableName::parse("public.jobs").expect("a table");

        assert_eq!(table.quoted(), "\"public\".\"jobs\"");
        for malformed in ["jobs", "public.", ".jobs", "a.b.c", ""] {
            assert_eq!(TableName::parse(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn quotes_are_doubled_and_nul_is_dropped() {
        for (name, quoted) in [
            ("plain", r#""plain""#),
            ("Two Words", r#""Two Words""#),
            (r#"a"; drop table b; --"#, r#""a""; drop table b; --""#),
            (r#"""#, r#""""""#),
            ("a\0b", r#""ab""#),
            ("", r#""""#),
        ] {
            assert_eq!(quote_identifier(name), quoted);
        }
    }
}
