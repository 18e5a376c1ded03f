//! Splits SQL text into tokens, so that the statement splitter and the parser of extension statements know where strings,
//! comments and dollar quotes begin and end. It follows PostgreSQL's lexical rules with `standard_conforming_strings` on,
//! and does not parse the grammar.

/// Kind of a token. Numbers, operators and parameters are all [`TokenKind::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Whitespace,
    Comment,
    /// A keyword or an unquoted identifier.
    Word,
    /// `"…"`, also `U&"…"`.
    QuotedIdentifier,
    /// `'…'` in any of its spellings.
    String,
    /// `$tag$…$tag$`.
    DollarString,
    Semicolon,
    OpenParen,
    CloseParen,
    /// `\` outside of any quote: a command of psql.
    Backslash,
    Other,
}

/// A piece of the text: `text[start..end]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A string, quoted identifier or comment was opened and never closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unterminated {
    /// The unclosed construct, as a phrase for the error message.
    pub(crate) what: &'static str,
    /// Byte offset at which the token begins.
    pub(crate) start: usize,
}

/// Iterates over the tokens of a text, which cover it without gaps.
pub(crate) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether a backslash in `'…'` is an escape, as with `standard_conforming_strings` off.
    plain_escapes: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            plain_escapes: false,
        }
    }

    /// Says whether a backslash in `'…'` is an escape from here on.
    pub(crate) fn set_plain_escapes(&mut self, plain_escapes: bool) {
        self.plain_escapes = plain_escapes;
    }

    /// Goes on at this offset of the text.
    pub(crate) fn skip_to(&mut self, offset: usize) {
        self.at = offset;
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// The next token, `None` at the end.
    pub(crate) fn next_token(&mut self) -> Option<Result<Token, Unterminated>> {
        let start = self.at;
        let kind = match self.peek(0)? {
            byte if is_space(byte) => {
                self.skip_while(is_space);
                Ok(TokenKind::Whitespace)
            }
            b'-' if self.peek(1) == Some(b'-') => {
                self.skip_while(|byte| byte != b'\n' && byte != b'\r');
                Ok(TokenKind::Comment)
            }
            b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
            b'\'' => self.string(self.plain_escapes),
            b'"' => self.quoted_identifier(),
            b'$' => self.dollar_string(),
            b';' => self.single(TokenKind::Semicolon),
            b'(' => self.single(TokenKind::OpenParen),
            b')' => self.single(TokenKind::CloseParen),
            b'\\' => self.single(TokenKind::Backslash),
            byte if byte.is_ascii_digit() => {
                // Letters that follow digits belong to the number, so that the `e` of 1e5 does not begin a word.
                self.skip_while(|byte| is_word(byte) || byte == b'.');
                Ok(TokenKind::Other)
            }
            byte if is_word_start(byte) => self.word(),
            _ => self.single(TokenKind::Other),
        };
        Some(match kind {
            Ok(kind) => Ok(Token {
                kind,
                start,
                end: self.at,
            }),
            Err(what) => {
                self.at = self.bytes.len();
                Err(Unterminated { what, start })
            }
        })
    }

    fn single(&mut self, kind: TokenKind) -> Result<TokenKind, &'static str> {
        self.at += 1;
        Ok(kind)
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&accept) {
            self.at += 1;
        }
    }

    /// Comments nest in PostgreSQL.
    fn block_comment(&mut self) -> Result<TokenKind, &'static str> {
        let mut depth = 0_usize;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b'/'), Some(b'*')) => {
                    depth += 1;
                    self.at += 2;
                }
                (Some(b'*'), Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return Ok(TokenKind::Comment);
                    }
                }
                (Some(_), _) => self.at += 1,
                (None, _) => return Err("a /* comment"),
            }
        }
    }

    /// Reads `'…'`. With `escapes` (`E'…'`) a backslash escapes the next character, a quote included.
    fn string(&mut self, escapes: bool) -> Result<TokenKind, &'static str> {
        self.at += 1;
        loop {
            match self.peek(0) {
                Some(b'\'') if self.peek(1) == Some(b'\'') => self.at += 2,
                Some(b'\'') => {
                    self.at += 1;
                    // 'a' <newline> 'b' is one string in SQL, and escapes work in its second part as in the first.
                    if escapes && self.continues_on_next_line() {
                        continue;
                    }
                    return Ok(TokenKind::String);
                }
                Some(b'\\') if escapes => self.at = (self.at + 2).min(self.bytes.len()),
                Some(_) => self.at += 1,
                None => return Err("a string"),
            }
        }
    }

    /// Whether only white space and comments with a line break are between here and another `'`; moves behind that quote if so.
    fn continues_on_next_line(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let (mut blank, mut has_line_break) = (0, false);
        loop {
            match rest.get(blank) {
                Some(b'\'') if has_line_break => {
                    self.at += blank + 1;
                    return true;
                }
                Some(byte) if is_space(*byte) => {
                    has_line_break |= matches!(byte, b'\n' | b'\r');
                    blank += 1;
                }
                // A comment up to the end of the line counts as white space, `/* … */` does not.
                Some(b'-') if rest.get(blank + 1) == Some(&b'-') => {
                    let is_in_line = |byte: &&u8| !matches!(byte, b'\n' | b'\r');
                    blank += rest[blank..].iter().take_while(is_in_line).count();
                }
                _ => return false,
            }
        }
    }

    fn quoted_identifier(&mut self) -> Result<TokenKind, &'static str> {
        self.at += 1;
        loop {
            match self.peek(0) {
                Some(b'"') if self.peek(1) == Some(b'"') => self.at += 2,
                Some(b'"') => {
                    self.at += 1;
                    return Ok(TokenKind::QuotedIdentifier);
                }
                Some(_) => self.at += 1,
                None => return Err("a quoted identifier"),
            }
        }
    }

    fn dollar_string(&mut self) -> Result<TokenKind, &'static str> {
        let rest = &self.bytes[self.at + 1..];
        let tag_length = rest
            .iter()
            .take_while(|byte| is_word(**byte) && **byte != b'$')
            .count();
        let opens = rest.get(tag_length) == Some(&b'$') && !rest.first().is_some_and(u8::is_ascii_digit);
        if !opens {
            return self.single(TokenKind::Other); // a parameter such as $1
        }
        let delimiter = &self.bytes[self.at..self.at + tag_length + 2];
        let body = self.at + delimiter.len();
        let close = find_bytes(&self.bytes[body..], delimiter).ok_or("a dollar-quoted string")?;
        self.at = body + close + delimiter.len();
        Ok(TokenKind::DollarString)
    }

    /// A word, or the string or identifier whose prefix it is: `E'…'`, `U&'…'`, `U&"…"`, `B'…'`, `X'…'`, `N'…'`.
    fn word(&mut self) -> Result<TokenKind, &'static str> {
        let first = self.bytes[self.at];
        match (first, self.peek(1), self.peek(2)) {
            (b'e' | b'E', Some(b'\''), _) => {
                self.at += 1;
                return self.string(true);
            }
            (b'b' | b'B' | b'x' | b'X' | b'n' | b'N', Some(b'\''), _) => {
                self.at += 1;
                return self.string(false);
            }
            (b'u' | b'U', Some(b'&'), Some(b'\'')) => {
                self.at += 2;
                return self.string(false);
            }
            (b'u' | b'U', Some(b'&'), Some(b'"')) => {
                self.at += 2;
                return self.quoted_identifier();
            }
            _ => {}
        }
        self.skip_while(is_word);
        Ok(TokenKind::Word)
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// PostgreSQL counts every byte of a non-ASCII character as a letter.
fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

fn find_bytes(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(offset) = haystack[from..].iter().position(|byte| *byte == first) {
        if haystack[from + offset..].starts_with(needle) {
            return Some(from + offset);
        }
        from += offset + 1;
    }
    None
}
