//! What the commands print: tables for people, `NAME="value"` lines and JSON for scripts.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Color, Style};
use indexmap::IndexMap;

use crate::cli::OutputFormat;

/// Names and values.
pub(crate) type Values = IndexMap<Cow<'static, str>, String>;

/// Emphasis for headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// The colour of names and side remarks.
pub(crate) const DIM: Style = Style::new().dimmed();
/// The colour of addresses.
pub(crate) const LINK: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Cyan)));
/// The colour of success.
pub(crate) const GOOD: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Green))).bold();
/// The colour of warnings.
pub(crate) const WARN: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Yellow)));
/// The colour of errors.
pub(crate) const BAD: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Red))).bold();

/// Prints values in the asked form.
pub(crate) fn print(values: &Values, format: OutputFormat) {
    anstream::print!("{}", render(values, format));
}

fn render(values: &Values, format: OutputFormat) -> String {
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

/// Prints warnings of the configuration.
pub(crate) fn warn(lines: &[String]) {
    for line in lines {
        anstream::eprintln!("{WARN}warning{WARN:#} {line}");
    }
}

/// Prints a remark that needs no action.
pub(crate) fn note(line: &str) {
    anstream::eprintln!("{DIM}note{DIM:#} {line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_032_env_lines_are_quoted_and_json_is_one_object() {
        let values = IndexMap::from([
            ("API_URL".into(), "http://x".to_owned()),
            ("K".into(), "a\"b".to_owned()),
        ]);

        assert_eq!(
            render(&values, OutputFormat::Env),
            "API_URL=\"http://x\"\nK=\"a\\\"b\"\n"
        );
        let json: serde_json::Value = serde_json::from_str(&render(&values, OutputFormat::Json)).unwrap();
        assert_eq!(json["K"], "a\"b");
    }
}
