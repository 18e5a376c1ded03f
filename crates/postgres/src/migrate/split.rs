//! Splits a SQL file into its statements, each with the line on which it begins. Pure: text in, statements out.
//!
//! A semicolon inside a dollar quote, string, comment, pair of parentheses or `BEGIN ATOMIC` body does not end a
//! statement. `COPY … FROM stdin` cannot be run from a file and is an error; commands of psql are one unless the caller
//! knows what to do about them.

use super::lexer::{Lexer, Token, TokenKind};

/// What stands between two statements that are sent as one text. The line break before the semicolon ends a comment at the end of
/// a statement, which would swallow the semicolon.
pub(super) const SEPARATOR: &str = "\n;\n";

/// The text of these statements as a file.
#[must_use]
pub fn join_statements<S: AsRef<str>>(statements: &[S]) -> String {
    let mut text = String::new();
    for statement in statements.iter().map(AsRef::as_ref) {
        // A semicolon behind `--` would be a part of the comment.
        let has_comment = statement
            .lines()
            .next_back()
            .is_some_and(|line| line.contains("--"));
        text += statement;
        text += if has_comment { "\n;\n\n" } else { ";\n\n" };
    }
    text
}

/// One statement of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement<'a> {
    /// The statement with the comments before it, without the final semicolon.
    pub text: &'a str,
    /// Line (from 1) of its first word after comments.
    pub line: usize,
}

/// A part of a script for psql.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// One SQL statement.
    Statement(Statement<'a>),
    /// The rest of a line from a backslash on.
    Command {
        /// The command, with the backslash.
        text: &'a str,
        /// Number of the line, from 1.
        line: usize,
    },
}

/// Why a file could not be split.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// A string, quoted identifier or comment was opened and never closed.
    #[error("{what} is not closed")]
    Unterminated {
        /// Line on which the construct was opened, from 1.
        line: usize,
        /// Name of the construct that was not closed.
        what: &'static str,
    },
    /// A command of psql, such as `\connect`.
    #[error("`{command}` is a command of psql, not SQL; remove it or write it as SQL")]
    MetaCommand {
        /// Line of the psql command, from 1.
        line: usize,
        /// The psql command, as written.
        command: String,
    },
    /// `COPY … FROM stdin`: its data follows in the file, outside of SQL.
    #[error("COPY ... FROM stdin cannot be run from a file; write INSERT statements (pg_dump --inserts)")]
    CopyFromStdin {
        /// Line of the statement, from 1.
        line: usize,
    },
}

impl SplitError {
    /// The line to which the error points, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        match self {
            Self::Unterminated { line, .. }
            | Self::MetaCommand { line, .. }
            | Self::CopyFromStdin { line } => *line,
        }
    }
}

/// Splits `sql` into statements. Pieces without any word (empty, or comments only) are left out.
///
/// # Errors
/// [`SplitError`] when the text cannot be run over a connection.
pub fn split_statements(sql: &str) -> Result<Vec<Statement<'_>>, SplitError> {
    let mut statements = Vec::new();
    for piece in split_script(sql)? {
        match piece {
            Piece::Statement(statement) => statements.push(statement),
            // `pg_dump` writes these two since 2025 to limit what psql does, and nothing here runs psql.
            Piece::Command { text, .. }
                if text.starts_with("\\restrict") || text.starts_with("\\unrestrict") => {}
            Piece::Command { text, line } => {
                return Err(SplitError::MetaCommand {
                    line,
                    command: text.chars().take(60).collect(),
                });
            }
        }
    }
    Ok(statements)
}

/// Splits a script for psql into statements and commands.
///
/// # Errors
/// [`SplitError`] when the text cannot be run over a connection.
pub(crate) fn split_script(sql: &str) -> Result<Vec<Piece<'_>>, SplitError> {
    // Editors on Windows begin files with a byte order mark, which PostgreSQL rejects.
    let sql = sql.strip_prefix('\u{feff}').unwrap_or(sql);
    Splitter::new(sql).run()
}

struct Splitter<'a> {
    sql: &'a str,
    pieces: Vec<Piece<'a>>,
    lines: LineCounter<'a>,
    /// Byte offset at which the current statement begins, comments before it included.
    start: usize,
    /// Byte offset of its first token that is neither white space nor a comment; `None` until there is one.
    first: Option<usize>,
    parens: usize,
    body: AtomicBody,
    /// Recognizes `COPY … FROM stdin` in the current statement.
    copy: CopyFromStdin,
}

impl<'a> Splitter<'a> {
    fn new(sql: &'a str) -> Self {
        Self {
            sql,
            pieces: Vec::new(),
            lines: LineCounter::new(sql),
            start: 0,
            first: None,
            parens: 0,
            body: AtomicBody::default(),
            copy: CopyFromStdin::default(),
        }
    }

    fn run(mut self) -> Result<Vec<Piece<'a>>, SplitError> {
        let mut lexer = Lexer::new(self.sql);
        while let Some(token) = lexer.next_token() {
            let token = token.map_err(|open| SplitError::Unterminated {
                line: LineCounter::new(self.sql).line_of(open.start),
                what: open.what,
            })?;
            match token.kind {
                TokenKind::Whitespace | TokenKind::Comment => continue,
                // `create rule … do (a; b)` has semicolons in parentheses.
                TokenKind::Semicolon if self.parens == 0 && self.body.depth == 0 => {
                    if let Some(escapes) = self
                        .first
                        .and_then(|first| sets_escapes(&self.sql[first..token.start]))
                    {
                        lexer.set_plain_escapes(escapes);
                    }
                    self.finish(token.start)?;
                    self.start = token.end;
                    continue;
                }
                TokenKind::Backslash if self.first.is_none() || self.ends_statement(token) => {
                    self.finish(token.start)?;
                    self.start = self.command(token);
                    // The command is not SQL: a quote in it must not hide the statements behind it.
                    lexer.skip_to(self.start);
                    continue;
                }
                TokenKind::OpenParen => self.parens += 1,
                TokenKind::CloseParen => self.parens = self.parens.saturating_sub(1),
                TokenKind::Word => self.word(token),
                _ => {}
            }
            self.first.get_or_insert(token.start);
        }
        self.finish(self.sql.len())?;
        Ok(self.pieces)
    }

    fn word(&mut self, token: Token) {
        let word = &self.sql[token.start..token.end];
        if self.parens == 0 {
            self.body.word(word);
            self.copy.word(word);
        }
    }

    fn finish(&mut self, end: usize) -> Result<(), SplitError> {
        if let Some(first) = self.first.take() {
            let line = self.lines.line_of(first);
            if self.copy.is_complete() {
                return Err(SplitError::CopyFromStdin { line });
            }
            self.pieces.push(Piece::Statement(Statement {
                text: self.sql[self.start..end].trim(),
                line,
            }));
        }
        self.parens = 0;
        self.body = AtomicBody::default();
        self.copy = CopyFromStdin::default();
        Ok(())
    }

    /// Whether the backslash begins a command that ends the statement before it, as in `select 1 as id \gset`.
    fn ends_statement(&self, token: Token) -> bool {
        self.parens == 0 && self.body.depth == 0 && self.sql[token.start..].starts_with("\\g")
    }

    /// Takes the rest of a line from a backslash on, and returns the offset of its end.
    fn command(&mut self, token: Token) -> usize {
        let rest = &self.sql[token.start..];
        let text = rest.lines().next().unwrap_or(rest).trim_end();
        let line = self.lines.line_of(token.start);
        self.pieces.push(Piece::Command { text, line });
        token.start + text.len()
    }
}

/// Whether backslashes in `'…'` are escapes after this statement; `None` when it says nothing about that.
fn sets_escapes(statement: &str) -> Option<bool> {
    let mut words = statement.split(|char: char| char.is_ascii_whitespace() || "='".contains(char));
    let mut words = words.by_ref().filter(|word| !word.is_empty());
    let mut next = || words.next().unwrap_or_default().to_ascii_lowercase();
    if next() != "set" {
        return None;
    }
    let mut name = next();
    if matches!(name.as_str(), "session" | "local") {
        name = next();
    }
    if name != "standard_conforming_strings" {
        return None;
    }
    let mut value = next();
    if value == "to" {
        value = next();
    }
    Some(matches!(value.as_str(), "off" | "false" | "0" | "no"))
}

/// Tracks `CREATE [OR REPLACE] FUNCTION|PROCEDURE … BEGIN ATOMIC … END`, whose body contains semicolons without quotes.
/// As in psql, `CASE` also increases the depth, because it ends with `END`, too.
#[derive(Default)]
struct AtomicBody {
    words: usize,
    state: Routine,
    begun: bool,
    depth: usize,
}

/// Whether the statement creates a function or procedure, judged by its first words.
#[derive(Default, PartialEq)]
enum Routine {
    #[default]
    Unknown,
    Create,
    Yes,
    No,
}

impl AtomicBody {
    fn word(&mut self, word: &str) {
        self.words += 1;
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        self.state = match self.state {
            Routine::Unknown if is("create") => Routine::Create,
            Routine::Create if is("or") || is("replace") => Routine::Create,
            Routine::Create if is("function") || is("procedure") => Routine::Yes,
            Routine::Yes => Routine::Yes,
            // Any other word before `function` or `procedure`: the statement has no `BEGIN ATOMIC` body.
            _ => Routine::No,
        };
        if self.state != Routine::Yes {
            return;
        }
        if self.depth == 0 {
            if self.begun && is("atomic") {
                self.depth = 1;
            }
            self.begun = is("begin");
        } else if is("case") {
            self.depth += 1;
        } else if is("end") {
            self.depth -= 1;
        }
    }
}

/// Recognizes `COPY … FROM stdin` by its words.
#[derive(Default)]
struct CopyFromStdin {
    words: usize,
    is_copy: bool,
    from: bool,
    stdin: bool,
}

impl CopyFromStdin {
    fn word(&mut self, word: &str) {
        if self.words == 0 {
            self.is_copy = word.eq_ignore_ascii_case("copy");
        } else if self.is_copy && !self.stdin {
            self.stdin = self.from && word.eq_ignore_ascii_case("stdin");
            self.from = word.eq_ignore_ascii_case("from");
        }
        self.words += 1;
    }

    fn is_complete(&self) -> bool {
        self.stdin
    }
}

/// Counts lines incrementally, so that a file with many statements is scanned once in total.
struct LineCounter<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> LineCounter<'a> {
    fn new(sql: &'a str) -> Self {
        Self {
            bytes: sql.as_bytes(),
            at: 0,
            line: 1,
        }
    }

    /// The line of byte `offset`; offsets must not go back.
    fn line_of(&mut self, offset: usize) -> usize {
        self.line += self.bytes[self.at..offset]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        self.at = offset;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(sql: &str) -> Vec<&str> {
        split_statements(sql)
            .expect("splits")
            .into_iter()
            .map(|statement| statement.text)
            .collect()
    }

    #[test]
    fn gw_023_semicolons_inside_quotes_and_comments_do_not_split() {
        let cases: &[(&str, &[&str])] = &[
            ("select 1; select 2", &["select 1", "select 2"]),
            (";;select 1;;", &["select 1"]),
            ("-- nothing; here\n/* nor; here */", &[]),
            ("select ';'; select 2", &["select ';'", "select 2"]),
            ("select 'it''s;'; x", &["select 'it''s;'", "x"]),
            (r"select 'a\'; x", &[r"select 'a\'", "x"]),
            (r"select E'a\';b'; x", &[r"select E'a\';b'", "x"]),
            ("select E'a'\n'b\\';c'; x", &["select E'a'\n'b\\';c'", "x"]),
            ("select U&'d\\0061;'; x", &["select U&'d\\0061;'", "x"]),
            ("select \"a;\"\"b\"; x", &["select \"a;\"\"b\"", "x"]),
            ("select $$a;b$$; x", &["select $$a;b$$", "x"]),
            (
                "do $body$ begin x; $$;$$ end $body$; y",
                &["do $body$ begin x; $$;$$ end $body$", "y"],
            ),
            ("select a$b$c; x$d$", &["select a$b$c", "x$d$"]),
            ("prepare p as select $1; x", &["prepare p as select $1", "x"]),
            (
                "select /* a /* ; */ ; */ 1; x",
                &["select /* a /* ; */ ; */ 1", "x"],
            ),
            ("select 1 -- ;\n; x", &["select 1 -- ;", "x"]),
            (
                "create rule r as on insert to t do also (select 1; select 2); x",
                &[
                    "create rule r as on insert to t do also (select 1; select 2)",
                    "x",
                ],
            ),
            ("select 1e5;select 2", &["select 1e5", "select 2"]),
            ("\u{feff}select 1", &["select 1"]),
            ("\\restrict abc\nselect 1;\n\\unrestrict abc\n", &["select 1"]),
            ("\\restrict it's\nselect 1;\n\\unrestrict it's\n", &["select 1"]),
            (
                "select 1; \\restrict a/*\n; select 2 /* ; */",
                &["select 1", "select 2 /* ; */"],
            ),
        ];

        for (sql, expected) in cases {
            assert_eq!(texts(sql), *expected, "{sql}");
        }
    }

    #[test]
    fn gw_023_semicolons_in_begin_atomic_bodies_do_not_split() {
        let function = "create or replace function f(a int) returns int language sql\n\
                        begin atomic\n  select case when a > 1 then 2 else 3 end;\n  select 4;\nend";
        let sql = format!("{function};\nselect 1");

        assert_eq!(texts(&sql), [function, "select 1"]);
        assert_eq!(
            texts("begin; select 1; end; select 2"),
            ["begin", "select 1", "end", "select 2"]
        );
    }

    #[test]
    fn gw_023_line_is_that_of_the_first_word_also_in_crlf_files() {
        let sql = "-- one\r\n\r\nselect 1;\r\n/* three */\r\nselect\r\n 2;";

        let lines: Vec<usize> = split_statements(sql)
            .expect("splits")
            .iter()
            .map(|statement| statement.line)
            .collect();

        assert_eq!(lines, [3, 5]);
    }

    #[test]
    fn gw_023_rejects_psql_commands_copy_from_stdin_and_unclosed_quotes() {
        assert_eq!(
            split_statements("select 1;\n\\connect other"),
            Err(SplitError::MetaCommand {
                line: 2,
                command: "\\connect other".into()
            })
        );
        assert_eq!(
            split_statements("select 1 \\gset"),
            Err(SplitError::MetaCommand {
                line: 1,
                command: "\\gset".into()
            })
        );
        assert_eq!(
            split_statements("select 1;\ncopy t (a, b) from stdin;\n1\t2\n\\.\n"),
            Err(SplitError::CopyFromStdin { line: 2 })
        );
        assert_eq!(
            split_statements("\nselect 'x"),
            Err(SplitError::Unterminated {
                line: 2,
                what: "a string"
            })
        );
        assert_eq!(
            split_statements("select $a$ x $b$"),
            Err(SplitError::Unterminated {
                line: 1,
                what: "a dollar-quoted string"
            })
        );
    }

    /// Statements with semicolons in every place where they must not split.
    fn statement() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("select 1".to_owned()),
            "[a-z]{1,8}",
            "'([a-z;\"$-]|''){0,8}'",
            r"E'([a-z;]|\\'|''){0,8}'",
            "\"([a-z;'$-]|\"\"){1,8}\"",
            r"\$\$[a-z;'\x22-]{0,8}\$\$",
            r"\$t\$[a-z;'\x22 -]{0,8}\$t\$",
            r"/\* [a-z;' ]{0,6} /\* ; \*/ \*/",
            "-- [a-z;']{0,8}\n",
            r"\([a-z; ]{0,6}\)",
        ];
        prop::collection::vec(piece, 1..6).prop_map(|pieces| format!("x {} y", pieces.join(" ")))
    }

    proptest! {
        #[test]
        fn gw_023_joined_statements_split_into_the_same_statements(
            statements in prop::collection::vec(statement(), 0..6)
        ) {
            let sql = statements.join(" ;\r\n");

            prop_assert_eq!(texts(&sql), statements);
        }

        #[test]
        fn gw_023_no_text_makes_the_splitter_panic_or_lose_characters(sql in "[a-z;'\"$E\\\\/*() \n-]{0,40}") {
            if let Ok(statements) = split_statements(&sql) {
                for statement in statements {
                    prop_assert!(sql.contains(statement.text));
                    prop_assert!(statement.line >= 1);
                }
            }
        }
    }

    /// The SQL files of this repository, and cases in which joining went wrong.
    fn corpus() -> Vec<String> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql");
        let files = walkdir::WalkDir::new(root).into_iter().filter_map(Result::ok);
        let is_sql = |path: &std::path::Path| path.extension().is_some_and(|extension| extension == "sql");
        let mut texts: Vec<String> = files
            .filter(|entry| is_sql(entry.path()))
            .map(|entry| std::fs::read_to_string(entry.path()).expect("readable"))
            .collect();
        assert!(texts.len() > 50, "the repository has its SQL");
        texts.extend(
            [
                "create schema private -- internal\n;\ncreate table notes (id int);",
                "select 1 --\n;select 2 /* -- */;select '--';select 3 --x",
                "select E'a' -- note\n 'b\\'; c' ; select 2",
                "set standard_conforming_strings = off; select 'a\\'; b'; set standard_conforming_strings to on; select 'a\\'",
                "create function f() returns int begin atomic select 1; -- x\n end; select $$ -- $$",
                "select \"a--b\" -- c\r\n;select 2",
            ]
            .map(str::to_owned),
        );
        texts
    }

    #[test]
    fn gw_023_what_is_joined_is_split_into_the_same_statements() {
        for text in corpus() {
            let Ok(statements) = split_statements(&text) else {
                continue;
            };
            let statements: Vec<&str> = statements.into_iter().map(|statement| statement.text).collect();

            assert_eq!(texts(&join_statements(&statements)), statements);
            assert_eq!(texts(&statements.join(SEPARATOR)), statements);
        }
    }

    proptest! {
        #[test]
        fn gw_023_any_statements_that_are_joined_stay_apart(
            parts in proptest::collection::vec("[a-z]{1,3}( ?(--[a-z;']{0,3}\n|/\\*[;' -]{0,3}\\*/|'[;a-]{0,3}'|E'(\\\\'|;)?'|\\$\\$[;' -]\\$\\$|[a-z]{1,2})){0,4}( --[a-z ;']{0,3})?", 1..6)
        ) {
            prop_assume!(parts.iter().all(|one| split_statements(one).is_ok_and(|found| found.len() == 1)));
            // A part may end with a semicolon, which belongs to no statement.
            let statements: Vec<&str> = parts.iter().flat_map(|part| texts(part)).collect();

            let (terminated, separated) = (join_statements(&statements), statements.join(SEPARATOR));
            prop_assert_eq!(texts(&terminated), statements.clone());
            prop_assert_eq!(texts(&separated), statements);
        }
    }
}
