//! Names, quoted names, JSON paths, and the paths of embeds in front of parameters.

use super::super::ast::{EmbedPath, Field, JsonOperand, JsonStep};
use super::super::parser::{Parsed, Parser};
use super::combinators::{lexeme, separated};

/// Whether a name may hold the character without quotes.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$' || c == ' '
}

/// An unquoted word, also of type names; blanks at its ends are dropped.
pub(super) fn word(p: &mut Parser<'_>) -> Parsed<String> {
    let run = p.take_while1(is_word);
    p.note_expected(&["letter", "digit"]);
    run.map(|run| run.trim().to_owned())
}

/// Parses `"…"`, in which `\` escapes a quote or backslash, and may precede any other character.
pub(super) fn quoted(p: &mut Parser<'_>) -> Parsed<String> {
    p.sequence(|p| {
        p.char('"', "\"\\\"\"")?;
        let mut value = String::new();
        loop {
            value.push_str(p.take_while(|c| c != '"' && c != '\\'));
            if p.peek() == Some('\\') {
                p.char('\\', "\"\\\\\"")?;
                value.push(p.satisfy(|_| true)?);
            } else {
                p.char('"', "\"\\\"\"")?;
                return Ok(value);
            }
        }
    })
}

/// A `-` inside of a name; not one that begins the arrow of a JSON path.
fn dash(p: &mut Parser<'_>) -> Parsed<()> {
    p.attempt(|p| {
        p.char('-', "\"-\"")?;
        p.not_followed_by(|c| c == '>', Some("\">\""))
    })
}

/// `part { "-" part }`.
fn joined_by_dash(
    p: &mut Parser<'_>,
    mut part: impl FnMut(&mut Parser<'_>) -> Parsed<String>,
) -> Parsed<String> {
    p.sequence(|p| {
        let mut name = part(p)?;
        while p.optional(dash)?.is_some() {
            name.push('-');
            name.push_str(&part(p)?);
        }
        Ok(name)
    })
}

/// A column, relation, alias or hint.
pub(super) fn name(p: &mut Parser<'_>) -> Parsed<String> {
    p.label("field name (* or [a..z0..9_$])", |p| {
        p.either(quoted, |p| joined_by_dash(p, word))
    })
}

/// Most steps of a JSON path: as deep as a JSON body may nest. Each is one more level of nesting for PostgreSQL's parser,
/// whose stack is limited.
const MAX_PATH_STEPS: usize = 128;

/// `{ ("->>" | "->") (index | key) }`.
pub(super) fn json_path(p: &mut Parser<'_>) -> Parsed<Vec<JsonStep>> {
    let mut path = Vec::new();
    while let Some(step) = p.optional(json_step)? {
        if path.len() == MAX_PATH_STEPS {
            return p.fail_silently();
        }
        path.push(step);
    }
    Ok(path)
}

/// `("->>" | "->") (index | key)`.
fn json_step(p: &mut Parser<'_>) -> Parsed<JsonStep> {
    p.sequence(|p| {
        let as_text = p.either(
            |p| p.attempt(|p| p.string("->>", "\"->>\"")).map(|()| true),
            |p| p.attempt(|p| p.string("->", "\"->\"")).map(|()| false),
        )?;
        let operand = p.either(|p| p.attempt(json_index), |p| p.attempt(json_key))?;
        Ok(JsonStep { as_text, operand })
    })
}

/// `[ "-" ] digits`, if the step ends there: `0a` is a key.
fn json_index(p: &mut Parser<'_>) -> Parsed<JsonOperand> {
    let sign = if p.optional(|p| p.char('-', "\"-\""))?.is_some() {
        '-'
    } else {
        '+'
    };
    let digits = p.label("digit", |p| p.take_while1(|c| c.is_ascii_digit()));
    p.note_expected(&["digit"]);
    let digits = digits?;
    let follows = |p: &mut Parser<'_>, text: &str, shown: &'static str| {
        p.attempt(|p| p.look_ahead(|p| p.string(text, shown)))
    };
    // Each of these could come next; PostgREST names them all where none does.
    let ends = follows(p, "->", "\"->\"").is_ok()
        || follows(p, "::", "\"::\"").is_ok()
        || follows(p, ".", "\".\"").is_ok()
        || follows(p, ",", "\",\"").is_ok()
        || p.end().is_ok();
    if !ends {
        return p.fail_silently();
    }
    Ok(JsonOperand::Index(format!("{sign}{digits}")))
}

/// A key of an object, quoted if it holds a reserved character.
fn json_key(p: &mut Parser<'_>) -> Parsed<JsonOperand> {
    let run = |p: &mut Parser<'_>| {
        p.take_while1(|c| !matches!(c, '(' | '-' | ':' | '.' | ',' | '>' | ')'))
            .map(|run| run.trim().to_owned())
    };
    p.label("any non reserved character different from: .,>()", |p| {
        p.either(quoted, |p| joined_by_dash(p, run))
    })
    .map(JsonOperand::Key)
}

/// `name json_path`, with blanks around it.
pub(super) fn field(p: &mut Parser<'_>) -> Parsed<Field> {
    lexeme(p, |p| {
        Ok(Field {
            name: name(p)?,
            path: json_path(p)?,
        })
    })
}

/// The `.` between the parts of a path or expression.
pub(super) fn delimiter(p: &mut Parser<'_>) -> Parsed<()> {
    p.label("delimiter (.)", |p| p.char('.', "\".\""))
}

/// `{ name "." } name json_path`: the key of a filter, order or range.
pub(crate) fn tree_path(p: &mut Parser<'_>) -> Parsed<(EmbedPath, Field)> {
    p.sequence(|p| {
        let mut path = separated(p, name, delimiter)?;
        let steps = json_path(p)?;
        let name = path.pop().unwrap_or_default();
        Ok((path, Field { name, path: steps }))
    })
}

/// `name { "," name }` of `columns` and `on_conflict`.
pub(crate) fn column_list(p: &mut Parser<'_>) -> Parsed<Vec<String>> {
    separated(p, name, |p| lexeme(p, |p| p.char(',', "\",\"")))
}
