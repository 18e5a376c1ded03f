//! Logic trees: `and=(…)` and `or=(…)`.

use super::super::ast::{EmbedPath, Filter, LogicOperator, LogicTree};
use super::super::parser::{Parsed, Parser};
use super::combinators::{lexeme, separated};
use super::filter::{closes_value, expression, keyword_and_dot, quoted_element};
use super::names::{delimiter, field, name};

/// A value inside of a logic tree: quoted, an array literal `{…}`, or up to the next `,` or `)`.
fn logic_value(p: &mut Parser<'_>) -> Parsed<String> {
    p.either(quoted_element, |p| {
        p.either(
            |p| {
                p.attempt(|p| {
                    p.string("{", "\"{\"")?;
                    let inner = p.take_while(|c| c != '{' && c != '}').to_owned();
                    p.string("}", "\"}\"")?;
                    Ok(format!("{{{inner}}}"))
                })
            },
            |p| Ok(p.take_while(|c| !closes_value(c)).to_owned()),
        )
    })
}

/// A filter or a group of them.
pub(crate) fn logic_tree(p: &mut Parser<'_>) -> Parsed<LogicTree> {
    p.either(|p| p.attempt(logic_filter).map(LogicTree::Filter), logic_group)
}

/// `field "." expression`.
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

/// `[ "not." ] ("and" | "or") "(" tree { "," tree } ")"`.
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

/// The key of a logic parameter, `{ name "." } ("and" | "or")`: the path of an embed, and the operator.
///
/// Compat: a `not` anywhere in the path negates the operator.
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
    fn rest_078_errors_in_logic_trees_read_like_postgrests() {
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
