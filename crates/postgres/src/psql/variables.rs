//! Variables of psql: `\set name value`, then `:name`, `:'name'` and `:"name"` in statements. Pure.

use std::collections::BTreeMap;

use crate::{
    identifier::{quote_identifier, quote_literal},
    migrate::lexer::{Lexer, Token, TokenKind},
};

/// The variables that a script has set.
#[derive(Debug, Default)]
pub(super) struct Variables {
    values: BTreeMap<String, String>,
}

impl Variables {
    pub(super) fn set(&mut self, name: String, value: String) {
        self.values.insert(name, value);
    }

    pub(super) fn unset(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// The statement with variables replaced by their values. As in psql, a name that is not set stays as it is, and
    /// quoted text is left alone.
    pub(super) fn interpolate(&self, statement: &str) -> String {
        if self.values.is_empty() || !statement.contains(':') {
            return statement.to_owned();
        }
        let mut lexer = Lexer::new(statement);
        let mut tokens: Vec<Token> = Vec::new();
        while let Some(Ok(token)) = lexer.next_token() {
            tokens.push(token);
        }
        let text = |token: &Token| &statement[token.start..token.end];
        let mut result = String::with_capacity(statement.len());
        let mut index = 0;
        while let Some(token) = tokens.get(index) {
            if text(token) != ":" {
                result.push_str(text(token));
                index += 1;
            } else if tokens.get(index + 1).is_some_and(|next| text(next) == ":") {
                // The cast `::`.
                result.push_str("::");
                index += 2;
            } else if let Some(value) = tokens
                .get(index + 1)
                .and_then(|next| self.value_of(next.kind, text(next)))
            {
                result.push_str(&value);
                index += 2;
            } else {
                result.push(':');
                index += 1;
            }
        }
        result
    }

    /// The text for `name`, `'name'` or `"name"` after a colon; `None` when the variable is not set.
    fn value_of(&self, kind: TokenKind, written: &str) -> Option<String> {
        let inner = || written.get(1..written.len().checked_sub(1)?);
        match kind {
            TokenKind::Word => self.values.get(written).cloned(),
            TokenKind::String => Some(quote_literal(self.values.get(inner()?)?)),
            TokenKind::QuotedIdentifier => Some(quote_identifier(self.values.get(inner()?)?)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_outside_of_quotes_only() {
        let mut variables = Variables::default();
        variables.set("id".into(), "7".into());
        variables.set("name".into(), "O'Hara".into());
        let cases = [
            ("select :id, :id::int", "select 7, 7::int"),
            ("select :'name', :\"name\"", "select 'O''Hara', \"O'Hara\""),
            ("select ':id', $$:id$$, id::id", "select ':id', $$:id$$, id::id"),
            ("select :other, a[1:2]", "select :other, a[1:2]"),
        ];

        for (statement, expected) in cases {
            assert_eq!(variables.interpolate(statement), expected);
        }
    }
}
