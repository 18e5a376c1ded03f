//! The query language: one function per production of the grammar, a string in and a value out.
//!
//! Source: the reference's grammar in its documentation; the order of alternatives decides the wording of errors.

mod filter;
mod names;
mod order;
mod select;

pub(crate) use filter::{filter_value, logic_path, logic_tree};
pub(crate) use names::{column_list, tree_path};
pub(crate) use order::order_terms;
pub(crate) use select::select_list;

use super::parser::{Parsed, Parser};
use crate::error::RequestError;

/// Deepest nesting of parentheses accepted in one parameter.
pub(crate) const MAX_NESTING: usize = 64;

/// Parses the whole of `text` as a `what`; text after a complete value is ignored, as clients rely on it.
///
/// # Errors
/// PGRST100 in the reference's words.
pub(crate) fn parse<T>(
    what: &str,
    shown: &str,
    text: &str,
    production: impl FnOnce(&mut Parser<'_>) -> Parsed<T>,
) -> Result<T, RequestError> {
    if nesting(text) > MAX_NESTING {
        return Err(RequestError::Query {
            message: format!("failed to parse {what}"),
            details: format!("more than {MAX_NESTING} levels of parentheses"),
        });
    }
    let mut parser = Parser::new(text);
    production(&mut parser).map_err(|_| {
        let (column, details) = parser.explain();
        RequestError::Query {
            message: format!("\"failed to parse {what} ({shown})\" (line 1, column {column})"),
            details,
        }
    })
}

fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0usize);
    for byte in text.bytes() {
        match byte {
            b'(' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Blanks around a token.
fn blanks(p: &mut Parser<'_>) {
    p.run_of(|c| c == ' ' || c == '\t');
}

/// `parse` with blanks allowed around it.
fn lexeme<T>(p: &mut Parser<'_>, parse: impl FnOnce(&mut Parser<'_>) -> Parsed<T>) -> Parsed<T> {
    p.sequence(|p| {
        blanks(p);
        let value = parse(p)?;
        blanks(p);
        Ok(value)
    })
}

/// `item { separator item }`.
fn separated<T>(
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
