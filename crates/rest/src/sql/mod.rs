//! Third stage: a plan → one statement. The only code of this crate that writes SQL.
//!
//! Identifiers go through [`Sql::ident`], values are always parameters, numbers of rows are checked integers. The
//! text depends on the shape of a request only, never on its values, so that prepared statements are found again.

mod call;
mod filter;
mod mutate;
#[cfg(test)]
mod pipeline_tests;
mod read;
mod statement;

pub use statement::{
    BODY, EXTRA, HEADERS, PAGE, STATUS, after_rows, count_explain, main_statement, rows_statement,
};

use crate::identifier::QualifiedName;
use bytes::Bytes;
use selvedge_postgres::{Param, SqlStatement};
use std::fmt::Write;

/// The common table expression that holds what was read, written or called.
const SOURCE: &str = "pgrst_source";

/// A statement being written.
#[derive(Debug, Default)]
pub(crate) struct Sql {
    text: String,
    params: Vec<Param>,
    /// A generic plan would guess badly: lists and patterns.
    wants_custom_plan: bool,
    /// Embeds as jsonb: where their text is shown as it is, clients know it in jsonb's form.
    embeds_as_jsonb: bool,
}

impl Sql {
    pub(crate) fn new() -> Self {
        Self {
            text: String::with_capacity(768),
            ..Self::default()
        }
    }

    /// Appends SQL of our own.
    fn push(&mut self, sql: &str) -> &mut Self {
        self.text.push_str(sql);
        self
    }

    /// Appends a quoted identifier.
    fn ident(&mut self, name: &str) -> &mut Self {
        self.text.push('"');
        // A NUL cannot be sent, and no object has one in its name.
        for part in name.split_inclusive('"') {
            if part.contains('\0') {
                self.text.push_str(&part.replace('\0', ""));
            } else {
                self.text.push_str(part);
            }
            if part.ends_with('"') {
                self.text.push('"');
            }
        }
        self.text.push('"');
        self
    }

    /// Appends `"schema"."name"`.
    fn qualified(&mut self, name: &QualifiedName) -> &mut Self {
        self.ident(&name.schema).push(".").ident(&name.name)
    }

    /// Appends `$n` for a value.
    fn param(&mut self, value: &str) -> &mut Self {
        self.push_param(Param::Text(Bytes::copy_from_slice(value.as_bytes())))
    }

    /// Appends `$n` for a value in text form that is already in memory of its own.
    fn param_bytes(&mut self, value: Bytes) -> &mut Self {
        self.push_param(Param::Text(value))
    }

    fn push_param(&mut self, param: Param) -> &mut Self {
        self.params.push(param);
        write!(self.text, "${}", self.params.len()).expect("writing to a string");
        self
    }

    /// Appends a number.
    fn integer(&mut self, number: i64) -> &mut Self {
        write!(self.text, "{number}").expect("writing to a string");
        self
    }

    /// Appends the items with `separator` between them.
    fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        separator: &str,
        mut each: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.push(separator);
            }
            each(self, item);
        }
        self
    }

    /// Appends a name as a quoted SQL literal; only for names that come from the catalog.
    fn name_literal(&mut self, name: &str) -> &mut Self {
        if name.contains('\\') {
            self.push(" E");
        }
        self.text.push('\'');
        self.text
            .push_str(&name.replace('\\', "\\\\").replace('\'', "''"));
        self.text.push('\'');
        self
    }

    fn finish(self) -> SqlStatement {
        SqlStatement {
            text: self.text,
            params: self.params,
            force_custom_plan: self.wants_custom_plan,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn identifiers_double_their_quotes() {
        let mut sql = Sql::new();

        sql.ident("a\"b")
            .push(" ")
            .qualified(&QualifiedName::new("s", "t\"\""));

        assert_eq!(sql.text, "\"a\"\"b\" \"s\".\"t\"\"\"\"\"");
    }

    proptest! {
        #[test]
        fn an_identifier_never_ends_early(name in ".*") {
            let mut sql = Sql::new();

            sql.ident(&name);

            let inner = &sql.text[1..sql.text.len() - 1];
            prop_assert!(!inner.replace("\"\"", "").contains('"'));
            prop_assert!(!inner.contains('\0'));
        }
    }
}
