//! Reads the words of a statement from the front, for parsers of single statements. Pure.

use super::lexer::{Lexer, Token, TokenKind};
use crate::identifier::quote_identifier;

/// The first word of a statement, after white space and comments; empty when it begins with something else.
pub fn first_word(statement: &str) -> &str {
    let mut lexer = Lexer::new(statement);
    while let Some(Ok(token)) = lexer.next_token() {
        match token.kind {
            TokenKind::Whitespace | TokenKind::Comment => {}
            TokenKind::Word => return &statement[token.start..token.end],
            _ => break,
        }
    }
    ""
}

/// The tokens of a statement without white space and comments, read from the front.
pub(super) struct StatementReader<'a> {
    sql: &'a str,
    tokens: std::vec::IntoIter<Token>,
}

impl<'a> StatementReader<'a> {
    pub(super) fn new(sql: &'a str) -> Self {
        let mut lexer = Lexer::new(sql);
        let mut tokens = Vec::new();
        while let Some(Ok(token)) = lexer.next_token() {
            if !matches!(token.kind, TokenKind::Whitespace | TokenKind::Comment) {
                tokens.push(token);
            }
            // The statements in question are shorter than this; the limit avoids reading the long bodies of functions.
            if tokens.len() > 256 {
                break;
            }
        }
        Self {
            sql,
            tokens: tokens.into_iter(),
        }
    }

    fn text(&self, token: Token) -> &'a str {
        &self.sql[token.start..token.end]
    }

    /// The next token, which stays.
    pub(super) fn peek(&self) -> Option<Token> {
        self.tokens.as_slice().first().copied()
    }

    /// Takes the next token if it is this word or sign.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let found = self
            .tokens
            .as_slice()
            .first()
            .is_some_and(|token| self.text(*token).eq_ignore_ascii_case(word));
        if found {
            self.tokens.next();
        }
        found
    }

    /// As [`Self::take`], for use with `?`.
    pub(super) fn expect(&mut self, word: &str) -> Option<()> {
        self.take(word).then_some(())
    }

    /// An identifier (unquoted ones in lower case, as in PostgreSQL) or the content of a string.
    pub(super) fn name(&mut self) -> Option<String> {
        let token = self.tokens.next()?;
        let text = self.text(token);
        match token.kind {
            TokenKind::Word => Some(text.to_lowercase()),
            TokenKind::QuotedIdentifier if text.starts_with('"') => {
                Some(text[1..text.len() - 1].replace("\"\"", "\""))
            }
            TokenKind::String if text.starts_with('\'') => Some(text[1..text.len() - 1].replace("''", "'")),
            _ => None,
        }
    }

    pub(super) fn at_end(&self) -> bool {
        self.tokens.as_slice().is_empty()
    }

    /// The content of a string.
    pub(super) fn string(&mut self) -> Option<String> {
        let token = self.tokens.next()?;
        let text = self.text(token);
        (token.kind == TokenKind::String && text.starts_with('\''))
            .then(|| text[1..text.len() - 1].replace("''", "'"))
    }

    /// A name with or without a schema, quoted.
    pub(super) fn qualified_name(&mut self) -> Option<String> {
        let mut name = quote_identifier(&self.name()?);
        while self.take(".") {
            name = format!("{name}.{}", quote_identifier(&self.name()?));
        }
        Some(name)
    }

    /// The first of the remaining tokens that is one of these words.
    pub(super) fn position_of(&self, words: &[&str]) -> Option<Token> {
        self.tokens.as_slice().iter().copied().find(|token| {
            token.kind == TokenKind::Word
                && words
                    .iter()
                    .any(|word| self.text(*token).eq_ignore_ascii_case(word))
        })
    }

    /// How many tokens remain, without the word `with`, which means nothing.
    pub(super) fn count(&self) -> usize {
        self.tokens
            .as_slice()
            .iter()
            .filter(|token| !self.text(**token).eq_ignore_ascii_case("with"))
            .count()
    }
}
