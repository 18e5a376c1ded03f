//! Printing to the terminal: tables for people, `NAME="value"` lines and JSON for scripts. And questions there.
//!
//! In: values, warnings and notes of a command, and texts that others have chosen. Out: lines on standard output, where results go,
//! and on standard error, where everything else goes. What a command does, and which arguments choose a format, is left to the callers.

mod output_format;
mod prompt;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _};

use anstyle::{AnsiColor, Color, Style};
use indexmap::IndexMap;

pub use output_format::OutputFormat;
pub use prompt::{ask_question, ask_secret, read_line};

/// Names and values in the order in which they are printed.
pub type Values = IndexMap<Cow<'static, str>, String>;

/// Style of headings.
pub const BOLD: Style = Style::new().bold();
/// The colour of names and notes.
pub const DIM: Style = Style::new().dimmed();
/// The colour of addresses.
pub const LINK: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Cyan)));
/// The colour of success.
pub const GOOD: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Green))).bold();
/// The colour of warnings.
pub const WARN: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Yellow)));
/// The colour of errors.
pub const BAD: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Red))).bold();

/// Prints a result to standard output. When a reader such as `head` has enough and closes the pipe, that is no failure.
///
/// # Errors
/// When standard output cannot be written for another reason, for example because the disk is full.
pub fn print_text(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Prints values as a table, as `NAME="value"` lines or as JSON.
pub fn print_values(values: &Values, format: OutputFormat) {
    anstream::print!("{}", render_values(values, format));
}

/// Renders values in a format that `status` and `keys` offer.
pub fn render_values(values: &Values, format: OutputFormat) -> String {
    let mut text = String::new();
    let width = values.keys().map(|name| name.len()).max().unwrap_or_default();
    match format {
        OutputFormat::Json => {
            let json = serde_json::to_string_pretty(values).unwrap_or_default();
            let _ = writeln!(text, "{json}");
        }
        OutputFormat::Env => {
            for (name, value) in values {
                let _ = writeln!(
                    text,
                    "{name}=\"{}\"",
                    value.replace('\\', "\\\\").replace('"', "\\\"")
                );
            }
        }
        OutputFormat::Pretty => {
            for (name, value) in values {
                let _ = writeln!(text, "  {DIM}{name:>width$}{DIM:#}  {value}");
            }
        }
    }
    text
}

/// Names in lines of their own below a sentence, the first `most` of them, and how many more there are.
pub fn list_names(names: &[String], most: usize) -> String {
    let mut shown = names[..names.len().min(most)].join("\n  ");
    if names.len() > most {
        shown += &format!("\n  and {} more", names.len() - most);
    }
    shown
}

/// Prints warnings to standard error, one per line, so that scripts can parse standard output.
pub fn print_warnings(lines: &[String]) {
    for line in lines {
        anstream::eprintln!("{WARN}warning{WARN:#} {}", show_foreign_text(line));
    }
}

/// A name that others have chosen, without characters by which it could move the cursor or change what the terminal shows.
pub fn show_foreign(name: &str) -> String {
    escape(name, is_command_to_terminal)
}

/// The same for a text of several lines, such as a statement that another database has sent.
pub fn show_foreign_text(text: &str) -> String {
    escape(text, |character| {
        !matches!(character, '\n' | '\t') && is_command_to_terminal(character)
    })
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    text.chars()
        .map(|character| match is_escaped(character) {
            true => character.escape_unicode().to_string(),
            false => character.to_string(),
        })
        .collect()
}

/// Control characters, and those that change the direction in which a terminal writes.
fn is_command_to_terminal(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Prints a note that needs no action.
pub fn print_note(line: &str) {
    anstream::eprintln!("{DIM}note{DIM:#} {line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_do_not_reach_the_terminal_as_commands() {
        let name = "a ü\u{1b}[2J\nb\u{9b}1m\u{202e}";
        assert_eq!(show_foreign(name), "a ü\\u{1b}[2J\\u{a}b\\u{9b}1m\\u{202e}");
        assert_eq!(show_foreign_text(name), "a ü\\u{1b}[2J\nb\\u{9b}1m\\u{202e}");
    }

    #[test]
    fn gw_032_env_lines_are_quoted_and_json_is_one_object() {
        let values = IndexMap::from([
            ("API_URL".into(), "http://x".to_owned()),
            ("K".into(), "a\"b".to_owned()),
        ]);

        assert_eq!(
            render_values(&values, OutputFormat::Env),
            "API_URL=\"http://x\"\nK=\"a\\\"b\"\n"
        );
        let json: serde_json::Value =
            serde_json::from_str(&render_values(&values, OutputFormat::Json)).unwrap();
        assert_eq!(json["K"], "a\"b");
    }
}
