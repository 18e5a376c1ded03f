//! Reads the text of an `.env` file in the dialect of the Supabase CLI, which is that of godotenv 1.5.1. Pure.
//!
//! A value without quotes is the rest of the line up to ` #`. One in quotes may have several lines: in single quotes nothing is replaced, in
//! double quotes `\n`, `\r` and escaped characters are. Outside of single quotes `$NAME` and `${NAME}` of capital letters, digits and
//! `_` become the value that the file gave this name before, or nothing; `\$` is a dollar.
//! Unlike there, a byte order mark is passed over, and a quoted value may end in an escaped quote.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use indexmap::IndexMap;
use regex::{Captures, Regex};

/// A file that cannot be read. It says the line and nothing of its text, which may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvFileError {
    /// Neither a comment nor a pair.
    #[error("line {0} is not of the form NAME=value")]
    NotAPair(usize),
    /// The quote that begins a value on this line is never closed.
    #[error("the quote on line {0} is not closed")]
    OpenQuote(usize),
    /// The bytes are not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
}

/// What a file says.
#[derive(Debug, Default)]
pub struct EnvFile {
    /// Names and values in the order in which the names come first; of a name that comes twice, the last value.
    pub values: IndexMap<String, String>,
    /// Names that values refer to and that the file does not have before them: they became nothing.
    pub missing: BTreeSet<String>,
}

impl EnvFile {
    /// What somebody should know who expects another meaning of a dollar: variables of the process are not looked up.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let warning = |name: &String| {
            format!(
                "${name} stands for nothing: the file does not give it a value before, and variables of the process are not looked up; \
                 single quotes keep a dollar"
            )
        };
        self.missing.iter().map(warning).collect()
    }
}

/// Reads a file.
///
/// # Errors
/// [`EnvFileError`].
pub fn parse_env_file(bytes: &[u8]) -> Result<EnvFile, EnvFileError> {
    let text = std::str::from_utf8(bytes).map_err(|_| EnvFileError::NotUtf8)?;
    let text = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .replace("\r\n", "\n");
    let line_of = |rest: &str| 1 + text[..text.len() - rest.len()].matches('\n').count();
    let mut file = EnvFile::default();
    let mut rest = text.as_str();
    loop {
        rest = rest.trim_start();
        if rest.starts_with('#') {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        if rest.is_empty() {
            return Ok(file);
        }
        let (name, value) = split_name(rest).ok_or_else(|| EnvFileError::NotAPair(line_of(rest)))?;
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => file
                .read_quoted(value, quote)
                .ok_or_else(|| EnvFileError::OpenQuote(line_of(value)))?,
            _ => file.read_unquoted(value),
        };
        file.values.insert(name.to_owned(), value);
        rest = after;
    }
}

/// A space within a line.
fn is_space(char: char) -> bool {
    matches!(char, '\t' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{85}' | '\u{a0}')
}

/// The name at the beginning of `text`, and what comes after its `=` or `:`.
fn split_name(text: &str) -> Option<(&str, &str)> {
    let text = match text.strip_prefix("export") {
        Some(after) if after.starts_with(is_space) => after.trim_start_matches(is_space),
        _ => text,
    };
    let end = text
        .find(|char: char| !(char.is_ascii_alphanumeric() || is_space(char) || matches!(char, '_' | '.')))?;
    let (name, rest) = text.split_at(end);
    let value = rest.strip_prefix(['=', ':'])?;
    let name = name.trim_end();
    (!name.is_empty()).then(|| (name, value.trim_start_matches(is_space)))
}

impl EnvFile {
    /// The value up to the end of the line or a comment, and what comes after it.
    fn read_unquoted<'t>(&mut self, text: &'t str) -> (String, &'t str) {
        let end = text.find(['\n', '\r']).unwrap_or(text.len());
        let (line, rest) = text.split_at(end);
        // The last `#` after a space begins the comment.
        let comment = line
            .char_indices()
            .rev()
            .find(|(index, char)| *char == '#' && line[..*index].ends_with(is_space));
        let value = comment.map_or(line, |(index, _)| &line[..index]);
        (self.replace_names(value.trim_matches(is_space)), rest)
    }

    /// The value between two quotes, and what comes after the second one; `None` without a second one.
    fn read_quoted<'t>(&mut self, text: &'t str, quote: char) -> Option<(String, &'t str)> {
        let inner = &text[1..];
        let end = inner
            .match_indices(quote)
            .map(|(index, _)| index)
            .find(|index| !inner[..*index].ends_with('\\'))?;
        let (value, rest) = (&inner[..end], &inner[end + 1..]);
        let value = if quote == '"' {
            self.replace_names(&replace_escapes(value))
        } else {
            value.to_owned()
        };
        Some((value, rest))
    }

    /// `$NAME` and `${NAME}` become values of the names before. Compat: `$(NAME` does, too, and every other dollar stays.
    fn replace_names(&mut self, value: &str) -> String {
        static NAME: LazyLock<Regex> = LazyLock::new(|| compile(r"(\\)?\$\(?\{?([A-Z0-9_]+)?\}?"));
        let Self { values, missing } = self;
        let replaced = NAME.replace_all(value, |found: &Captures<'_>| {
            if found.get(1).is_some() {
                return found[0][1..].to_owned();
            }
            let Some(name) = found.get(2) else {
                return found[0].to_owned();
            };
            values.get(name.as_str()).cloned().unwrap_or_else(|| {
                missing.insert(name.as_str().to_owned());
                String::new()
            })
        });
        replaced.into_owned()
    }
}

/// `\n` and `\r` become line ends, other escaped characters lose their backslash, but for `\$`.
fn replace_escapes(value: &str) -> String {
    static LINE_ENDS: LazyLock<Regex> = LazyLock::new(|| compile(r"\\."));
    static OTHERS: LazyLock<Regex> = LazyLock::new(|| compile(r"\\([^$])"));
    let with_line_ends = LINE_ENDS.replace_all(value, |found: &Captures<'_>| match &found[0] {
        r"\n" => "\n".to_owned(),
        r"\r" => "\r".to_owned(),
        other => other.to_owned(),
    });
    OTHERS.replace_all(&with_line_ends, "$1").into_owned()
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is constant and valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Case {
        text: String,
        /// What godotenv 1.5.1 answers (`godotenv.Unmarshal`); `None` for an error.
        pairs: Option<std::collections::BTreeMap<String, String>>,
    }

    #[test]
    fn gw_029_env_files_are_read_as_godotenv_reads_them() {
        let cases: Vec<Case> = serde_json::from_str(include_str!("env_file_cases.json")).unwrap();
        assert!(cases.len() > 100);

        for case in cases {
            let pairs = parse_env_file(case.text.as_bytes()).ok();

            let pairs = pairs.map(|file| file.values.into_iter().collect());
            assert_eq!(pairs, case.pairs, "{:?}", case.text);
        }
    }

    #[test]
    fn gw_029_a_byte_order_mark_and_escaped_quotes_at_the_end_are_read() {
        let read = |text: &str| parse_env_file(text.as_bytes()).map(|file| file.values["A"].clone());

        assert_eq!(read("\u{feff}A=1\r\n"), Ok("1".into()));
        assert_eq!(read(r#"A="say \"hi\"""#), Ok(r#"say "hi""#.into()));
    }

    #[test]
    fn gw_029_errors_of_env_files_name_the_line_alone() {
        let error = |text: &str| parse_env_file(text.as_bytes()).unwrap_err();

        assert_eq!(error("A=1\n\nhunter2 is it\n"), EnvFileError::NotAPair(3));
        assert_eq!(error("A=1\r\nhunter2"), EnvFileError::NotAPair(2));
        assert_eq!(error("A='1'\nB=\"hunter2\nC=1"), EnvFileError::OpenQuote(2));
        assert_eq!(parse_env_file(b"A=\xff").unwrap_err(), EnvFileError::NotUtf8);
    }

    #[test]
    fn gw_029_names_that_the_file_does_not_have_are_told_without_values() {
        let file = parse_env_file(b"A=1\nB=$A$PASSWORD'\nC='$QUIET'\nD=\\$ESCAPED").unwrap();

        assert_eq!(file.values["B"], "1'");
        assert_eq!(file.missing.iter().collect::<Vec<_>>(), ["PASSWORD"]);
        assert!(file.warnings()[0].starts_with("$PASSWORD stands for nothing"));
    }
}
