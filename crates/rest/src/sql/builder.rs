//! The statement that is being written, and the few ways in which text reaches SQL.
//!
//! Names go through [`Sql::ident`], values through [`Sql::param`]; [`Sql::push`] takes constant SQL and type names of the
//! catalog. Methods named by a noun append that piece; `write_…` methods of the sibling files append a clause.

use std::fmt::Write;

use bytes::Bytes;
use selvedge_postgres::{Param, SqlStatement, push_identifier};

use crate::identifier::QualifiedName;
use crate::plan::QueryPlan;

/// The common table expression that holds what was read, written or called.
pub(super) const SOURCE: &str = "pgrst_source";

/// A statement being written.
#[derive(Debug, Default)]
pub(crate) struct Sql {
    pub(super) text: String,
    params: Vec<Param>,
    /// Whether PostgreSQL should plan each execution anew: a generic plan guesses badly for lists and patterns.
    pub(super) wants_custom_plan: bool,
    /// Whether embeds are jsonb. Compat: CSV and custom handlers show their text as it is, which PostgREST has in jsonb's
    /// form; and only jsonb can be grouped by.
    pub(super) embeds_as_jsonb: bool,
    /// Whether the statement is written in the form that Citus supports.
    pub(super) for_citus: bool,
}

impl Sql {
    pub(crate) fn new() -> Self {
        Self {
            // Long enough for a statement with an embed, so that it is rarely reallocated.
            text: String::with_capacity(768),
            ..Self::default()
        }
    }

    /// Creates the builder for a plan's statement.
    pub(super) fn for_plan(plan: &QueryPlan) -> Self {
        Self {
            for_citus: plan.for_citus,
            ..Self::new()
        }
    }

    /// Appends constant SQL; never text of a client.
    pub(super) fn push(&mut self, sql: &str) -> &mut Self {
        self.text.push_str(sql);
        self
    }

    /// Appends a quoted identifier.
    pub(super) fn ident(&mut self, name: &str) -> &mut Self {
        push_identifier(&mut self.text, name);
        self
    }

    /// Appends `"schema"."name"`.
    pub(super) fn qualified(&mut self, name: &QualifiedName) -> &mut Self {
        self.ident(&name.schema).push(".").ident(&name.name)
    }

    /// Appends `$n` for a value in text form, which PostgreSQL types by its context.
    pub(super) fn param(&mut self, value: &str) -> &mut Self {
        self.push_param(Param::Text(Bytes::copy_from_slice(value.as_bytes())))
    }

    /// Appends `$n` for a value in text form that is already allocated.
    pub(super) fn param_bytes(&mut self, value: Bytes) -> &mut Self {
        self.push_param(Param::Text(value))
    }

    /// Appends `$n` for a value in either form.
    pub(super) fn push_param(&mut self, param: Param) -> &mut Self {
        self.params.push(param);
        write!(self.text, "${}", self.params.len()).expect("writing to a string");
        self
    }

    /// Appends a number.
    pub(super) fn integer(&mut self, number: i64) -> &mut Self {
        write!(self.text, "{number}").expect("writing to a string");
        self
    }

    /// Appends the items with `separator` between them.
    pub(super) fn list<T>(
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

    /// Appends a name as a quoted SQL literal; only for names that come from the catalog. Unlike a parameter it can be a
    /// key of `jsonb_build_object` in a prepared statement without a cast.
    pub(super) fn name_literal(&mut self, name: &str) -> &mut Self {
        if name.contains('\\') {
            // In `E'…'` the meaning of a backslash does not depend on `standard_conforming_strings`.
            self.push(" E");
        }
        self.text.push('\'');
        self.text
            .push_str(&name.replace('\\', "\\\\").replace('\'', "''"));
        self.text.push('\'');
        self
    }

    /// The statement and its parameters.
    pub(super) fn finish(self) -> SqlStatement {
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
    fn quotes_inside_identifiers_are_doubled() {
        let mut sql = Sql::new();

        sql.ident("a\"b")
            .push(" ")
            .qualified(&QualifiedName::new("s", "t\"\""));

        assert_eq!(sql.text, "\"a\"\"b\" \"s\".\"t\"\"\"\"\"");
    }

    proptest! {
        #[test]
        fn no_identifier_can_end_its_quotes_early(name in ".*") {
            let mut sql = Sql::new();

            sql.ident(&name);

            let inner = &sql.text[1..sql.text.len() - 1];
            prop_assert!(!inner.replace("\"\"", "").contains('"'));
            prop_assert!(!inner.contains('\0'));
        }
    }
}
