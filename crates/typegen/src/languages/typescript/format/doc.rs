//! Prettier's documents: texts with places where a line may break, and groups that stay on one line when they fit.
//!
//! Source: Prettier's `commands.md` and `printDocToString`. Lines are 80 columns wide and indented by two.

use unicode_width::UnicodeWidthStr;

const LINE_WIDTH: usize = 80;
const INDENTATION: usize = 2;

/// A part of a document.
#[derive(Debug, Clone)]
pub(super) enum Doc {
    Text(String),
    Concat(Vec<Doc>),
    Indent(Box<Doc>),
    Group {
        content: Box<Doc>,
        /// The group's lines break, whether they would fit or not.
        breaks: bool,
    },
    /// A new line where the group breaks, else a space.
    Line,
    /// A new line where the group breaks, else nothing.
    Softline,
    /// One or the other, depending on whether the group breaks.
    IfBreak {
        broken: Box<Doc>,
        flat: &'static str,
    },
}

impl Doc {
    /// Creates a text without line breaks.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Indents the lines of `content` by two more columns.
    pub(super) fn indent(content: Doc) -> Self {
        Self::Indent(Box::new(content))
    }

    /// A group that breaks when it does not fit, or when a group in it must break.
    pub(super) fn group(content: Doc) -> Self {
        let breaks = content.must_break();
        Self::Group {
            content: Box::new(content),
            breaks,
        }
    }

    /// A group that always breaks.
    pub(super) fn broken_group(content: Doc) -> Self {
        Self::Group {
            content: Box::new(content),
            breaks: true,
        }
    }

    /// Prints `broken` when the innermost group breaks, else `flat`.
    pub(super) fn if_break(broken: Doc, flat: &'static str) -> Self {
        Self::IfBreak {
            broken: Box::new(broken),
            flat,
        }
    }

    fn must_break(&self) -> bool {
        match self {
            Self::Text(_) | Self::Line | Self::Softline | Self::IfBreak { .. } => false,
            Self::Concat(parts) => parts.iter().any(Self::must_break),
            Self::Indent(content) => content.must_break(),
            Self::Group { breaks, .. } => *breaks,
        }
    }
}

/// Whether the lines of the innermost group break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Break,
    Flat,
}

/// A part that is still to be printed: its indentation in columns, mode and content.
type Command<'d> = (usize, Mode, &'d Doc);

/// Prints the document.
pub(super) fn print_doc(doc: &Doc) -> String {
    let mut output = String::new();
    let mut column = 0;
    let mut commands: Vec<Command<'_>> = vec![(0, Mode::Break, doc)];
    while let Some((indentation, mode, doc)) = commands.pop() {
        match doc {
            Doc::Text(text) => {
                output.push_str(text);
                column += text.width();
            }
            Doc::Concat(parts) => {
                commands.extend(parts.iter().rev().map(|part| (indentation, mode, part)));
            }
            Doc::Indent(content) => commands.push((indentation + INDENTATION, mode, content)),
            Doc::Group { content, breaks } => {
                let flat = (indentation, Mode::Flat, &**content);
                let rest = LINE_WIDTH.checked_sub(column);
                let fits_flat = mode == Mode::Flat || rest.is_some_and(|rest| fits(flat, &commands, rest));
                if !*breaks && fits_flat {
                    commands.push(flat);
                } else {
                    commands.push((indentation, Mode::Break, content));
                }
            }
            Doc::IfBreak { broken, flat } => match mode {
                Mode::Break => commands.push((indentation, mode, broken)),
                Mode::Flat => {
                    output.push_str(flat);
                    column += flat.width();
                }
            },
            Doc::Line if mode == Mode::Flat => {
                output.push(' ');
                column += 1;
            }
            Doc::Softline if mode == Mode::Flat => {}
            Doc::Line | Doc::Softline => {
                // A union that breaks after `name: ` leaves a space at the end of the line.
                output.truncate(output.trim_end_matches(' ').len());
                output.push('\n');
                output.extend(std::iter::repeat_n(' ', indentation));
                column = indentation;
            }
        }
    }
    output
}

/// Whether `next`, and what follows it up to the next line break, takes at most `width` columns.
fn fits(next: Command<'_>, rest: &[Command<'_>], width: usize) -> bool {
    let mut left = width;
    let mut rest = rest.iter().rev();
    let mut commands = vec![(next.1, next.2)];
    loop {
        let (mode, doc) = match commands.pop() {
            Some(command) => command,
            // Content after the group counts up to its first line break, because it is on the same line.
            None => match rest.next() {
                Some((_, mode, doc)) => (*mode, *doc),
                None => return true,
            },
        };
        let taken = match doc {
            Doc::Text(text) => text.width(),
            Doc::Concat(parts) => {
                commands.extend(parts.iter().rev().map(|part| (mode, part)));
                0
            }
            Doc::Indent(content) => {
                commands.push((mode, content));
                0
            }
            Doc::Group { content, breaks } => {
                let mode = if *breaks { Mode::Break } else { mode };
                commands.push((mode, content));
                0
            }
            Doc::IfBreak { broken, flat } => match mode {
                Mode::Break => {
                    commands.push((mode, broken));
                    0
                }
                Mode::Flat => flat.width(),
            },
            Doc::Line | Doc::Softline if mode == Mode::Break => return true,
            Doc::Line => 1,
            Doc::Softline => 0,
        };
        match left.checked_sub(taken) {
            Some(remaining) => left = remaining,
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: &[&str]) -> Doc {
        let mut parts = vec![Doc::Softline];
        for (number, word) in words.iter().enumerate() {
            if number > 0 {
                parts.extend([Doc::text(","), Doc::Line]);
            }
            parts.push(Doc::text(*word));
        }
        Doc::group(Doc::Concat(vec![
            Doc::text("["),
            Doc::indent(Doc::Concat(parts)),
            Doc::if_break(Doc::text(","), ""),
            Doc::Softline,
            Doc::text("]"),
        ]))
    }

    #[test]
    fn a_group_that_fits_stays_on_one_line() {
        assert_eq!(print_doc(&list(&["one", "two"])), "[one, two]");
    }

    #[test]
    fn a_group_that_is_too_wide_breaks_at_each_line() {
        let long = "x".repeat(50);

        let printed = print_doc(&list(&[&long, &long]));

        assert_eq!(printed, format!("[\n  {long},\n  {long},\n]"));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let wide = "漢".repeat(38);

        assert_eq!(print_doc(&list(&[&wide])), format!("[{wide}]"));
        let wider = "漢".repeat(40);
        assert_eq!(print_doc(&list(&[&wider])), format!("[\n  {wider},\n]"));
    }
}
