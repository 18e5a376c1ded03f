//! Parsers that several productions use.

use super::super::parser::{Parsed, Parser};

/// Accepts blanks and tabs, which clients may put around a token.
pub(super) fn skip_blanks(p: &mut Parser<'_>) {
    p.take_while(|c| c == ' ' || c == '\t');
}

/// `parse` with blanks allowed around it.
pub(super) fn lexeme<T>(p: &mut Parser<'_>, parse: impl FnOnce(&mut Parser<'_>) -> Parsed<T>) -> Parsed<T> {
    p.sequence(|p| {
        skip_blanks(p);
        let value = parse(p)?;
        skip_blanks(p);
        Ok(value)
    })
}

/// `item { separator item }`.
pub(super) fn separated<T>(
    p: &mut Parser<'_>,
    mut item: impl FnMut(&mut Parser<'_>) -> Parsed<T>,
    mut separator: impl FnMut(&mut Parser<'_>) -> Parsed<()>,
) -> Parsed<Vec<T>> {
    p.sequence(|p| {
        let mut items = vec![item(p)?];
        while p.optional(&mut separator)?.is_some() {
            items.push(item(p)?);
        }
        Ok(items)
    })
}
