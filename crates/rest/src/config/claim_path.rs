//! Where a claim is in a token: the role (`jwt-role-claim-key`) or the tenant, as JSONPath (RFC 9535) or in PostgREST's older
//! forms.
//!
//! Older forms: a path without `$` (`.role`, `role`), slices of strings (`$.token[1:5]`), and comparisons `^==` (begins),
//! `==^` (ends) and `*==` (contains), as in `$.roles[?(@ ^== "app_")]`.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};
use serde_json_path::JsonPath;

/// How many values a wildcard or filter may select at any step: claims come from tokens, and only the first value is used.
const MAX_CANDIDATES: usize = 1_000;

/// A path to a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPath {
    form: Form,
    /// The path as written in the setting.
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// Keys, indices, slices and PostgREST's own filters: evaluated on the claims as they are.
    Steps(Vec<Step>),
    /// Any other JSONPath expression.
    Query(JsonPath),
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(i64),
    All,
    Slice(Option<i64>, Option<i64>),
    Filter(Comparison, String),
}

/// How a filter compares a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Begins,
    Ends,
    Contains,
}

impl Default for ClaimPath {
    fn default() -> Self {
        Self {
            form: Form::Steps(vec![Step::Key("role".to_owned())]),
            text: "$.role".to_owned(),
        }
    }
}

impl ClaimPath {
    /// Parses a path.
    ///
    /// # Errors
    /// What was not expected, without the rest of the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if matches!(text, "" | "$") {
            return Err("names no claim".to_owned());
        }
        let steps = parse_steps(text);
        let has_filter = |steps: &Vec<Step>| steps.iter().any(|step| matches!(step, Step::Filter(..)));
        let form = match (steps, JsonPath::parse(text)) {
            // Filters that both forms can express have the meaning that the standard (RFC 9535) gives them.
            (Ok(steps), Ok(query)) if has_filter(&steps) => Form::Query(query),
            (Ok(steps), _) => Form::Steps(steps),
            (Err(_), Ok(query)) => Form::Query(query),
            (Err(reason), Err(_)) => return Err(reason),
        };
        Ok(Self {
            form,
            text: text.to_owned(),
        })
    }

    /// Returns the first value at the path; a value that is not a string as its JSON text.
    pub(crate) fn find<'c>(&self, claims: &'c Map<String, Value>) -> Option<Cow<'c, str>> {
        self.find_value(claims).map(value_text)
    }

    /// The same, but null counts as if there were no value.
    pub(crate) fn find_unless_null<'c>(&self, claims: &'c Map<String, Value>) -> Option<Cow<'c, str>> {
        let value = self.find_value(claims)?;
        (!value.is_null()).then(|| value_text(value))
    }

    fn find_value<'c>(&self, claims: &'c Map<String, Value>) -> Option<Cow<'c, Value>> {
        match &self.form {
            Form::Steps(steps) => find_by_steps(steps, claims),
            Form::Query(query) => {
                // A query starts at a JSON value; only such a configuration pays for the copy.
                let claims = Value::Object(claims.clone());
                Some(Cow::Owned(query.query(&claims).first()?.clone()))
            }
        }
    }
}

impl fmt::Display for ClaimPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The steps of a path in PostgREST's own forms.
fn parse_steps(text: &str) -> Result<Vec<Step>, String> {
    let mut rest = RemainingText(text);
    let rooted = rest.take_word("$");
    let mut steps = Vec::new();
    if !rooted && !rest.0.starts_with(['.', '[']) && !rest.0.is_empty() {
        steps.push(rest.parse_name()?);
    }
    while !rest.0.is_empty() {
        let step = if rest.take_word(".") {
            if rest.take_word("*") {
                Step::All
            } else {
                rest.parse_name()?
            }
        } else if rest.take_word("[") {
            rest.parse_bracket()?
        } else {
            return Err(rest.unexpected());
        };
        steps.push(step);
    }
    Ok(steps)
}

fn find_by_steps<'c>(steps: &[Step], claims: &'c Map<String, Value>) -> Option<Cow<'c, Value>> {
    let (first, rest) = steps.split_first()?;
    // The claims are an object, of which only a name or a wildcard selects.
    let mut found: Vec<Cow<'c, Value>> = match first {
        Step::Key(name) => vec![Cow::Borrowed(claims.get(name)?)],
        Step::All => claims.values().map(Cow::Borrowed).collect(),
        _ => return None,
    };
    for step in rest {
        found = step.apply(found);
    }
    found.into_iter().next()
}

/// A string as it is, any other value as JSON.
fn value_text(value: Cow<'_, Value>) -> Cow<'_, str> {
    match value {
        Cow::Borrowed(Value::String(text)) => Cow::Borrowed(text.as_str()),
        Cow::Owned(Value::String(text)) => Cow::Owned(text),
        other => Cow::Owned(other.to_string()),
    }
}

impl Step {
    /// The values that the step selects, of all values before it.
    fn apply<'c>(&self, values: Vec<Cow<'c, Value>>) -> Vec<Cow<'c, Value>> {
        let mut found: Vec<Cow<'c, Value>> = Vec::new();
        for value in values {
            match value {
                Cow::Borrowed(value) => self.step_into(value, &mut found),
                // Only the slice of a string is owned, and the only step that applies to a string is another slice.
                Cow::Owned(Value::String(text)) => {
                    if let Step::Slice(from, to) = self {
                        found.push(Cow::Owned(Value::String(slice_text(&text, *from, *to))));
                    }
                }
                Cow::Owned(_) => {}
            }
            // Each wildcard multiplies the number of values, so without a bound a token could make the evaluation
            // slow.
            if found.len() >= MAX_CANDIDATES {
                break;
            }
        }
        found
    }

    /// Adds what the step selects in one value.
    fn step_into<'c>(&self, value: &'c Value, found: &mut Vec<Cow<'c, Value>>) {
        match (self, value) {
            (Self::Key(name), Value::Object(map)) => found.extend(map.get(name).map(Cow::Borrowed)),
            (Self::Index(index), Value::Array(items)) => {
                found.extend(item_at(items, *index).map(Cow::Borrowed));
            }
            (Self::All, Value::Array(items)) => found.extend(items.iter().map(Cow::Borrowed)),
            (Self::All, Value::Object(map)) => found.extend(map.values().map(Cow::Borrowed)),
            (Self::Slice(from, to), Value::Array(items)) => {
                let (from, to) = slice_bounds(items.len(), *from, *to);
                found.extend(items[from..to].iter().map(Cow::Borrowed));
            }
            (Self::Slice(from, to), Value::String(text)) => {
                found.push(Cow::Owned(Value::String(slice_text(text, *from, *to))));
            }
            (Self::Filter(comparison, wanted), Value::Array(items)) => {
                let fits = items
                    .iter()
                    .filter(|item| comparison.is_satisfied_by(item, wanted));
                found.extend(fits.map(Cow::Borrowed));
            }
            _ => {}
        }
    }
}

/// The item at an index; negative ones count from the end.
fn item_at(items: &[Value], index: i64) -> Option<&Value> {
    let position = usize::try_from(index.unsigned_abs()).ok()?;
    if index < 0 {
        items.get(items.len().checked_sub(position)?)
    } else {
        items.get(position)
    }
}

/// The bounds of a slice within a length; negative ones count from the end.
fn slice_bounds(length: usize, from: Option<i64>, to: Option<i64>) -> (usize, usize) {
    let place = |index: i64| {
        let distance = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
        if index < 0 {
            length.saturating_sub(distance)
        } else {
            distance.min(length)
        }
    };
    let from = from.map_or(0, place);
    let to = to.map_or(length, place);
    (from, to.max(from))
}

/// A slice of a string, by characters.
fn slice_text(text: &str, from: Option<i64>, to: Option<i64>) -> String {
    let (from, to) = slice_bounds(text.chars().count(), from, to);
    text.chars().skip(from).take(to - from).collect()
}

impl Comparison {
    /// Whether a value satisfies the comparison; only strings can.
    fn is_satisfied_by(self, value: &Value, wanted: &str) -> bool {
        let Value::String(text) = value else { return false };
        match self {
            Self::Equal => text == wanted,
            Self::NotEqual => text != wanted,
            Self::Begins => text.starts_with(wanted),
            Self::Ends => text.ends_with(wanted),
            Self::Contains => text.contains(wanted),
        }
    }
}

/// The part of the path that is still to be parsed.
struct RemainingText<'t>(&'t str);

impl<'t> RemainingText<'t> {
    /// Consumes a word if it comes next.
    fn take_word(&mut self, word: &str) -> bool {
        let rest = self.0.strip_prefix(word);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Skips blanks.
    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start();
    }

    /// The error at the current position.
    fn unexpected(&self) -> String {
        match self.0.chars().next() {
            Some(c) => format!("unexpected {c:?}"),
            None => "unexpected end".to_owned(),
        }
    }

    /// A name, quoted or not.
    fn parse_name(&mut self) -> Result<Step, String> {
        if self.0.starts_with(['"', '\'']) {
            return self.parse_quoted().map(Step::Key);
        }
        let end = self
            .0
            .find(|c: char| !(c.is_alphanumeric() || "_$@-".contains(c)))
            .unwrap_or(self.0.len());
        if end == 0 {
            return Err(self.unexpected());
        }
        let (name, rest) = self.0.split_at(end);
        self.0 = rest;
        Ok(Step::Key(name.to_owned()))
    }

    /// A quoted string with `\` as escape.
    fn parse_quoted(&mut self) -> Result<String, String> {
        let quote = self.0.chars().next().filter(|c| matches!(c, '"' | '\''));
        let quote = quote.ok_or_else(|| self.unexpected())?;
        let mut text = String::new();
        let mut chars = self.0.char_indices().skip(1);
        while let Some((position, c)) = chars.next() {
            match c {
                '\\' => text.extend(chars.next().map(|(_, escaped)| escaped)),
                c if c == quote => {
                    self.0 = &self.0[position + c.len_utf8()..];
                    return Ok(text);
                }
                c => text.push(c),
            }
        }
        Err("a quote is not closed".to_owned())
    }

    /// A step in brackets, without the opening one.
    fn parse_bracket(&mut self) -> Result<Step, String> {
        self.skip_blanks();
        let step = if self.0.starts_with(['"', '\'']) {
            Step::Key(self.parse_quoted()?)
        } else if self.take_word("*") {
            Step::All
        } else if self.take_word("?") {
            self.parse_filter()?
        } else {
            let from = self.parse_integer()?;
            self.skip_blanks();
            if self.take_word(":") {
                self.skip_blanks();
                Step::Slice(from, self.parse_integer()?)
            } else {
                Step::Index(from.ok_or_else(|| self.unexpected())?)
            }
        };
        self.skip_blanks();
        if self.take_word("]") {
            Ok(step)
        } else {
            Err(self.unexpected())
        }
    }

    /// A filter behind its `?`.
    fn parse_filter(&mut self) -> Result<Step, String> {
        self.skip_blanks();
        let in_parentheses = self.take_word("(");
        self.skip_blanks();
        if !self.take_word("@") {
            return Err(self.unexpected());
        }
        self.skip_blanks();
        // `==^` is tried before `==`: otherwise `==` would match its first two characters and leave the `^` unread.
        let comparisons = [
            ("==^", Comparison::Ends),
            ("^==", Comparison::Begins),
            ("*==", Comparison::Contains),
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
        ];
        let comparison = comparisons.into_iter().find(|(word, _)| self.take_word(word));
        let (_, comparison) = comparison.ok_or_else(|| self.unexpected())?;
        self.skip_blanks();
        let wanted = self.parse_quoted()?;
        self.skip_blanks();
        if in_parentheses && !self.take_word(")") {
            return Err(self.unexpected());
        }
        Ok(Step::Filter(comparison, wanted))
    }

    /// An integer, if one comes next.
    fn parse_integer(&mut self) -> Result<Option<i64>, String> {
        let digits = self.0.strip_prefix('-').unwrap_or(self.0);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let end = end + (self.0.len() - digits.len());
        let (number, rest) = self.0.split_at(end);
        if number.is_empty() {
            return Ok(None);
        }
        let number = number.parse().map_err(|_| self.unexpected())?;
        self.0 = rest;
        Ok(Some(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn find(path: &str) -> Option<String> {
        let claims = json!({
            "role": "plain",
            "https://x.io/role": "url",
            "number": 7,
            "null": null,
            "app": { "roles": ["a_one", "b_two", "c_admin"], "my-role": "dashed", "empty": [] },
            "people": [{ "role": "deep", "level": 1 }, { "role": "high", "level": 5, "more": { "deepest": "found" } }],
            "token": "xxauthor",
        });
        let Value::Object(map) = claims else {
            panic!("an object")
        };
        ClaimPath::parse(path).unwrap().find(&map).map(Cow::into_owned)
    }

    #[test]
    fn rest_001_the_role_is_found_by_its_path_in_the_claims() {
        for (path, role) in [
            ("$.role", Some("plain")),
            (".role", Some("plain")),
            ("role", Some("plain")),
            ("app.my-role", Some("dashed")),
            ("$.app.roles[0]", Some("a_one")),
            ("$.app.roles[-1]", Some("c_admin")),
            ("$.app.roles[3]", None),
            ("$.app.empty[0]", None),
            ("$.app.roles[*]", Some("a_one")),
            ("$['app'][\"roles\"][1]", Some("b_two")),
            (".\"https://x.io/role\"", Some("url")),
            ("$.people[*].role", Some("deep")),
            ("$.app.roles[?(@ == \"b_two\")]", Some("b_two")),
            ("$.app.roles[?@ != 'a_one']", Some("b_two")),
            ("$.app.roles[?(@ ^== \"b_\")]", Some("b_two")),
            ("$.app.roles[?(@ ==^ \"admin\")]", Some("c_admin")),
            ("$.app.roles[?(@ *== \"_t\")]", Some("b_two")),
            ("$.token[2:]", Some("author")),
            ("$.token[-6:-3]", Some("aut")),
            ("$.app.roles[1:2]", Some("b_two")),
            ("$.number", Some("7")),
            ("$.null", Some("null")),
            ("$..deepest", Some("found")),
            ("$.app.roles[?match(@, \"c_.*\")]", Some("c_admin")),
            ("$.people[?@.level > 3].role", Some("high")),
            ("$['none','role']", Some("plain")),
            ("$.app.roles[::2]", Some("a_one")),
            ("$.none", None),
            ("$.role.deeper", None),
        ] {
            assert_eq!(find(path).as_deref(), role, "{path}");
        }
    }

    #[test]
    fn rest_001_malformed_role_paths_are_refused() {
        for path in [
            "",
            "$",
            "$.",
            "$.role[",
            "$.role[x]",
            "$.role[?(@ < )]",
            "$.a b",
            "$.\"x",
            "$.role[0",
            "$[?(@ == 'x']",
        ] {
            assert!(ClaimPath::parse(path).is_err(), "{path}");
        }
    }
}
