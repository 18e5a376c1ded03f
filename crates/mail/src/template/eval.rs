//! Rendering: walks the tree of a template with its data. It never fails: a missing value or one of the wrong type
//! renders as nothing, because a mail with a gap is better than a sign-up that fails.

use serde_json::Value;

use super::context::Writer;
use super::{Command, Escape, Node, Pipeline, Term};

/// The text that a template makes.
pub(super) enum Output {
    Html(Writer),
    /// Nothing is escaped.
    Plain(String),
}

impl Output {
    pub(super) fn new(escape: Escape) -> Self {
        match escape {
            Escape::Html => Self::Html(Writer::new()),
            Escape::None => Self::Plain(String::new()),
        }
    }

    pub(super) fn finish(self) -> String {
        match self {
            Self::Html(writer) => writer.finish(),
            Self::Plain(text) => text,
        }
    }

    fn write_text(&mut self, text: &str) {
        match self {
            Self::Html(writer) => writer.write_text(text),
            Self::Plain(out) => out.push_str(text),
        }
    }

    fn write_value(&mut self, value: &str, is_encoded: bool) {
        match self {
            Self::Html(writer) => writer.write_value(value, is_encoded),
            Self::Plain(out) => out.push_str(value),
        }
    }
}

/// Appends the rendered nodes to `out`. `root` is the whole data (`$`), `dot` the value of `.`.
pub(super) fn render_nodes(nodes: &[Node], root: &Value, dot: &Value, out: &mut Output) {
    for node in nodes {
        match node {
            Node::Text(text) => out.write_text(text),
            Node::Output(pipeline) => {
                let value = display(&evaluate(pipeline, root, dot));
                out.write_value(&value, ends_with_urlquery(pipeline));
            }
            Node::If {
                condition,
                then,
                otherwise,
            } => {
                let branch = if is_true(&evaluate(condition, root, dot)) {
                    then
                } else {
                    otherwise
                };
                render_nodes(branch, root, dot, out);
            }
            Node::With {
                value,
                then,
                otherwise,
            } => {
                let value = evaluate(value, root, dot);
                if is_true(&value) {
                    render_nodes(then, root, &value, out)
                } else {
                    render_nodes(otherwise, root, dot, out)
                }
            }
        }
    }
}

/// Whether a template encodes a value for a query by itself.
fn ends_with_urlquery(pipeline: &Pipeline) -> bool {
    let last = pipeline.last().and_then(|command| command.terms.first());
    matches!(last, Some(Term::Function(name)) if name == "urlquery")
}

/// The value of a pipeline: that of its last command.
fn evaluate(pipeline: &Pipeline, root: &Value, dot: &Value) -> Value {
    pipeline
        .iter()
        .fold(None, |previous, command| {
            Some(run_command(command, previous, root, dot))
        })
        .unwrap_or(Value::Null)
}

/// Runs one command. As in Go, the result of the previous command becomes its last argument.
fn run_command(command: &Command, previous: Option<Value>, root: &Value, dot: &Value) -> Value {
    let mut terms = command.terms.iter();
    let first = terms.next();
    let mut arguments: Vec<Value> = terms.map(|term| resolve_term(term, root, dot)).collect();
    arguments.extend(previous);
    match first {
        Some(Term::Function(name)) => call_function(name, &arguments),
        Some(term) => resolve_term(term, root, dot),
        None => Value::Null,
    }
}

/// The value of a term; null for a field that does not exist.
fn resolve_term(term: &Term, root: &Value, dot: &Value) -> Value {
    let walk = |start: &Value, path: &[String]| {
        path.iter()
            .try_fold(start, |value, key| value.get(key))
            .cloned()
            .unwrap_or(Value::Null)
    };
    match term {
        Term::Field(path) => walk(dot, path),
        Term::Root(path) => walk(root, path),
        Term::Literal(value) => value.clone(),
        Term::Function(name) => call_function(name, &[]),
        Term::Group(pipeline) => evaluate(pipeline, root, dot),
    }
}

/// Calls one of Go's built-in template functions, as far as mails use them.
fn call_function(name: &str, arguments: &[Value]) -> Value {
    let first = arguments.first().unwrap_or(&Value::Null);
    let others = arguments.get(1..).unwrap_or_default();
    let second = others.first().unwrap_or(&Value::Null);
    match name {
        // As in Go, `eq` is true when the first argument equals any of the others.
        "eq" => Value::Bool(others.iter().any(|other| equal(first, other))),
        "ne" => Value::Bool(!equal(first, second)),
        "lt" => Value::Bool(compare(first, second).is_some_and(|order| order.is_lt())),
        "le" => Value::Bool(compare(first, second).is_some_and(|order| order.is_le())),
        "gt" => Value::Bool(compare(first, second).is_some_and(|order| order.is_gt())),
        "ge" => Value::Bool(compare(first, second).is_some_and(|order| order.is_ge())),
        // As in Go, `and` and `or` return the deciding argument itself, not a boolean.
        "and" => arguments
            .iter()
            .find(|value| !is_true(value))
            .or(arguments.last())
            .cloned()
            .unwrap_or(Value::Null),
        "or" => arguments
            .iter()
            .find(|value| is_true(value))
            .or(arguments.last())
            .cloned()
            .unwrap_or(Value::Null),
        "not" => Value::Bool(!is_true(first)),
        "len" => Value::from(length(first)),
        "index" => others
            .iter()
            .try_fold(first, |value, key| match key {
                Value::String(key) => value.get(key),
                key => value.get(usize::try_from(key.as_u64()?).ok()?),
            })
            .cloned()
            .unwrap_or(Value::Null),
        "print" => Value::String(arguments.iter().map(display).collect()),
        "printf" => Value::String(format_verbs(&display(first), others)),
        // `index` above returns null where Go would fail, because a mail must still be sent.
        "urlquery" => Value::String(percent_encode(&display(first))),
        // The output is escaped anyway when it is written; escaping here as well would show the entities to the reader.
        _ => first.clone(),
    }
}

fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        // A missing field equals the empty string, because templates test optional data with `eq .Field ""`.
        (Value::Null, Value::String(text)) | (Value::String(text), Value::Null) => text.is_empty(),
        _ => a == b,
    }
}

/// The order of two numbers or two texts; `None` for values of different types, which makes every comparison
/// false.
fn compare(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    }
}

/// Go's truth: false, 0, null, and empty texts, lists and objects are false.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64() != Some(0.0),
        other => length(other) > 0,
    }
}

/// A value as text. Null is empty: Go would write `<no value>`, which no recipient should read.
fn display(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `printf` with the verbs that texts need; each verb takes the next argument.
fn format_verbs(format: &str, arguments: &[Value]) -> String {
    let mut out = String::new();
    let mut arguments = arguments.iter();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '%' { chars.next() } else { None }) {
            ('%', Some('%')) => out.push('%'),
            ('%', Some('s' | 'v' | 'd')) => out.push_str(&arguments.next().map(display).unwrap_or_default()),
            ('%', Some('q')) => out.push_str(&format!(
                "{:?}",
                arguments.next().map(display).unwrap_or_default()
            )),
            // An unknown verb is written as it is, so that the author of the template notices it.
            (c, following) => {
                out.push(c);
                out.extend(following);
            }
        }
    }
    out
}

/// Encodes text for a query, as Go's `url.QueryEscape`: a space becomes `+`.
fn percent_encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
