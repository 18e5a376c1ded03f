//! A small backtracking parser whose errors read like those of the reference implementation.
//!
//! Clients show `details` of PGRST100 to people, and test suites compare them, so the bookkeeping of expectations
//! follows the rules of Parsec: a parser that consumed nothing adds to the expectations at its position, one that
//! consumed replaces them, `attempt` forgets that something was consumed, `label` renames what was expected.
//! Messages are `Copy`, so parsing a correct query allocates nothing for errors it never shows.

use smallvec::SmallVec;

/// One remark about a position where parsing could not go on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Remark {
    /// A token that did not fit; `None` is the end of input.
    Token(Option<char>),
    /// A character that was explicitly forbidden.
    Forbidden(char),
    /// What would have fitted, as it is to be printed.
    Expected(&'static str),
}

/// What went wrong furthest into the input.
#[derive(Debug, Clone, Default)]
struct Trouble {
    at: usize,
    remarks: SmallVec<[Remark; 14]>,
}

impl Trouble {
    fn add(&mut self, at: usize, remarks: &[Remark]) {
        if remarks.is_empty() {
            return;
        }
        if self.remarks.is_empty() || at > self.at {
            self.at = at;
            self.remarks.clear();
            self.remarks.extend_from_slice(remarks);
        } else if at == self.at {
            self.remarks.extend_from_slice(remarks);
        }
    }
}

/// A parser failed; whether it had consumed input decides if an alternative may be tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Failed {
    consumed: bool,
}

pub(crate) type Parsed<T> = Result<T, Failed>;

/// Position in one parameter's text, and what is known about the reasons to stop there.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    text: &'a str,
    position: usize,
    trouble: Trouble,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            position: 0,
            trouble: Trouble::default(),
        }
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        match self.text.as_bytes().get(self.position) {
            None => None,
            Some(byte) if byte.is_ascii() => Some(*byte as char),
            Some(_) => self.text[self.position..].chars().next(),
        }
    }

    /// Takes everything up to the end.
    pub(crate) fn take_rest(&mut self) -> &'a str {
        let rest = self.rest();
        if !rest.is_empty() {
            self.advance(rest.len());
        }
        rest
    }

    fn advance(&mut self, bytes: usize) {
        self.position += bytes;
        self.trouble.remarks.clear();
    }

    fn fail<T>(&mut self, remarks: &[Remark]) -> Parsed<T> {
        self.trouble.add(self.position, remarks);
        Err(Failed { consumed: false })
    }

    /// Accepts one character for which `accept` holds.
    pub(crate) fn satisfy(&mut self, accept: impl FnOnce(char) -> bool) -> Parsed<char> {
        match self.peek() {
            Some(found) if accept(found) => {
                self.advance(found.len_utf8());
                Ok(found)
            }
            found => self.fail(&[Remark::Token(found)]),
        }
    }

    /// Accepts zero or more characters for which `accept` holds and returns them.
    pub(crate) fn run_of(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        if length > 0 {
            self.advance(length);
        }
        let next = self.peek();
        self.trouble.add(self.position, &[Remark::Token(next)]);
        &rest[..length]
    }

    /// Accepts one or more characters for which `accept` holds.
    pub(crate) fn run_of_at_least_one(&mut self, accept: impl Fn(char) -> bool) -> Parsed<&'a str> {
        let run = self.run_of(accept);
        if run.is_empty() {
            Err(Failed { consumed: false })
        } else {
            Ok(run)
        }
    }

    /// Notes expectations at the current position without failing.
    pub(crate) fn could_continue_with(&mut self, expected: &[&'static str]) {
        let next = self.peek();
        for what in expected {
            self.trouble
                .add(self.position, &[Remark::Token(next), Remark::Expected(what)]);
        }
    }

    /// Accepts the character `wanted`, printed in errors as `shown`.
    pub(crate) fn char(&mut self, wanted: char, shown: &'static str) -> Parsed<()> {
        match self.peek() {
            Some(found) if found == wanted => {
                self.advance(found.len_utf8());
                Ok(())
            }
            found => self.fail(&[Remark::Token(found), Remark::Expected(shown)]),
        }
    }

    /// Accepts the ASCII text `wanted`, printed in errors as `shown`. Fails as consumed after its first character.
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
            return self.fail(&[Remark::Token(found), Remark::Expected(shown)]);
        }
        self.trouble.remarks.clear();
        self.trouble
            .add(self.position, &[Remark::Token(found), Remark::Expected(shown)]);
        Err(Failed { consumed: true })
    }

    /// Accepts only the end of input.
    pub(crate) fn end(&mut self) -> Parsed<()> {
        match self.peek() {
            None => {
                self.trouble.add(
                    self.position,
                    &[Remark::Token(None), Remark::Expected("end of input")],
                );
                Ok(())
            }
            Some(found) => self.fail(&[Remark::Forbidden(found), Remark::Expected("end of input")]),
        }
    }

    /// Fails without consuming and without a remark.
    pub(crate) fn refuse<T>(&mut self) -> Parsed<T> {
        Err(Failed { consumed: false })
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
                self.trouble.add(after, &[Remark::Forbidden(found)]);
                Err(Failed { consumed: false })
            }
            found => {
                self.trouble.add(self.position, &[Remark::Token(found)]);
                if let Some(shown) = shown {
                    self.trouble.add(self.position, &[Remark::Expected(shown)]);
                }
                Ok(())
            }
        }
    }

    /// Runs `parse`; a failure counts as if nothing had been consumed.
    pub(crate) fn attempt<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let start = self.position;
        let before = self.trouble.clone();
        match parse(self) {
            Ok(value) => Ok(value),
            Err(failed) => {
                let consumed = failed.consumed || self.position != start;
                self.position = start;
                if consumed {
                    let inner = std::mem::replace(&mut self.trouble, before);
                    self.trouble.add(inner.at, &inner.remarks);
                }
                Err(Failed { consumed: false })
            }
        }
    }

    /// Runs `parse` without moving on.
    pub(crate) fn look_ahead<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let start = self.position;
        let before = self.trouble.clone();
        match parse(self) {
            Ok(value) => {
                self.position = start;
                self.trouble = before;
                Ok(value)
            }
            failed => failed,
        }
    }

    /// Runs `parse`; if it failed without consuming, `None`.
    pub(crate) fn optional<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<Option<T>> {
        let start = self.position;
        match parse(self) {
            Ok(value) => Ok(Some(value)),
            Err(failed) if failed.consumed || self.position != start => Err(Failed { consumed: true }),
            Err(_) => Ok(None),
        }
    }

    /// Runs `first`, and `second` if it failed without consuming.
    pub(crate) fn either<T>(
        &mut self,
        first: impl FnOnce(&mut Self) -> Parsed<T>,
        second: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let start = self.position;
        match first(self) {
            Err(failed) if !failed.consumed && self.position == start => second(self),
            Err(_) => Err(Failed { consumed: true }),
            ok => ok,
        }
    }

    /// Runs `parse` as one step of a sequence, so that its failure is "consumed" once input has moved.
    pub(crate) fn sequence<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let start = self.position;
        parse(self).map_err(|failed| Failed {
            consumed: failed.consumed || self.position != start,
        })
    }

    /// Prints what `parse` expected as `name`, unless it consumed input.
    pub(crate) fn label<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let start = self.position;
        let before = std::mem::take(&mut self.trouble);
        let result = parse(self);
        let consumed = match &result {
            Ok(_) => self.position != start,
            Err(failed) => failed.consumed || self.position != start,
        };
        if !consumed {
            let inner = std::mem::replace(&mut self.trouble, before);
            if !inner.remarks.is_empty() || result.is_err() {
                let at = if inner.remarks.is_empty() { start } else { inner.at };
                let mut renamed: SmallVec<[Remark; 14]> = SmallVec::new();
                renamed.push(Remark::Expected(name));
                renamed.extend(
                    inner
                        .remarks
                        .iter()
                        .copied()
                        .filter(|r| !matches!(r, Remark::Expected(_))),
                );
                self.trouble.add(at, &renamed);
            }
        }
        result
    }

    /// The column (from 1) where parsing stopped, and the sentence about it.
    pub(crate) fn explain(&self) -> (usize, String) {
        let at = if self.trouble.remarks.is_empty() {
            self.position
        } else {
            self.trouble.at
        };
        let column = self.text[..at].chars().count() + 1;
        (column, self.sentence())
    }

    fn sentence(&self) -> String {
        let remarks = &self.trouble.remarks;
        let forbidden = remarks.iter().find_map(|r| match r {
            Remark::Forbidden(c) => Some(format!("unexpected '{}'", escape(*c, '\''))),
            _ => None,
        });
        let token = || {
            remarks.iter().find_map(|r| match r {
                Remark::Token(None) => Some("unexpected end of input".to_owned()),
                Remark::Token(Some(c)) => Some(format!("unexpected \"{}\"", escape(*c, '"'))),
                _ => None,
            })
        };
        let mut expected: Vec<&str> = Vec::new();
        for remark in remarks {
            if let Remark::Expected(what) = remark
                && !expected.contains(what)
            {
                expected.push(what);
            }
        }
        let mut sentence = forbidden.or_else(token).unwrap_or_else(|| {
            if expected.is_empty() {
                "unknown parse error".to_owned()
            } else {
                String::new()
            }
        });
        if let Some((last, others)) = expected.split_last() {
            if !sentence.is_empty() {
                sentence.push(' ');
            }
            sentence.push_str("expecting ");
            if !others.is_empty() {
                sentence.push_str(&others.join(", "));
                sentence.push_str(" or ");
            }
            sentence.push_str(last);
        }
        sentence
    }
}

/// A character as the reference prints it inside quotes: control and non-ASCII characters become escapes.
fn escape(c: char, quote: char) -> String {
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
    fn rest_078_a_failed_string_names_the_character_and_what_was_expected() {
        let mut parser = Parser::new("nope");

        let failed = parser.string("not", "\"not\"");

        assert_eq!(failed, Err(Failed { consumed: true }));
        let (column, text) = parser.explain();
        assert_eq!((column, text.as_str()), (1, "unexpected \"p\" expecting \"not\""));
    }

    #[test]
    fn rest_078_alternatives_at_one_position_are_listed_together() {
        let mut parser = Parser::new("x");

        let failed = parser.either(|p| p.char('a', "\"a\""), |p| p.char('b', "\"b\""));

        assert!(failed.is_err());
        assert_eq!(parser.explain().1, "unexpected \"x\" expecting \"a\" or \"b\"");
    }

    #[test]
    fn rest_078_consuming_forgets_earlier_expectations() {
        let mut parser = Parser::new("ab");

        let done = parser.sequence(|p| {
            p.optional(|p| p.char('x', "\"x\""))?;
            p.char('a', "\"a\"")?;
            p.char('c', "\"c\"")
        });

        assert_eq!(done, Err(Failed { consumed: true }));
        assert_eq!(
            parser.explain(),
            (2, "unexpected \"b\" expecting \"c\"".to_owned())
        );
    }
}
