//! Where in a token's claims the role stands: a small part of JSONPath, in the forms that PostgREST has had.
//!
//! `$.role`, `.role`, `role`; `$.app_metadata.roles[0]`, `$['app_metadata']["roles"][-1]`, `$.roles[*]`,
//! `$.token[1:5]`; filters on text: `$.roles[?(@ == "admin")]`, `!=`, `^==` (begins), `==^` (ends), `*==` (contains).

use serde_json::{Map, Value};
use std::borrow::Cow;

/// Most values a wildcard or filter may leave behind at any step.
const MOST_CANDIDATES: usize = 1_000;

/// A path to the role claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RolePath {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(i64),
    All,
    Slice(Option<i64>, Option<i64>),
    Filter(Comparison, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Begins,
    Ends,
    Contains,
}

impl Default for RolePath {
    fn default() -> Self {
        Self {
            steps: vec![Step::Key("role".to_owned())],
        }
    }
}

impl RolePath {
    /// Reads a path.
    ///
    /// # Errors
    /// Where the text stops making sense.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = Rest(text.trim());
        let rooted = rest.take("$");
        let mut steps = Vec::new();
        if !rooted && !rest.0.starts_with(['.', '[']) && !rest.0.is_empty() {
            steps.push(rest.name()?);
        }
        while !rest.0.is_empty() {
            let step = if rest.take(".") {
                if rest.take("*") { Step::All } else { rest.name()? }
            } else if rest.take("[") {
                rest.bracket()?
            } else {
                return Err(rest.unexpected());
            };
            steps.push(step);
        }
        if steps.is_empty() {
            return Err("names no claim".to_owned());
        }
        Ok(Self { steps })
    }

    /// The first value at the path; what is no text counts by its JSON text.
    pub(crate) fn find<'c>(&self, claims: &'c Map<String, Value>) -> Option<Cow<'c, str>> {
        let (first, rest) = self.steps.split_first()?;
        let Step::Key(first) = first else {
            // the claims are an object: only a name or a wildcard can begin
            let mut found: Vec<Cow<'c, Value>> = match first {
                Step::All => claims.values().map(Cow::Borrowed).collect(),
                _ => return None,
            };
            for step in rest {
                found = step.apply(found);
            }
            return text_of(found.into_iter().next()?);
        };
        let mut found = vec![Cow::Borrowed(claims.get(first)?)];
        for step in rest {
            found = step.apply(found);
        }
        text_of(found.into_iter().next()?)
    }
}

fn text_of(value: Cow<'_, Value>) -> Option<Cow<'_, str>> {
    Some(match value {
        Cow::Borrowed(Value::String(role)) => Cow::Borrowed(role.as_str()),
        Cow::Owned(Value::String(role)) => Cow::Owned(role),
        other => Cow::Owned(other.to_string()),
    })
}

impl Step {
    fn apply<'c>(&self, values: Vec<Cow<'c, Value>>) -> Vec<Cow<'c, Value>> {
        let mut found: Vec<Cow<'c, Value>> = Vec::new();
        for value in values {
            match value {
                Cow::Borrowed(value) => self.step_into(value, &mut found),
                // only a slice of a text is a value of our own, and the only step into a text is another slice
                Cow::Owned(Value::String(text)) => {
                    if let Step::Slice(from, to) = self {
                        found.push(Cow::Owned(Value::String(slice_text(&text, *from, *to))));
                    }
                }
                Cow::Owned(_) => {}
            }
            if found.len() >= MOST_CANDIDATES {
                break;
            }
        }
        found
    }

    fn step_into<'c>(&self, value: &'c Value, found: &mut Vec<Cow<'c, Value>>) {
        match (self, value) {
            (Self::Key(name), Value::Object(map)) => found.extend(map.get(name).map(Cow::Borrowed)),
            (Self::Index(index), Value::Array(items)) => {
                found.extend(at(items, *index).map(Cow::Borrowed));
            }
            (Self::All, Value::Array(items)) => found.extend(items.iter().map(Cow::Borrowed)),
            (Self::All, Value::Object(map)) => found.extend(map.values().map(Cow::Borrowed)),
            (Self::Slice(from, to), Value::Array(items)) => {
                let (from, to) = bounds(items.len(), *from, *to);
                found.extend(items[from..to].iter().map(Cow::Borrowed));
            }
            (Self::Slice(from, to), Value::String(text)) => {
                found.push(Cow::Owned(Value::String(slice_text(text, *from, *to))));
            }
            (Self::Filter(comparison, wanted), Value::Array(items)) => {
                let fits = items.iter().filter(|item| comparison.holds(item, wanted));
                found.extend(fits.map(Cow::Borrowed));
            }
            _ => {}
        }
    }
}

fn at(items: &[Value], index: i64) -> Option<&Value> {
    let position = usize::try_from(index.unsigned_abs()).ok()?;
    if index < 0 {
        items.get(items.len().checked_sub(position)?)
    } else {
        items.get(position)
    }
}

fn bounds(length: usize, from: Option<i64>, to: Option<i64>) -> (usize, usize) {
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

fn slice_text(text: &str, from: Option<i64>, to: Option<i64>) -> String {
    let (from, to) = bounds(text.chars().count(), from, to);
    text.chars().skip(from).take(to - from).collect()
}

impl Comparison {
    fn holds(self, value: &Value, wanted: &str) -> bool {
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

/// What is still to be read.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    fn take(&mut self, word: &str) -> bool {
        let rest = self.0.strip_prefix(word);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn blanks(&mut self) {
        self.0 = self.0.trim_start();
    }

    fn unexpected(&self) -> String {
        match self.0.chars().next() {
            Some(c) => format!("unexpected {c:?}"),
            None => "unexpected end".to_owned(),
        }
    }

    /// A name behind a dot, quoted or not.
    fn name(&mut self) -> Result<Step, String> {
        if self.0.starts_with(['"', '\'']) {
            return self.quoted().map(Step::Key);
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

    fn quoted(&mut self) -> Result<String, String> {
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

    /// What stands in brackets, up to their end.
    fn bracket(&mut self) -> Result<Step, String> {
        self.blanks();
        let step = if self.0.starts_with(['"', '\'']) {
            Step::Key(self.quoted()?)
        } else if self.take("*") {
            Step::All
        } else if self.take("?") {
            self.filter()?
        } else {
            let from = self.integer()?;
            self.blanks();
            if self.take(":") {
                self.blanks();
                Step::Slice(from, self.integer()?)
            } else {
                Step::Index(from.ok_or_else(|| self.unexpected())?)
            }
        };
        self.blanks();
        if self.take("]") {
            Ok(step)
        } else {
            Err(self.unexpected())
        }
    }

    fn filter(&mut self) -> Result<Step, String> {
        self.blanks();
        let in_parentheses = self.take("(");
        self.blanks();
        if !self.take("@") {
            return Err(self.unexpected());
        }
        self.blanks();
        // `==^` before `==`, of which it is a longer form
        let comparisons = [
            ("==^", Comparison::Ends),
            ("^==", Comparison::Begins),
            ("*==", Comparison::Contains),
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
        ];
        let comparison = comparisons.into_iter().find(|(word, _)| self.take(word));
        let (_, comparison) = comparison.ok_or_else(|| self.unexpected())?;
        self.blanks();
        let wanted = self.quoted()?;
        self.blanks();
        if in_parentheses && !self.take(")") {
            return Err(self.unexpected());
        }
        Ok(Step::Filter(comparison, wanted))
    }

    fn integer(&mut self) -> Result<Option<i64>, String> {
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
            "people": [{ "role": "deep" }],
            "token": "xxauthor",
        });
        let Value::Object(map) = claims else {
            panic!("an object")
        };
        RolePath::parse(path).unwrap().find(&map).map(Cow::into_owned)
    }

    #[test]
    fn rest_001_paths_find_the_role_claim() {
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
            ("$.none", None),
            ("$.role.deeper", None),
        ] {
            assert_eq!(find(path).as_deref(), role, "{path}");
        }
    }

    #[test]
    fn rest_001_paths_that_make_no_sense_are_refused() {
        for path in [
            "",
            "$",
            "$.",
            "$..role",
            "$.role[",
            "$.role[x]",
            "$.role[?(@ < 3)]",
            "$.a b",
            "$.\"x",
            "$.role[0",
            "$[?(@ == 'x']",
        ] {
            assert!(RolePath::parse(path).is_err(), "{path}");
        }
    }
}
