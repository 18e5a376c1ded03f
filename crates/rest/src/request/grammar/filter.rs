//! Filters: `operator.value`, and the logic trees of `and` and `or`.

use super::super::ast::{
    EmbedPath, Filter, IsValue, LogicOperator, LogicTree, Operation, QuantOperator, Quantifier,
    SimpleOperator, TextSearch,
};
use super::super::parser::{Parsed, Parser};
use super::names::{delimiter, field, name, quoted, word};
use super::{lexeme, separated};

type Value = fn(&mut Parser<'_>) -> Parsed<String>;

/// `[ "not." ] operator "." value` as the whole value of a parameter.
pub(crate) fn filter_value(p: &mut Parser<'_>) -> Parsed<(bool, Operation)> {
    expression(p, |p| Ok(p.take_rest().to_owned()))
}

fn expression(p: &mut Parser<'_>, value: Value) -> Parsed<(bool, Operation)> {
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

fn operation(p: &mut Parser<'_>, value: Value) -> Parsed<Operation> {
    p.label("operator (eq, gt, ...)", |p| {
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

fn keyword_and_dot(p: &mut Parser<'_>, keyword: &str, shown: &'static str) -> Parsed<()> {
    p.attempt(|p| {
        p.string(keyword, shown)?;
        delimiter(p)
    })
}

fn in_list(p: &mut Parser<'_>) -> Parsed<Operation> {
    p.sequence(|p| {
        keyword_and_dot(p, "in", "\"in\"")?;
        lexeme(p, |p| p.char('(', "\"(\""))?;
        let values = separated(p, list_element, |p| p.char(',', "\",\""))?;
        lexeme(p, |p| p.char(')', "\")\""))?;
        Ok(Operation::In(values))
    })
}

fn closes_value(c: char) -> bool {
    c == ',' || c == ')'
}

/// A quoted value counts as one only if `,` or `)` follows its closing quote.
fn quoted_element(p: &mut Parser<'_>) -> Parsed<String> {
    p.attempt(|p| {
        let value = quoted(p)?;
        p.not_followed_by(|c| !closes_value(c), None)?;
        Ok(value)
    })
}

fn list_element(p: &mut Parser<'_>) -> Parsed<String> {
    p.either(quoted_element, |p| Ok(p.run_of(|c| !closes_value(c)).to_owned()))
}

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
            p.refuse()
        })
    })
}

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
    p.refuse()
}

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

fn parenthesised<T>(p: &mut Parser<'_>, inner: impl FnOnce(&mut Parser<'_>) -> Parsed<T>) -> Parsed<T> {
    p.sequence(|p| {
        p.char('(', "\"(\"")?;
        let value = inner(p)?;
        p.char(')', "\")\"")?;
        Ok(value)
    })
}

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

/// A value inside a logic tree: quoted, `{…}` taken whole, or up to the next `,` or `)`.
fn logic_value(p: &mut Parser<'_>) -> Parsed<String> {
    p.either(quoted_element, |p| {
        p.either(
            |p| {
                p.attempt(|p| {
                    p.string("{", "\"{\"")?;
                    let inner = p.run_of(|c| c != '{' && c != '}').to_owned();
                    p.string("}", "\"}\"")?;
                    Ok(format!("{{{inner}}}"))
                })
            },
            |p| Ok(p.run_of(|c| !closes_value(c)).to_owned()),
        )
    })
}

/// `[ "not." ] ("and" | "or") "(" nodes ")"`, or a filter.
pub(crate) fn logic_tree(p: &mut Parser<'_>) -> Parsed<LogicTree> {
    p.either(|p| p.attempt(logic_filter).map(LogicTree::Filter), logic_group)
}

fn logic_filter(p: &mut Parser<'_>) -> Parsed<Filter> {
    let field = field(p)?;
    delimiter(p)?;
    let (negated, operation) = expression(p, logic_value)?;
    Ok(Filter {
        field,
        negated,
        operation,
    })
}

fn logic_group(p: &mut Parser<'_>) -> Parsed<LogicTree> {
    p.sequence(|p| {
        let negated = p.label("negation operator (not)", |p| {
            p.either(
                |p| keyword_and_dot(p, "not", "\"not\"").map(|()| true),
                |_| Ok(false),
            )
        })?;
        let operator = p.label("logic operator (and, or)", |p| {
            p.either(
                |p| {
                    p.attempt(|p| p.string("and", "\"and\""))
                        .map(|()| LogicOperator::And)
                },
                |p| p.string("or", "\"or\"").map(|()| LogicOperator::Or),
            )
        })?;
        lexeme(p, |p| p.char('(', "\"(\""))?;
        let children = separated(p, logic_tree, |p| lexeme(p, |p| p.char(',', "\",\"")))?;
        lexeme(p, |p| p.char(')', "\")\""))?;
        Ok(LogicTree::Group {
            negated,
            operator,
            children,
        })
    })
}

/// The key of a logic parameter: embed path, and the operator with `not.` in front if the path holds a `not`.
pub(crate) fn logic_path(p: &mut Parser<'_>) -> Parsed<(EmbedPath, String)> {
    let mut path = separated(p, name, delimiter)?;
    let operator = path.pop().unwrap_or_default();
    let negated = operator == "not" || path.iter().any(|part| part == "not");
    path.retain(|part| part != "not");
    Ok((
        path,
        if negated {
            format!("not.{operator}")
        } else {
            operator
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn parsed(text: &str) -> (bool, Operation) {
        parse("filter", text, text, filter_value).unwrap()
    }

    #[test]
    fn rest_017_plain_values_keep_quotes_commas_and_parentheses() {
        for value in ["\"x\"", "a,b(c)", "a.b.c", ""] {
            let (_, operation) = parsed(&format!("eq.{value}"));

            assert_eq!(
                operation,
                Operation::Quant(QuantOperator::Equal, None, value.to_owned())
            );
        }
    }

    #[test]
    fn rest_013_in_lists_unquote_their_elements() {
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
    fn rest_015_logic_trees_nest() {
        let tree = parse(
            "logic tree",
            "",
            "or(a.eq.1,not.and(b.gt.2,c.in.(1,2)),d.cs.{x,y})",
            logic_tree,
        )
        .unwrap();

        let LogicTree::Group {
            children, operator, ..
        } = tree
        else {
            panic!("a group")
        };
        assert_eq!((operator, children.len()), (LogicOperator::Or, 3));
        assert!(matches!(&children[1], LogicTree::Group { negated: true, .. }));
    }

    #[test]
    fn rest_078_filter_errors_read_like_the_reference() {
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

    #[test]
    fn rest_078_logic_errors_read_like_the_reference() {
        for (text, message) in [
            (
                "or()",
                "column 4) | unexpected \")\" expecting field name (* or [a..z0..9_$]), negation operator (not) or logic operator (and, or)",
            ),
            (
                "and()",
                "column 5) | unexpected \")\" expecting field name (* or [a..z0..9_$]), negation operator (not) or logic operator (and, or)",
            ),
            (
                "or(id.eq.1",
                "column 11) | unexpected end of input expecting \",\" or \")\"",
            ),
            (
                "or(id=eq.1)",
                "column 6) | unexpected \"=\" expecting letter, digit, \"-\", \"->>\", \"->\" or delimiter (.)",
            ),
            (
                "or(id.foo.1)",
                "column 7) | unexpected \"f\" expecting \"not\" or operator (eq, gt, ...)",
            ),
            (
                "and(id.gte.2,id.lte.4,not.id.eq.3)",
                "column 27) | unexpected \"i\" expecting logic operator (and, or)",
            ),
            ("andeq.1", "column 4) | unexpected \"e\" expecting \"(\""),
        ] {
            let Err(crate::error::RequestError::Query {
                message: first,
                details,
            }) = parse("logic tree", text, text, logic_tree)
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
