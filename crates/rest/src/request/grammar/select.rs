//! The `select` parameter: `select=id,total:price.sum()::text,author:profiles!fk!inner(name)`.

use super::super::ast::{Aggregate, Field, JoinKind, SelectEmbed, SelectField, SelectItem};
use super::super::parser::{Parsed, Parser};
use super::combinators::lexeme;
use super::names::{field, name, word};

/// `[ item { "," item } ]`; an empty list is allowed.
pub(crate) fn select_list(p: &mut Parser<'_>) -> Parsed<Vec<SelectItem>> {
    let mut items = Vec::new();
    let Some(first) = p.optional(item)? else {
        return Ok(items);
    };
    items.push(first);
    while p.optional(|p| lexeme(p, |p| p.char(',', "\",\"")))?.is_some() {
        items.push(p.sequence(item)?);
    }
    Ok(items)
}

/// A spread embed, an embed, or a field.
fn item(p: &mut Parser<'_>) -> Parsed<SelectItem> {
    p.either(
        |p| embedded(p, spread_head),
        |p| {
            p.either(
                |p| embedded(p, embed_head),
                |p| select_field(p).map(SelectItem::Field),
            )
        },
    )
}

/// `head "(" select_list ")"`.
fn embedded(
    p: &mut Parser<'_>,
    head: impl FnOnce(&mut Parser<'_>) -> Parsed<SelectEmbed>,
) -> Parsed<SelectItem> {
    p.sequence(|p| {
        let mut embed = p.attempt(|p| lexeme(p, head))?;
        p.char('(', "\"(\"")?;
        embed.items = select_list(p)?;
        p.char(')', "\")\"")?;
        Ok(SelectItem::Embed(embed))
    })
}

/// `"..." name parts`.
fn spread_head(p: &mut Parser<'_>) -> Parsed<SelectEmbed> {
    p.string("...", "\"...\"")?;
    let target = name(p)?;
    let (hint, join) = embed_parts(p)?;
    opening_follows(p)?;
    Ok(SelectEmbed {
        target,
        alias: None,
        hint,
        join,
        spread: true,
        items: Vec::new(),
    })
}

/// Parses `[ alias ":" ] name parts`. `count(…)` is not an embed: `count()` is an aggregate.
fn embed_head(p: &mut Parser<'_>) -> Parsed<SelectEmbed> {
    let alias = alias(p)?;
    let target = name(p)?;
    // `count()` would read as an embed without columns.
    if target == "count" {
        return p.fail_silently();
    }
    let (hint, join) = embed_parts(p)?;
    opening_follows(p)?;
    Ok(SelectEmbed {
        target,
        alias,
        hint,
        join,
        spread: false,
        items: Vec::new(),
    })
}

/// Accepts a `(` without consuming it.
fn opening_follows(p: &mut Parser<'_>) -> Parsed<()> {
    p.attempt(|p| p.look_ahead(|p| p.string("(", "\"(\"")))
}

/// `name ":"`, where the colon is not the first of a cast's `::`.
fn alias(p: &mut Parser<'_>) -> Parsed<Option<String>> {
    p.optional(|p| {
        p.attempt(|p| {
            let alias = name(p)?;
            p.char(':', "\":\"")?;
            p.not_followed_by(|c| c == ':', Some("\":\""))?;
            Ok(alias)
        })
    })
}

/// A part between an embed's target and its parentheses.
enum Part {
    Hint(String),
    Join(JoinKind),
}

/// Parses up to two of `!left`, `!inner`, `!hint`; the first of each kind is used.
fn embed_parts(p: &mut Parser<'_>) -> Parsed<(Option<String>, Option<JoinKind>)> {
    let (mut hint, mut join) = (None, None);
    for _ in 0..2 {
        match p.optional(embed_part)? {
            Some(Part::Hint(found)) => hint = hint.or(Some(found)),
            Some(Part::Join(found)) => join = join.or(Some(found)),
            None => {}
        }
    }
    Ok((hint, join))
}

/// `"!left" | "!inner" | "!" hint`.
///
/// Compat: a hint that begins with `left` or `inner` is cut there, and what is left of it fails to parse, as in PostgREST.
fn embed_part(p: &mut Parser<'_>) -> Parsed<Part> {
    p.sequence(|p| {
        p.char('!', "\"!\"")?;
        p.either(
            |p| {
                p.attempt(|p| p.string("left", "\"left\""))
                    .map(|()| Part::Join(JoinKind::Left))
            },
            |p| {
                p.either(
                    |p| {
                        p.attempt(|p| p.string("inner", "\"inner\""))
                            .map(|()| Part::Join(JoinKind::Inner))
                    },
                    |p| p.attempt(name).map(Part::Hint),
                )
            },
        )
    })
}

/// `"*" | count_all | plain_field`.
fn select_field(p: &mut Parser<'_>) -> Parsed<SelectField> {
    lexeme(p, |p| {
        p.either(
            |p| p.attempt(star),
            |p| p.either(|p| p.attempt(count_all), plain_field),
        )
    })
}

/// A field without a path.
fn bare(name: &str) -> Field {
    Field {
        name: name.to_owned(),
        path: Vec::new(),
    }
}

/// `"*"`.
fn star(p: &mut Parser<'_>) -> Parsed<SelectField> {
    p.string("*", "\"*\"")?;
    item_ends(p)?;
    Ok(SelectField {
        field: bare("*"),
        alias: None,
        cast: None,
        aggregate: None,
        aggregate_cast: None,
    })
}

/// `[ alias ":" ] "count()" [ cast ]`.
fn count_all(p: &mut Parser<'_>) -> Parsed<SelectField> {
    let alias = alias(p)?;
    p.string("count()", "\"count()\"")?;
    let aggregate_cast = cast(p)?;
    item_ends(p)?;
    Ok(SelectField {
        field: bare("*"),
        alias,
        cast: None,
        aggregate: Some(Aggregate::Count),
        aggregate_cast,
    })
}

/// `[ alias ":" ] field [ cast ] [ "." aggregate "()" ] [ cast ]`.
fn plain_field(p: &mut Parser<'_>) -> Parsed<SelectField> {
    p.sequence(|p| {
        let alias = alias(p)?;
        let field = field(p)?;
        let cast_before = cast(p)?;
        let aggregate = p.optional(|p| {
            p.attempt(|p| {
                p.char('.', "\".\"")?;
                let aggregate = aggregate(p)?;
                p.string("()", "\"()\"")?;
                Ok(aggregate)
            })
        })?;
        let aggregate_cast = cast(p)?;
        item_ends(p)?;
        Ok(SelectField {
            field,
            alias,
            cast: cast_before,
            aggregate,
            aggregate_cast,
        })
    })
}

/// `"::" type`.
fn cast(p: &mut Parser<'_>) -> Parsed<Option<String>> {
    p.optional(|p| {
        p.sequence(|p| {
            p.string("::", "\"::\"")?;
            word(p)
        })
    })
}

/// The name of an aggregate.
fn aggregate(p: &mut Parser<'_>) -> Parsed<Aggregate> {
    p.either(
        |p| p.string("sum", "\"sum\"").map(|()| Aggregate::Sum),
        |p| {
            p.either(
                |p| p.string("avg", "\"avg\"").map(|()| Aggregate::Avg),
                |p| {
                    p.either(
                        |p| p.string("count", "\"count\"").map(|()| Aggregate::Count),
                        |p| {
                            p.either(
                                |p| p.attempt(|p| p.string("max", "\"max\"")).map(|()| Aggregate::Max),
                                |p| p.attempt(|p| p.string("min", "\"min\"")).map(|()| Aggregate::Min),
                            )
                        },
                    )
                },
            )
        },
    )
}

/// Accepts the end of an item without consuming it: `)`, `,` or the end of input.
fn item_ends(p: &mut Parser<'_>) -> Parsed<()> {
    p.either(
        |p| p.attempt(|p| p.look_ahead(|p| p.string(")", "\")\""))),
        |p| {
            p.either(
                |p| p.attempt(|p| p.look_ahead(|p| p.string(",", "\",\""))),
                |p| p.attempt(Parser::end),
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn details(text: &str) -> String {
        match parse("select parameter", text, text, select_list) {
            Err(crate::error::RequestError::Query { message, details }) => format!("{message} | {details}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn rest_034_alias_cast_and_json_path_parse() {
        let items = parse(
            "select parameter",
            "",
            "x:data->a->>b::text, n:price.sum()::int",
            select_list,
        );

        let items = items.unwrap();
        let SelectItem::Field(first) = &items[0] else {
            panic!("a field")
        };
        assert_eq!(first.alias.as_deref(), Some("x"));
        assert_eq!(first.field.path.len(), 2);
        assert_eq!(first.cast.as_deref(), Some("text"));
        let SelectItem::Field(second) = &items[1] else {
            panic!("a field")
        };
        assert_eq!(
            (second.aggregate, second.aggregate_cast.as_deref()),
            (Some(Aggregate::Sum), Some("int"))
        );
    }

    #[test]
    fn rest_027_embeds_carry_hint_and_join() {
        let items = parse(
            "select parameter",
            "",
            "id,author:profiles!fk!inner(id,...x(y)),n()",
            select_list,
        );

        let items = items.unwrap();
        let SelectItem::Embed(author) = &items[1] else {
            panic!("an embed")
        };
        assert_eq!(author.alias.as_deref(), Some("author"));
        assert_eq!(
            (author.hint.as_deref(), author.join),
            (Some("fk"), Some(JoinKind::Inner))
        );
        assert!(matches!(&author.items[1], SelectItem::Embed(inner) if inner.spread));
        assert!(matches!(&items[2], SelectItem::Embed(inner) if inner.items.is_empty()));
    }

    #[test]
    fn rest_078_errors_in_select_read_like_postgrests() {
        for (text, message) in [
            (
                "p:price.avg()::numeric(8,2)",
                "column 23) | unexpected '(' expecting letter, digit, \")\", \",\" or end of input",
            ),
            (
                "count().x",
                "column 6) | unexpected '(' expecting letter, digit, \"-\", \"->>\", \"->\", \"::\", \".\", \")\", \",\" or end of input",
            ),
            (
                "price.SUM()",
                "column 7) | unexpected \"S\" expecting \"sum\", \"avg\", \"count\", \"max\" or \"min\"",
            ),
            (
                "id,...b:brands(name)",
                "column 8) | unexpected \":\" expecting letter, digit, \"-\", \"!\" or \"(\"",
            ),
            (
                "id,.brands(name)",
                "column 4) | unexpected \".\" expecting \"...\", field name (* or [a..z0..9_$]), \"*\" or \"count()\"",
            ),
            (
                "id,brands(name",
                "column 15) | unexpected end of input expecting letter, digit, \"-\", \"->>\", \"->\", \"::\", \".\", \")\", \",\" or end of input",
            ),
            (
                "id,a_jsonb->>",
                "column 14) | unexpected end of input expecting \"-\", digit or any non reserved character different from: .,>()",
            ),
            (
                "id,a_jsonb->a>b",
                "column 14) | unexpected '>' expecting \"-\", \"->>\", \"->\", \"::\", \".\", \")\", \",\" or end of input",
            ),
            ("a:b:id", "column 4) | unexpected \"i\" expecting \"::\""),
            (
                "id::",
                "column 5) | unexpected end of input expecting letter or digit",
            ),
            (
                "id::\"text\"",
                "column 5) | unexpected \"\\\"\" expecting letter or digit",
            ),
            (
                "id(",
                "column 4) | unexpected end of input expecting \"...\", field name (* or [a..z0..9_$]), \"*\", \"count()\" or \")\"",
            ),
            (
                "quo\"ted",
                "column 4) | unexpected '\"' expecting letter, digit, \"-\", \"->>\", \"->\", \"::\", \".\", \")\", \",\" or end of input",
            ),
        ] {
            assert!(
                details(text).ends_with(message),
                "{text}\n  {}\n  {message}",
                details(text)
            );
        }
    }
}
