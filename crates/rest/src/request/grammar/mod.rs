//! The query language: one function per production of the grammar, which is written in its doc.
//!
//! Source: PostgREST's grammar (`QueryParams.hs`); the order of alternatives decides the wording of errors.

mod combinators;
mod filter;
mod logic;
mod names;
mod order;
mod select;

pub(crate) use filter::filter_value;
pub(crate) use logic::{logic_path, logic_tree};
pub(crate) use names::{column_list, tree_path};
pub(crate) use order::order_terms;
pub(crate) use select::select_list;

use super::parser::{Parsed, Parser};
use crate::error::RequestError;

/// Deepest nesting of parentheses in one parameter: productions call each other, so nesting takes stack.
pub(crate) const MAX_NESTING: usize = 64;

/// Parses `text` by one production. `what` and `shown` name it in the error.
///
/// Compat: text after a complete value is ignored, as PostgREST does; productions that must not be followed by more check
/// for the end themselves.
///
/// # Errors
/// PGRST100 with PostgREST's message.
pub(crate) fn parse<T>(
    what: &str,
    shown: &str,
    text: &str,
    production: impl Fn(&mut Parser<'_>) -> Parsed<T>,
) -> Result<T, RequestError> {
    // Checked before parsing: the parser is recursive, so deep nesting would overflow its stack.
    if nesting(text) > MAX_NESTING {
        return Err(RequestError::Query {
            message: format!("failed to parse {what}"),
            details: format!("more than {MAX_NESTING} levels of parentheses"),
        });
    }
    if let Ok(parsed) = production(&mut Parser::new(text)) {
        return Ok(parsed);
    }
    let mut parser = Parser::explaining(text);
    production(&mut parser).map_err(|_| {
        let (column, details) = parser.describe_error();
        RequestError::Query {
            message: format!("\"failed to parse {what} ({shown})\" (line 1, column {column})"),
            details,
        }
    })
}

/// The deepest nesting of parentheses, whether they are quoted or not.
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
