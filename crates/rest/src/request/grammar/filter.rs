//! Filters: `operator.value`.

use super::super::ast::{IsValue, Operation, QuantOperator, Quantifier, SimpleOperator, TextSearch};
use super::super::parser::{Parsed, Parser};
use super::combinators::{lexeme, separated};
use super::names::{delimiter, quoted, word};

/// How the value behind an operator is parsed: to the end of the parameter, or inside of a logic tree.
type Value = fn(&mut Parser<'_>) -> Parsed<String>;

/// `[ "not." ] operator "." value` as the whole value of a parameter.
pub(crate) fn filter_value(p: &mut Parser<'_>) -> Parsed<(bool, Operation)> {
    expression(p, |p| Ok(p.take_rest().to_owned()))
}

/// `[ "not." ] operator "." value`: whether it is negated, and the operation.
pub(super) fn expression(p: &mut Parser<'_>, value: Value) -> Parsed<(bool, Operation)> {
    p.sequence(|p| {
        let negated = p
            .optional(|p| {
                p.attempt(|p| {
                    p.string("not", "\"not\"")?;
                    delimiter(p)
                })
            })?
            .is_some();
        Ok((negated, operation(p, value)?))
    })
}

/// Any operator with its value, in the order in which PostgREST tries them.
fn operation(p: &mut Parser<'_>, value: Value) -> Parsed<Operation> {
    p.label("operator (eq, gt, ...)", |p| {
        // Each alternative moves back when it fails, so the order matters only for keywords with a common beginning.
        p.either(in_list, |p| {
            p.either(is_value, |p| {
                p.either(
                    |p| is_distinct(p, value),
                    |p| {
                        p.either(
                            |p| p.attempt(|p| text_search(p, value)),
                            |p| {
                                p.either(
                                    |p| p.attempt(|p| simple(p, value)),
                                    |p| p.attempt(|p| quantified(p, value)),
                                )
                            },
                        )
                    },
                )
            })
        })
    })
}

/// `keyword "."`.
pub(super) fn keyword_and_dot(p: &mut Parser<'_>, keyword: &str, shown: &'static str) -> Parsed<()> {
    p.attempt(|p| {
        p.string(keyword, shown)?;
        delimiter(p)
    })
}

/// `"in.(" element { "," element } ")"`.
fn in_list(p: &mut Parser<'_>) -> Parsed<Operation> {
    p.sequence(|p| {
        keyword_and_dot(p, "in", "\"in\"")?;
        lexeme(p, |p| p.char('(', "\"(\""))?;
        let values = separated(p, list_element, |p| p.char(',', "\",\""))?;
        lexeme(p, |p| p.char(')', "\")\""))?;
        Ok(Operation::In(values))
    })
}

/// Whether a character ends a value inside of parentheses.
pub(super) fn closes_value(c: char) -> bool {
    c == ',' || c == ')'
}

/// A quoted value inside of parentheses. Only one that `,` or `)` follows counts as quoted: `"a"b` is plain text.
pub(super) fn quoted_element(p: &mut Parser<'_>) -> Parsed<String> {
    p.attempt(|p| {
        let value = quoted(p)?;
        // Moves back to before the quote otherwise, so that the text is read again as a plain value.
        p.not_followed_by(|c| !closes_value(c), None)?;
        Ok(value)
    })
}

/// A value of an `in` list.
fn list_element(p: &mut Parser<'_>) -> Parsed<String> {
    p.either(quoted_element, |p| {
        Ok(p.take_while(|c| !closes_value(c)).to_owned())
    })
}

/// `"is." keyword`, the keyword in any case. Compat: what follows the keyword is ignored (`is.nullable`).
fn is_value(p: &mut Parser<'_>) -> Parsed<Operation> {
    p.sequence(|p| {
        keyword_and_dot(p, "is", "\"is\"")?;
        p.label("isVal: (null, not_null, true, false, unknown)", |p| {
            for (keyword, value) in [
                ("null", IsValue::Null),
                ("not_null", IsValue::NotNull),
                ("true", IsValue::True),
                ("false", IsValue::False),
                ("unknown", IsValue::Unknown),
            ] {
                let found = p.attempt(|p| {
                    for wanted in keyword.chars() {
                        p.satisfy(|c| c.eq_ignore_ascii_case(&wanted))?;
                    }
                    Ok(Operation::Is(value))
                });
                if found.is_ok() {
                    return found;
                }
            }
            p.fail_silently()
        })
    })
}

/// `"isdistinct." value`.
fn is_distinct(p: &mut Parser<'_>, value: Value) -> Parsed<Operation> {
    p.sequence(|p| {
        keyword_and_dot(p, "isdistinct", "\"isdistinct\"")?;
        value(p).map(Operation::IsDistinct)
    })
}

/// The first keyword of `table` that the input starts with, tried in order.
fn keyword<T: Copy>(p: &mut Parser<'_>, table: &[(&'static str, &'static str, T)]) -> Parsed<T> {
    for (keyword, shown, value) in table {
        if p.attempt(|p| p.string(keyword, shown)).is_ok() {
            return Ok(*value);
        }
    }
    p.fail_silently()
}

/// `("fts" | "plfts" | "phfts" | "wfts") [ "(" configuration ")" ] "." value`.
fn text_search(p: &mut Parser<'_>, value: Value) -> Parsed<Operation> {
    let operator = keyword(
        p,
        &[
            ("fts", "\"fts\"", TextSearch::Query),
            ("plfts", "\"plfts\"", TextSearch::Plain),
            ("phfts", "\"phfts\"", TextSearch::Phrase),
            ("wfts", "\"wfts\"", TextSearch::Web),
        ],
    )?;
    let language = p.optional(|p| p.attempt(|p| parenthesised(p, word)))?;
    delimiter(p)?;
    Ok(Operation::TextSearch(operator, language, value(p)?))
}

/// `"(" inner ")"`.
fn parenthesised<T>(p: &mut Parser<'_>, inner: impl FnOnce(&mut Parser<'_>) -> Parsed<T>) -> Parsed<T> {
    p.sequence(|p| {
        p.char('(', "\"(\"")?;
        let value = inner(p)?;
        p.char(')', "\")\"")?;
        Ok(value)
    })
}

/// An operator that takes no modifier, and its value.
fn simple(p: &mut Parser<'_>, value: Value) -> Parsed<Operation> {
    let operator = keyword(
        p,
        &[
            ("neq", "\"neq\"", SimpleOperator::NotEqual),
            ("cs", "\"cs\"", SimpleOperator::Contains),
            ("cd", "\"cd\"", SimpleOperator::ContainedIn),
            ("ov", "\"ov\"", SimpleOperator::Overlaps),
            ("sl", "\"sl\"", SimpleOperator::StrictlyLeft),
            ("sr", "\"sr\"", SimpleOperator::StrictlyRight),
            ("nxr", "\"nxr\"", SimpleOperator::NotExtendsRight),
            ("nxl", "\"nxl\"", SimpleOperator::NotExtendsLeft),
            ("adj", "\"adj\"", SimpleOperator::Adjacent),
        ],
    )?;
    delimiter(p)?;
    Ok(Operation::Simple(operator, value(p)?))
}

/// An operator that may have a modifier: `eq(any).{1,2}`.
fn quantified(p: &mut Parser<'_>, value: Value) -> Parsed<Operation> {
    let operator = keyword(
        p,
        &[
            ("eq", "\"eq\"", QuantOperator::Equal),
            ("gte", "\"gte\"", QuantOperator::GreaterThanEqual),
            ("gt", "\"gt\"", QuantOperator::GreaterThan),
            ("lte", "\"lte\"", QuantOperator::LessThanEqual),
            ("lt", "\"lt\"", QuantOperator::LessThan),
            ("like", "\"like\"", QuantOperator::Like),
            ("ilike", "\"ilike\"", QuantOperator::ILike),
            ("match", "\"match\"", QuantOperator::Match),
            ("imatch", "\"imatch\"", QuantOperator::IMatch),
        ],
    )?;
    let quantifier = p.optional(|p| {
        p.attempt(|p| {
            parenthesised(p, |p| {
                p.either(
                    |p| {
                        p.attempt(|p| p.string("any", "\"any\""))
                            .map(|()| Quantifier::Any)
                    },
                    |p| p.string("all", "\"all\"").map(|()| Quantifier::All),
                )
            })
        })
    })?;
    delimiter(p)?;
    Ok(Operation::Quant(operator, quantifier, value(p)?))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn parsed(text: &str) -> (bool, Operation) {
        parse("filter", text, text, filter_value).unwrap()
    }

    #[test]
    fn rest_017_values_outside_of_lists_keep_quotes_commas_and_parentheses() {
        for value in ["\"x\"", "a,b(c)", "a.b.c", ""] {
            let (_, operation) = parsed(&format!("eq.{value}"));

            assert_eq!(
                operation,
                Operation::Quant(QuantOperator::Equal, None, value.to_owned())
            );
        }
    }

    #[test]
    fn rest_013_in_lists_unquote_their_values() {
        for (text, expected) in [
            ("in.(1,2,3)", vec!["1", "2", "3"]),
            ("in.(\"a,b\",\"c\\\"d\")", vec!["a,b", "c\"d"]),
            ("in.()", vec![""]),
            ("in.(,3)", vec!["", "3"]),
            ("in.(\"a\"b,c)", vec!["\"a\"b", "c"]),
        ] {
            assert_eq!(
                parsed(text).1,
                Operation::In(expected.into_iter().map(str::to_owned).collect()),
                "{text}"
            );
        }
    }

    #[test]
    fn rest_012_is_accepts_keywords_in_any_case() {
        assert_eq!(parsed("is.NULL"), (false, Operation::Is(IsValue::Null)));
        assert_eq!(parsed("not.is.not_null"), (true, Operation::Is(IsValue::NotNull)));
        assert_eq!(parsed("is.nullable").1, Operation::Is(IsValue::Null));
    }

    #[test]
    fn rest_078_errors_in_filters_read_like_postgrests() {
        for (text, message) in [
            (
                "noop.1",
                "column 1) | unexpected \"o\" expecting \"not\" or operator (eq, gt, ...)",
            ),
            (
                "eq(some).{1}",
                "column 4) | unexpected \"s\" expecting operator (eq, gt, ...)",
            ),
            (
                "fts().wool",
                "column 5) | unexpected \")\" expecting operator (eq, gt, ...)",
            ),
            (
                "fts(english.wool",
                "column 12) | unexpected \".\" expecting operator (eq, gt, ...)",
            ),
            (
                "not.not.eq.1",
                "column 5) | unexpected \"n\" expecting operator (eq, gt, ...)",
            ),
            (
                "",
                "column 1) | unexpected end of input expecting \"not\" or operator (eq, gt, ...)",
            ),
            (
                "eq",
                "column 3) | unexpected end of input expecting operator (eq, gt, ...)",
            ),
            (
                "is.nil",
                "column 5) | unexpected \"i\" expecting isVal: (null, not_null, true, false, unknown)",
            ),
            (
                "in(any).(1,2)",
                "column 3) | unexpected \"(\" expecting operator (eq, gt, ...)",
            ),
        ] {
            let Err(crate::error::RequestError::Query {
                message: first,
                details,
            }) = parse("filter", text, text, filter_value)
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
