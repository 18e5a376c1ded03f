//! Parsing: turns the text of a template into a tree.

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

/// What ended a list of template nodes.
enum Ending<'a> {
    EndOfText,
    End,
    Else(&'a str, usize),
}

/// Parses a whole template.
pub(super) fn parse_template(text: &str) -> Result<Template, TemplateError> {
    let mut pieces = split_pieces(text)?.into_iter();
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
fn split_pieces(text: &str) -> Result<Vec<Piece<'_>>, TemplateError> {
    let mut out = Vec::new();
    let mut rest = text;
    let mut trim_next = false;
    while let Some(start) = rest.find("{{") {
        // Errors name the line in which the action begins.
        let line = text[..text.len() - rest.len() + start].matches('\n').count() + 1;
        let (before, after) = (&rest[..start], &rest[start + 2..]);
        let end = find_end_of_action(after).ok_or_else(|| error(line, "\"{{\" is not closed"))?;
        let mut action = &after[..end];
        let mut before = if trim_next { before.trim_start() } else { before };
        // `{{- ` removes whitespace before the action, ` -}}` after it. The space is required: `{{-1}}` is a number.
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

/// Position of the first `}}` outside a string, which ends the action.
fn find_end_of_action(text: &str) -> Option<usize> {
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

/// Parses nodes up to the action that ends their list: `end`, `else`, or the end of the text.
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

/// Parses the rest of an `if` or `with` up to its `end`. `else if` becomes a nested branch, which shares that
/// `end`.
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
            _ => return Err(error(else_line, format!("\"else {rest}\" is not supported"))),
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

/// One token of an action.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Term(Term),
    Pipe,
    Open,
    Close,
}

/// Parses the inside of an action as a pipeline.
fn parse_pipeline(text: &str, line: usize) -> Result<Pipeline, TemplateError> {
    let mut tokens = split_tokens(text, line)?.into_iter().peekable();
    let pipeline = read_pipeline(&mut tokens, line, false)?;
    Ok(pipeline)
}

/// Reads commands separated by `|`, up to the closing parenthesis when `nested`, otherwise to the end.
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
            Some(Token::Pipe) => pipeline.push(build_command(std::mem::take(&mut terms), line)?),
            Some(Token::Close) if nested => break,
            Some(Token::Close) => return Err(error(line, "unexpected \")\"")),
            None if nested => return Err(error(line, "\"(\" is not closed")),
            None => break,
        }
    }
    pipeline.push(build_command(terms, line)?);
    Ok(pipeline)
}

/// Builds a command. Only a function may have arguments.
fn build_command(terms: Vec<Term>, line: usize) -> Result<Command, TemplateError> {
    match terms.first() {
        None => Err(error(line, "empty action")),
        Some(Term::Function(_)) => Ok(Command { terms }),
        Some(_) if terms.len() == 1 => Ok(Command { terms }),
        Some(_) => Err(error(line, "only functions take arguments")),
    }
}

/// Splits the inside of an action into tokens.
fn split_tokens(text: &str, line: usize) -> Result<Vec<Token>, TemplateError> {
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
                    parse_string(rest, first).ok_or_else(|| error(line, "string is not closed"))?;
                out.push(Token::Term(Term::Literal(Value::String(value))));
                length
            }
            _ => {
                let end = rest
                    .find(|c: char| c.is_whitespace() || "|()\"`".contains(c))
                    .unwrap_or(rest.len());
                out.push(Token::Term(parse_word(&rest[..end], line)?));
                end
            }
        };
        rest = rest[length..].trim_start();
    }
    Ok(out)
}

/// Parses a quoted string; returns its value and the number of bytes that it takes up. `None` when it is not
/// closed.
fn parse_string(text: &str, quote: char) -> Option<(String, usize)> {
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

/// Parses a field, a function name, a constant or a number.
fn parse_word(text: &str, line: usize) -> Result<Term, TemplateError> {
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
            Err(_) => Err(error(line, format!("{text:?} is not supported"))),
        },
    }
}
