//! Template text → tree. Pure.

use serde_json::Value;

use super::{Command, Node, Pipeline, Template, TemplateError, Term};

/// Functions that a template may call.
pub(super) const FUNCTIONS: [&str; 16] = [
    "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "len", "index", "print", "printf", "html",
    "urlquery", "js",
];

/// One piece of the source: plain text, or the inside of `{{ }}`.
enum Piece<'a> {
    Text(&'a str),
    Action(&'a str, usize),
}

/// How a list of nodes ended.
enum Ending<'a> {
    EndOfText,
    End,
    Else(&'a str, usize),
}

pub(super) fn parse(text: &str) -> Result<Template, TemplateError> {
    let mut pieces = pieces(text)?.into_iter();
    let (nodes, ending) = parse_nodes(&mut pieces)?;
    match ending {
        Ending::EndOfText => Ok(Template { nodes }),
        Ending::End => Err(error(1, "\"end\" without \"if\"")),
        Ending::Else(_, line) => Err(error(line, "\"else\" without \"if\"")),
    }
}

fn error(line: usize, reason: impl Into<String>) -> TemplateError {
    TemplateError {
        line,
        reason: reason.into(),
    }
}

/// Splits at `{{` and `}}`, applies the trim markers, drops comments.
fn pieces(text: &str) -> Result<Vec<Piece<'_>>, TemplateError> {
    let mut out = Vec::new();
    let mut rest = text;
    let mut trim_next = false;
    while let Some(start) = rest.find("{{") {
        let line = text[..text.len() - rest.len() + start].matches('\n').count() + 1;
        let (before, after) = (&rest[..start], &rest[start + 2..]);
        let end = end_of_action(after).ok_or_else(|| error(line, "\"{{\" is not closed"))?;
        let mut action = &after[..end];
        let mut before = if trim_next { before.trim_start() } else { before };
        if let Some(trimmed) = action.strip_prefix("- ").or_else(|| action.strip_prefix("-\n")) {
            action = trimmed;
            before = before.trim_end();
        }
        trim_next = action.ends_with(" -");
        action = action.strip_suffix(" -").unwrap_or(action).trim();
        out.push(Piece::Text(before));
        if !action.starts_with("/*") {
            out.push(Piece::Action(action, line));
        }
        rest = &after[end + 2..];
    }
    out.push(Piece::Text(if trim_next { rest.trim_start() } else { rest }));
    Ok(out)
}

/// Where the action ends: the first `}}` outside a string.
fn end_of_action(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match quote {
            Some('"') if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '`' => quote = Some(c),
            None if text[at..].starts_with("}}") => return Some(at),
            None => {}
        }
    }
    None
}

fn parse_nodes<'a>(
    pieces: &mut impl Iterator<Item = Piece<'a>>,
) -> Result<(Vec<Node>, Ending<'a>), TemplateError> {
    let mut nodes = Vec::new();
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Text("") => {}
            Piece::Text(text) => nodes.push(Node::Text(text.to_owned())),
            Piece::Action(action, line) => {
                match action.split_once(char::is_whitespace).unwrap_or((action, "")) {
                    ("end", _) => return Ok((nodes, Ending::End)),
                    ("else", rest) => return Ok((nodes, Ending::Else(rest.trim(), line))),
                    (keyword @ ("if" | "with"), condition) => {
                        nodes.push(parse_branch(keyword, condition, line, pieces)?)
                    }
                    _ => nodes.push(Node::Output(parse_pipeline(action, line)?)),
                }
            }
        }
    }
    Ok((nodes, Ending::EndOfText))
}

fn parse_branch<'a>(
    keyword: &str,
    condition: &str,
    line: usize,
    pieces: &mut impl Iterator<Item = Piece<'a>>,
) -> Result<Node, TemplateError> {
    let condition = parse_pipeline(condition, line)?;
    let (then, ending) = parse_nodes(pieces)?;
    let otherwise = match ending {
        Ending::End => Vec::new(),
        Ending::EndOfText => return Err(error(line, format!("\"{keyword}\" has no \"end\""))),
        Ending::Else("", else_line) => match parse_nodes(pieces)? {
            (nodes, Ending::End) => nodes,
            _ => return Err(error(else_line, "\"else\" has no \"end\"")),
        },
        Ending::Else(rest, else_line) => match rest.split_once(char::is_whitespace) {
            Some((inner @ ("if" | "with"), condition)) => {
                vec![parse_branch(inner, condition, else_line, pieces)?]
            }
            _ => return Err(error(else_line, format!("\"else {rest}\" is not understood"))),
        },
    };
    Ok(if keyword == "if" {
        Node::If {
            condition,
            then,
            otherwise,
        }
    } else {
        Node::With {
            value: condition,
            then,
            otherwise,
        }
    })
}

/// What an action is made of.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Term(Term),
    Pipe,
    Open,
    Close,
}

fn parse_pipeline(text: &str, line: usize) -> Result<Pipeline, TemplateError> {
    let mut tokens = tokens(text, line)?.into_iter().peekable();
    let pipeline = read_pipeline(&mut tokens, line, false)?;
    Ok(pipeline)
}

fn read_pipeline(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = Token>>,
    line: usize,
    nested: bool,
) -> Result<Pipeline, TemplateError> {
    let mut pipeline = Vec::new();
    let mut terms = Vec::new();
    loop {
        match tokens.next() {
            Some(Token::Term(term)) => terms.push(term),
            Some(Token::Open) => terms.push(Term::Group(read_pipeline(&mut *tokens as &mut _, line, true)?)),
            Some(Token::Pipe) => pipeline.push(command(std::mem::take(&mut terms), line)?),
            Some(Token::Close) if nested => break,
            Some(Token::Close) => return Err(error(line, "unexpected \")\"")),
            None if nested => return Err(error(line, "\"(\" is not closed")),
            None => break,
        }
    }
    pipeline.push(command(terms, line)?);
    Ok(pipeline)
}

fn command(terms: Vec<Term>, line: usize) -> Result<Command, TemplateError> {
    match terms.first() {
        None => Err(error(line, "empty action")),
        Some(Term::Function(_)) => Ok(Command { terms }),
        Some(_) if terms.len() == 1 => Ok(Command { terms }),
        Some(_) => Err(error(line, "only functions take arguments")),
    }
}

fn tokens(text: &str, line: usize) -> Result<Vec<Token>, TemplateError> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '|' => {
                out.push(Token::Pipe);
                1
            }
            '(' => {
                out.push(Token::Open);
                1
            }
            ')' => {
                out.push(Token::Close);
                1
            }
            '"' | '`' => {
                let (value, length) =
                    string_literal(rest, first).ok_or_else(|| error(line, "string is not closed"))?;
                out.push(Token::Term(Term::Literal(Value::String(value))));
                length
            }
            _ => {
                let end = rest
                    .find(|c: char| c.is_whitespace() || "|()\"`".contains(c))
                    .unwrap_or(rest.len());
                out.push(Token::Term(word(&rest[..end], line)?));
                end
            }
        };
        rest = rest[length..].trim_start();
    }
    Ok(out)
}

/// A quoted string and how many bytes it took.
fn string_literal(text: &str, quote: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => {
                value.push(match c {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                });
                escaped = false;
            }
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return Some((value, at + 1)),
            c => value.push(c),
        }
    }
    None
}

fn word(text: &str, line: usize) -> Result<Term, TemplateError> {
    let path = |path: &str| {
        path.split('.')
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    if let Some(rest) = text.strip_prefix('$') {
        return Ok(Term::Root(path(rest)));
    }
    if text.starts_with('.') {
        return Ok(Term::Field(path(text)));
    }
    match text {
        "true" => Ok(Term::Literal(Value::Bool(true))),
        "false" => Ok(Term::Literal(Value::Bool(false))),
        "nil" => Ok(Term::Literal(Value::Null)),
        name if FUNCTIONS.contains(&name) => Ok(Term::Function(name.to_owned())),
        number => match number.parse::<serde_json::Number>() {
            Ok(number) => Ok(Term::Literal(Value::Number(number))),
            Err(_) => Err(error(line, format!("{text:?} is not understood"))),
        },
    }
}
