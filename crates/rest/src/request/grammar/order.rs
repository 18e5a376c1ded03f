//! The `order` parameter: `order=author(name).desc.nullslast,id`.

use super::super::ast::{Direction, Field, Nulls, OrderTerm};
use super::super::parser::{Parsed, Parser};
use super::combinators::{lexeme, separated};
use super::names::{delimiter, field, name};

/// `term { "," term }` up to the end.
pub(crate) fn order_terms(p: &mut Parser<'_>) -> Parsed<Vec<OrderTerm>> {
    separated(
        p,
        |p| lexeme(p, |p| p.either(|p| p.attempt(related_term), plain_term)),
        |p| p.char(',', "\",\""),
    )
}

/// `field suffixes`.
fn plain_term(p: &mut Parser<'_>) -> Parsed<OrderTerm> {
    p.sequence(|p| {
        let field = field(p)?;
        suffixes(p, None, field)
    })
}

/// `embed "(" field ")" suffixes`: sorts by a column of an embedded to-one resource.
fn related_term(p: &mut Parser<'_>) -> Parsed<OrderTerm> {
    let embed = name(p)?;
    p.char('(', "\"(\"")?;
    let field = field(p)?;
    p.char(')', "\")\"")?;
    suffixes(p, Some(embed), field)
}

/// `[ ".asc" | ".desc" ] [ ".nullsfirst" | ".nullslast" ]`, then the end of the term.
fn suffixes(p: &mut Parser<'_>, embed: Option<String>, field: Field) -> Parsed<OrderTerm> {
    let direction = p.optional(|p| {
        p.either(
            |p| suffix(p, "asc", "\"asc\"").map(|()| Direction::Ascending),
            |p| suffix(p, "desc", "\"desc\"").map(|()| Direction::Descending),
        )
    })?;
    let nulls = p.optional(|p| {
        p.either(
            |p| suffix(p, "nullsfirst", "\"nullsfirst\"").map(|()| Nulls::First),
            |p| suffix(p, "nullslast", "\"nullslast\"").map(|()| Nulls::Last),
        )
    })?;
    p.either(
        |p| p.attempt(|p| p.look_ahead(|p| p.char(',', "\",\""))),
        |p| p.attempt(Parser::end),
    )?;
    Ok(OrderTerm {
        embed,
        field,
        direction,
        nulls,
    })
}

/// `"." keyword`.
fn suffix(p: &mut Parser<'_>, keyword: &str, shown: &'static str) -> Parsed<()> {
    p.attempt(|p| {
        delimiter(p)?;
        p.string(keyword, shown)
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn rest_019_terms_have_direction_and_placement_of_nulls() {
        let terms = parse("order", "", "a.desc,b.asc.nullslast,c(d).nullsfirst", order_terms).unwrap();

        assert_eq!(terms[0].direction, Some(Direction::Descending));
        assert_eq!(terms[1].nulls, Some(Nulls::Last));
        assert_eq!(
            (terms[2].embed.as_deref(), terms[2].nulls),
            (Some("c"), Some(Nulls::First))
        );
    }

    #[test]
    fn rest_019_errors_in_order_read_like_postgrests() {
        for (text, message) in [
            (
                "id.ascending",
                "column 7) | unexpected 'e' expecting delimiter (.), \",\" or end of input",
            ),
            (
                "id.nullsfirst.asc",
                "column 14) | unexpected '.' expecting \",\" or end of input",
            ),
            (
                "id.desc.nulls",
                "column 9) | unexpected end of input expecting \"nullsfirst\" or \"nullslast\"",
            ),
            (
                "",
                "column 1) | unexpected end of input expecting field name (* or [a..z0..9_$])",
            ),
            (
                "count()",
                "column 6) | unexpected '(' expecting letter, digit, \"-\", \"->>\", \"->\", delimiter (.), \",\" or end of input",
            ),
            (
                "id.smth34",
                "column 4) | unexpected \"s\" expecting \"asc\", \"desc\", \"nullsfirst\" or \"nullslast\"",
            ),
        ] {
            let Err(crate::error::RequestError::Query {
                message: first,
                details,
            }) = parse("order", text, text, order_terms)
            else {
                panic!("{text} parsed")
            };
            assert!(
                format!("{first} | {details}").ends_with(message),
                "{text}: {first} | {details}"
            );
        }
    }
}
