//! Reads files of variables as systemd reads those of `EnvironmentFile=`, so that a command has the settings that the server has. Source:
//! systemd's src/basic/env-file.c.

use std::path::Path;
use std::str::Chars;

use anyhow::{Context, Result, anyhow};
use selvedge_project_files::{MAX_SETTINGS_BYTES, read_text};
use selvedge_terminal::print_warnings;

use super::places::{LOCAL_SETTINGS, SETTINGS};

const DATA_DIR: &str = "SELVEDGE_DATA_DIR";
/// Characters of which a backslash between double quotes makes themselves.
const ESCAPED: &str = "\"\\`$";

/// The variables of this machine's server: those that `setup` wrote, and over them those of people.
///
/// # Errors
/// When a file cannot be read, or a quote is open at its end.
pub(super) fn read_settings() -> Result<Vec<(String, String)>> {
    Ok(put_over(read_file(Path::new(SETTINGS))?, read_local_settings()?))
}

/// The units name the data folder by an argument, which wins over both files: a command must not work on another one.
fn put_over(mut pairs: Vec<(String, String)>, local: Vec<(String, String)>) -> Vec<(String, String)> {
    pairs.extend(local.into_iter().filter(|(name, _)| name != DATA_DIR));
    pairs
}

/// The variables that people have added.
///
/// # Errors
/// As [`read_settings`].
pub(super) fn read_local_settings() -> Result<Vec<(String, String)>> {
    let path = Path::new(LOCAL_SETTINGS);
    match path.try_exists() {
        Ok(false) => Ok(Vec::new()),
        _ => read_file(path),
    }
}

fn read_file(path: &Path) -> Result<Vec<(String, String)>> {
    let text =
        read_text(path, MAX_SETTINGS_BYTES).with_context(|| format!("cannot read {}", path.display()))?;
    let file = parse(&text).map_err(|reason| anyhow!("{}: {reason}", path.display()))?;
    for line in file.ignored {
        print_warnings(&[format!(
            "{}: line {line} sets no variable, and the server passes over it",
            path.display()
        )]);
    }
    Ok(file.pairs)
}

/// What a file says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Variables {
    pairs: Vec<(String, String)>,
    /// Lines that systemd passes over.
    ignored: Vec<usize>,
}

fn parse(text: &str) -> Result<Variables, String> {
    let mut reader = Reader {
        chars: text.chars(),
        line: 1,
    };
    let mut found = Variables::default();
    loop {
        let line = reader.line;
        match reader.next() {
            None => return Ok(found),
            Some('#' | ';') => reader.skip_comment()?,
            Some(c) if c.is_ascii_whitespace() => {}
            Some(c) => match reader.read_key(c) {
                Some(key) => {
                    let value = reader.read_value()?;
                    match is_name(&key) && is_value(&value) {
                        true => found.pairs.push((key, value)),
                        false => found.ignored.push(line),
                    }
                }
                None => found.ignored.push(line),
            },
        }
    }
}

struct Reader<'a> {
    chars: Chars<'a>,
    line: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.chars.next();
        if next == Some('\n') {
            self.line += 1;
        }
        next
    }

    fn skip_comment(&mut self) -> Result<(), String> {
        let line = self.line;
        let mut last = None;
        while let Some(c) = self.next() {
            if matches!(c, '\n' | '\r') {
                break;
            }
            last = Some(c);
        }
        // The next line is a comment as well for systemd before 254, and none for later ones.
        match last {
            Some('\\') => Err(format!(
                "the comment on line {line} ends in a backslash: remove it"
            )),
            _ => Ok(()),
        }
    }

    /// The name up to `=`; `None` where the line has none.
    fn read_key(&mut self, first: char) -> Option<String> {
        let mut key = first.to_string();
        if first == '=' {
            return Some(String::new());
        }
        loop {
            match self.next()? {
                '\n' | '\r' => return None,
                '=' => return Some(key.trim_ascii_end().to_owned()),
                c => key.push(c),
            }
        }
    }

    /// A value: parts in quotes, and at last one without, up to the end of its line.
    fn read_value(&mut self) -> Result<String, String> {
        let mut value = String::new();
        loop {
            match self.next() {
                None | Some('\n' | '\r') => return Ok(value),
                Some(' ' | '\t') => {}
                Some(quote @ ('\'' | '"')) => self.read_quoted(quote, &mut value)?,
                Some(c) => {
                    self.read_plain(c, &mut value);
                    return Ok(value);
                }
            }
        }
    }

    fn read_quoted(&mut self, quote: char, value: &mut String) -> Result<(), String> {
        let line = self.line;
        let open = || format!("the quote on line {line} is not closed");
        loop {
            match self.next().ok_or_else(open)? {
                c if c == quote => return Ok(()),
                '\\' if quote == '"' => match self.next().ok_or_else(open)? {
                    '\n' => {}
                    c if ESCAPED.contains(c) => value.push(c),
                    c => value.extend(['\\', c]),
                },
                c => value.push(c),
            }
        }
    }

    fn read_plain(&mut self, first: char, value: &mut String) {
        // White space at the end of the line is none of the value, unless it is escaped.
        let mut kept = value.len();
        let mut next = Some(first);
        while let Some(c) = next {
            match c {
                '\n' | '\r' => break,
                '\\' => {
                    if let Some(c) = self.next().filter(|c| !matches!(c, '\n' | '\r')) {
                        value.push(c);
                    }
                    kept = value.len();
                }
                c => {
                    value.push(c);
                    if !c.is_ascii_whitespace() {
                        kept = value.len();
                    }
                }
            }
            next = self.next();
        }
        value.truncate(kept);
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

fn is_value(value: &str) -> bool {
    !value
        .chars()
        .any(|c| c.is_ascii_control() && !matches!(c, '\t' | '\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What systemd 252 gives a service for such a file.
    #[test]
    fn prod_008_values_are_those_that_a_service_gets() {
        for (line, value) in [
            (r#"A="a$b`id`""#, "a$b`id`"),
            (r#"A="a\$b \x \" \\""#, r#"a$b \x " \"#),
            (r"A='a\b $c'", r"a\b $c"),
            ("A=https://c.example/a b  ", "https://c.example/a b"),
            (r#"A=a"b"c # no comment"#, r#"a"b"c # no comment"#),
            (r"A=a\ b\  ", "a b "),
            ("A=a\\\nb", "ab"),
            ("A=\"a\nb\"", "a\nb"),
            (r#"A="a" 'b' c"#, "abc"),
            ("  A =  a", "a"),
            ("A=", ""),
            ("# x\n; y=z\n\nA=$(id); rm -rf x", "$(id); rm -rf x"),
        ] {
            let found = parse(line).unwrap();
            assert_eq!(found.pairs, [("A".to_owned(), value.to_owned())], "{line}");
            assert!(found.ignored.is_empty(), "{line}");
        }
    }

    #[test]
    fn prod_008_settings_of_people_win_but_for_the_data_folder() {
        let pairs = |text: &str| parse(text).unwrap().pairs;

        let all = put_over(
            pairs("SELVEDGE_DATA_DIR=/a\nA=1"),
            pairs("A=2\nSELVEDGE_DATA_DIR=/b"),
        );

        assert_eq!(all, pairs("SELVEDGE_DATA_DIR=/a\nA=1\nA=2"));
    }

    #[test]
    fn prod_008_lines_that_mean_nothing_or_different_things_are_named() {
        let found = parse("export A=b\nB\n1C=d\nD=\u{1}\nE=e").unwrap();

        assert_eq!(found.pairs, [("E".to_owned(), "e".to_owned())]);
        assert_eq!(found.ignored, [1, 2, 3, 4]);
        for (text, reason) in [("A=\"b\nc", "line 1 is not closed"), ("#\n# a \\\nA=b", "line 2")] {
            let refused = parse(text).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
        }
    }
}
