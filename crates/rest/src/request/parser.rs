//! A small backtracking parser whose errors read like PostgREST's.
//!
//! Clients show `details` of PGRST100 to people, and test suites compare them. PostgREST's are made by Parsec, so the
//! bookkeeping of expectations follows Parsec's rules: a parser that consumed nothing adds to the expectations at its
//! position, one that consumed replaces them, `attempt` forgets that something was consumed, `label` renames what was
//! expected.
//!
//! Messages never decide how parsing goes on. So a text is first parsed by a parser that collects none, and only a text
//! that was refused is parsed again by one that does.

use smallvec::SmallVec;

/// A message about a position at which parsing failed (Parsec's `Message`).
#[derive(Debug, Clone, Copy, PartialEq)]
enum ParseMessage {
    /// A token that did not fit; `None` is the end of input.
    Token(Option<char>),
    /// A character that was explicitly forbidden.
    Forbidden(char),
    /// What was expected, as it is printed.
    Expected(&'static str),
}

/// Messages about the furthest position at which parsing failed (Parsec's `ParseError`).
#[derive(Debug, Clone, Default)]
struct ParseError {
    at: usize,
    messages: SmallVec<[ParseMessage; 14]>,
}

impl ParseError {
    /// Merges messages in: those of a further position replace the others, those of a nearer one are dropped.
    fn add(&mut self, at: usize, messages: &[ParseMessage]) {
        if messages.is_empty() {
            return;
        }
        // The furthest position describes the error best, so messages about earlier ones are dropped.
        if self.messages.is_empty() || at > self.at {
            self.at = at;
            self.messages.clear();
            self.messages.extend_from_slice(messages);
        } else if at == self.at {
            self.messages.extend_from_slice(messages);
        }
    }
}

/// A parser failed. Whether it had consumed input decides whether an alternative may be tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Failure {
    consumed: bool,
}

/// The result of a parser.
pub(crate) type Parsed<T> = Result<T, Failure>;

/// Position in the text of one parameter, with the messages collected so far.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    text: &'a str,
    position: usize,
    /// Whether messages are collected.
    explains: bool,
    error: ParseError,
}

impl<'a> Parser<'a> {
    /// Creates a parser that detects whether the text can be parsed, but collects no error messages.
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            position: 0,
            explains: false,
            error: ParseError::default(),
        }
    }

    /// A parser that collects messages for [`Parser::describe_error`], which costs several times as much.
    pub(crate) fn explaining(text: &'a str) -> Self {
        Self {
            explains: true,
            ..Self::new(text)
        }
    }

    /// Adds messages about a position.
    fn note(&mut self, at: usize, messages: &[ParseMessage]) {
        if self.explains {
            self.error.add(at, messages);
        }
    }

    /// The text that is still to be parsed.
    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    /// The next character; `None` at the end of input.
    pub(crate) fn peek(&self) -> Option<char> {
        match self.text.as_bytes().get(self.position) {
            None => None,
            Some(byte) if byte.is_ascii() => Some(*byte as char),
            Some(_) => self.text[self.position..].chars().next(),
        }
    }

    /// Accepts everything up to the end, and returns it.
    pub(crate) fn take_rest(&mut self) -> &'a str {
        let rest = self.rest();
        if !rest.is_empty() {
            self.advance(rest.len());
        }
        rest
    }

    /// Consumes input, which makes earlier messages obsolete.
    fn advance(&mut self, bytes: usize) {
        self.position += bytes;
        self.error.messages.clear();
    }

    /// Fails without consuming, with these messages about the current position.
    fn fail<T>(&mut self, messages: &[ParseMessage]) -> Parsed<T> {
        self.note(self.position, messages);
        Err(Failure { consumed: false })
    }

    /// Accepts one character for which `accept` holds.
    pub(crate) fn satisfy(&mut self, accept: impl FnOnce(char) -> bool) -> Parsed<char> {
        match self.peek() {
            Some(found) if accept(found) => {
                self.advance(found.len_utf8());
                Ok(found)
            }
            found => self.fail(&[ParseMessage::Token(found)]),
        }
    }

    /// Accepts zero or more characters for which `accept` holds and returns them.
    pub(crate) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        if length > 0 {
            self.advance(length);
        }
        let next = self.peek();
        self.note(self.position, &[ParseMessage::Token(next)]);
        &rest[..length]
    }

    /// Accepts one or more characters for which `accept` holds.
    pub(crate) fn take_while1(&mut self, accept: impl Fn(char) -> bool) -> Parsed<&'a str> {
        let run = self.take_while(accept);
        if run.is_empty() {
            Err(Failure { consumed: false })
        } else {
            Ok(run)
        }
    }

    /// Adds expectations at the current position without failing: what could also have come here shows in the error if a
    /// later parser fails at the same position.
    pub(crate) fn note_expected(&mut self, expected: &[&'static str]) {
        let next = self.peek();
        for what in expected {
            self.note(
                self.position,
                &[ParseMessage::Token(next), ParseMessage::Expected(what)],
            );
        }
    }

    /// Accepts the character `wanted`, printed in errors as `shown`.
    pub(crate) fn char(&mut self, wanted: char, shown: &'static str) -> Parsed<()> {
        match self.peek() {
            Some(found) if found == wanted => {
                self.advance(found.len_utf8());
                Ok(())
            }
            found => self.fail(&[ParseMessage::Token(found), ParseMessage::Expected(shown)]),
        }
    }

    /// Accepts the ASCII text `wanted`, printed in errors as `shown`.
    ///
    /// Like Parsec's `string` it fails as consumed once the first character fits, and names the first that does not.
    pub(crate) fn string(&mut self, wanted: &str, shown: &'static str) -> Parsed<()> {
        if self.rest().starts_with(wanted) {
            self.advance(wanted.len());
            return Ok(());
        }
        let same = self
            .rest()
            .bytes()
            .zip(wanted.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        let found = self.text[self.position + same..].chars().next();
        if same == 0 {
            return self.fail(&[ParseMessage::Token(found), ParseMessage::Expected(shown)]);
        }
        self.error.messages.clear();
        self.note(
            self.position,
            &[ParseMessage::Token(found), ParseMessage::Expected(shown)],
        );
        Err(Failure { consumed: true })
    }

    /// Accepts only the end of input.
    pub(crate) fn end(&mut self) -> Parsed<()> {
        match self.peek() {
            None => {
                self.note(
                    self.position,
                    &[ParseMessage::Token(None), ParseMessage::Expected("end of input")],
                );
                Ok(())
            }
            Some(found) => self.fail(&[
                ParseMessage::Forbidden(found),
                ParseMessage::Expected("end of input"),
            ]),
        }
    }

    /// Fails without consuming and without adding a message.
    pub(crate) fn fail_silently<T>(&mut self) -> Parsed<T> {
        Err(Failure { consumed: false })
    }

    /// Fails if the next character satisfies `forbidden`; otherwise consumes nothing.
    pub(crate) fn not_followed_by(
        &mut self,
        forbidden: impl FnOnce(char) -> bool,
        shown: Option<&'static str>,
    ) -> Parsed<()> {
        match self.peek() {
            Some(found) if forbidden(found) => {
                let after = self.position + found.len_utf8();
                self.note(after, &[ParseMessage::Forbidden(found)]);
                Err(Failure { consumed: false })
            }
            found => {
                self.note(self.position, &[ParseMessage::Token(found)]);
                if let Some(shown) = shown {
                    self.note(self.position, &[ParseMessage::Expected(shown)]);
                }
                Ok(())
            }
        }
    }

    /// Runs `parse`; a failure moves back to the start and counts as if nothing had been consumed (Parsec's `try`).
    pub(crate) fn attempt<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let start = self.position;
        let before = self.explains.then(|| self.error.clone());
        match parse(self) {
            Ok(value) => Ok(value),
            Err(failed) => {
                let consumed = failed.consumed || self.position != start;
                self.position = start;
                if let Some(before) = before.filter(|_| consumed) {
                    let inner = std::mem::replace(&mut self.error, before);
                    self.error.add(inner.at, &inner.messages);
                }
                Err(Failure { consumed: false })
            }
        }
    }

    /// Runs `parse` and moves back to the start if it succeeded.
    pub(crate) fn look_ahead<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let start = self.position;
        let before = self.explains.then(|| self.error.clone());
        match parse(self) {
            Ok(value) => {
                self.position = start;
                if let Some(before) = before {
                    self.error = before;
                }
                Ok(value)
            }
            failed => failed,
        }
    }

    /// Runs `parse`; `None` if it failed without consuming.
    pub(crate) fn optional<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<Option<T>> {
        let start = self.position;
        match parse(self) {
            Ok(value) => Ok(Some(value)),
            Err(failed) if failed.consumed || self.position != start => Err(Failure { consumed: true }),
            Err(_) => Ok(None),
        }
    }

    /// Runs `first`, and `second` if that failed without consuming.
    pub(crate) fn either<T>(
        &mut self,
        first: impl FnOnce(&mut Self) -> Parsed<T>,
        second: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let start = self.position;
        match first(self) {
            Err(failed) if !failed.consumed && self.position == start => second(self),
            Err(_) => Err(Failure { consumed: true }),
            ok => ok,
        }
    }

    /// Runs several parsers in a row, so that the failure of a later one counts as consumed if an earlier one consumed.
    pub(crate) fn sequence<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let start = self.position;
        parse(self).map_err(|failed| Failure {
            consumed: failed.consumed || self.position != start,
        })
    }

    /// Prints what `parse` expected as `name`, unless it consumed input.
    pub(crate) fn label<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        if !self.explains {
            return parse(self);
        }
        let start = self.position;
        let before = std::mem::take(&mut self.error);
        let result = parse(self);
        let consumed = match &result {
            Ok(_) => self.position != start,
            Err(failed) => failed.consumed || self.position != start,
        };
        if !consumed {
            let inner = std::mem::replace(&mut self.error, before);
            if !inner.messages.is_empty() || result.is_err() {
                let at = if inner.messages.is_empty() {
                    start
                } else {
                    inner.at
                };
                let mut renamed: SmallVec<[ParseMessage; 14]> = SmallVec::new();
                renamed.push(ParseMessage::Expected(name));
                renamed.extend(
                    inner
                        .messages
                        .iter()
                        .copied()
                        .filter(|r| !matches!(r, ParseMessage::Expected(_))),
                );
                self.error.add(at, &renamed);
            }
        }
        result
    }

    /// The column (from 1) at which parsing stopped, and the text of the messages there.
    pub(crate) fn describe_error(&self) -> (usize, String) {
        let at = if self.error.messages.is_empty() {
            self.position
        } else {
            self.error.at
        };
        let column = self.text[..at].chars().count() + 1;
        (column, self.render_messages())
    }

    /// `unexpected … expecting a, b or c`.
    fn render_messages(&self) -> String {
        let messages = &self.error.messages;
        let forbidden = messages.iter().find_map(|r| match r {
            ParseMessage::Forbidden(c) => Some(format!("unexpected '{}'", escape_char(*c, '\''))),
            _ => None,
        });
        let token = || {
            messages.iter().find_map(|r| match r {
                ParseMessage::Token(None) => Some("unexpected end of input".to_owned()),
                ParseMessage::Token(Some(c)) => Some(format!("unexpected \"{}\"", escape_char(*c, '"'))),
                _ => None,
            })
        };
        let mut expected: Vec<&str> = Vec::new();
        for message in messages {
            if let ParseMessage::Expected(what) = message
                && !expected.contains(what)
            {
                expected.push(what);
            }
        }
        let mut text = forbidden.or_else(token).unwrap_or_else(|| {
            if expected.is_empty() {
                "unknown parse error".to_owned()
            } else {
                String::new()
            }
        });
        if let Some((last, others)) = expected.split_last() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str("expecting ");
            if !others.is_empty() {
                text.push_str(&others.join(", "));
                text.push_str(" or ");
            }
            text.push_str(last);
        }
        text
    }
}

/// A character as Haskell prints it inside of quotes: control and non-ASCII characters become escapes.
fn escape_char(c: char, quote: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\0' => "\\NUL".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if c == quote => format!("\\{c}"),
        c if c.is_ascii() && !c.is_ascii_control() => c.to_string(),
        c => format!("\\{}", c as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_078_a_failed_string_reports_the_first_wrong_character() {
        let mut parser = Parser::explaining("nope");

        let failed = parser.string("not", "\"not\"");

        assert_eq!(failed, Err(Failure { consumed: true }));
        let (column, text) = parser.describe_error();
        assert_eq!((column, text.as_str()), (1, "unexpected \"p\" expecting \"not\""));
    }

    #[test]
    fn rest_078_alternatives_at_one_position_are_listed_together() {
        let mut parser = Parser::explaining("x");

        let failed = parser.either(|p| p.char('a', "\"a\""), |p| p.char('b', "\"b\""));

        assert!(failed.is_err());
        assert_eq!(
            parser.describe_error().1,
            "unexpected \"x\" expecting \"a\" or \"b\""
        );
    }

    #[test]
    fn rest_078_consumed_input_drops_earlier_expectations() {
        let mut parser = Parser::explaining("ab");

        let done = parser.sequence(|p| {
            p.optional(|p| p.char('x', "\"x\""))?;
            p.char('a', "\"a\"")?;
            p.char('c', "\"c\"")
        });

        assert_eq!(done, Err(Failure { consumed: true }));
        assert_eq!(
            parser.describe_error(),
            (2, "unexpected \"b\" expecting \"c\"".to_owned())
        );
    }
}
