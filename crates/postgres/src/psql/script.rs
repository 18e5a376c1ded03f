//! Reads a script and the files that it includes, step by step.

use std::path::{Path, PathBuf};

use super::error::PsqlError;
use crate::migrate::{Piece, read_file, split_script};

/// Files may include each other to this depth.
const MAX_DEPTH: usize = 16;

/// Commands that change only how psql prints or reads; its output here has one form.
const WITHOUT_EFFECT: [&str; 13] = [
    "a",
    "encoding",
    "f",
    "o",
    "pset",
    "qecho",
    "restrict",
    "t",
    "timing",
    "unrestrict",
    "warn",
    "x",
    "z",
];

/// One step of a script.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Statement {
        text: String,
        path: PathBuf,
        line: usize,
        output: Output,
    },
    Set {
        name: String,
        value: String,
    },
    Unset {
        name: String,
    },
    Echo {
        text: String,
    },
    Ignore,
}

/// Where the rows of a statement go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Output {
    Print,
    /// `\gset`: its only row becomes variables, named after its columns with a prefix.
    Variables {
        prefix: String,
    },
}

/// Reads a script; `files` holds the current file and those that included it by `\i`.
pub(super) struct Script<F> {
    files: Vec<OpenFile>,
    /// Whether a file may be included.
    may_include: F,
}

struct OpenFile {
    path: PathBuf,
    pieces: std::vec::IntoIter<OwnedPiece>,
}

/// A [`Piece`] that does not borrow from its file.
struct OwnedPiece {
    text: String,
    line: usize,
    is_command: bool,
}

impl<F: Fn(&Path) -> bool> Script<F> {
    pub(super) fn open(path: &Path, may_include: F) -> Result<Self, PsqlError> {
        Ok(Self {
            files: vec![OpenFile::open(path)?],
            may_include,
        })
    }

    /// The next step; `None` at the end.
    pub(super) fn next_step(&mut self) -> Result<Option<Step>, PsqlError> {
        while let Some(file) = self.files.last_mut() {
            let Some(piece) = file.pieces.next() else {
                self.files.pop();
                continue;
            };
            let path = file.path.clone();
            if piece.is_command {
                return self.run_command(&path, piece.line, &piece.text).map(Some);
            }
            return Ok(Some(Step::Statement {
                text: piece.text,
                path,
                line: piece.line,
                output: file.take_output(),
            }));
        }
        Ok(None)
    }

    fn run_command(&mut self, path: &Path, line: usize, text: &str) -> Result<Step, PsqlError> {
        let mut words = split_arguments(text.trim_start_matches('\\')).into_iter();
        let name = words.next().unwrap_or_default();
        match name.as_str() {
            "set" => {
                let Some(name) = words.next() else {
                    return Ok(Step::Ignore);
                };
                // psql joins further arguments without a space.
                let value = words.collect::<String>();
                Ok(Step::Set { name, value })
            }
            "unset" => Ok(words.next().map_or(Step::Ignore, |name| Step::Unset { name })),
            "echo" => Ok(Step::Echo {
                text: words.collect::<Vec<_>>().join(" "),
            }),
            "i" | "include" | "ir" | "include_relative" => {
                let Some(included) = words.next() else {
                    return Err(PsqlError::command(path, line, format!("\\{name} names no file")));
                };
                self.include(path, line, name.as_str(), &included)?;
                Ok(Step::Ignore)
            }
            other if WITHOUT_EFFECT.contains(&other) => Ok(Step::Ignore),
            other => Err(PsqlError::command(
                path,
                line,
                format!("the command \\{other} of psql is not supported"),
            )),
        }
    }

    fn include(&mut self, path: &Path, line: usize, command: &str, included: &str) -> Result<(), PsqlError> {
        if self.files.len() >= MAX_DEPTH {
            return Err(PsqlError::command(
                path,
                line,
                format!("more than {MAX_DEPTH} files include each other"),
            ));
        }
        let beside = path.parent().unwrap_or(Path::new("")).join(included);
        // `\i` is relative to the folder in which psql runs, and where that is depends on the runner: the folder of the
        // file is tried, too.
        let is_relative = command.starts_with("ir") || command == "include_relative";
        let target = if is_relative || !Path::new(included).is_file() {
            beside
        } else {
            PathBuf::from(included)
        };
        if !(self.may_include)(&target) {
            let message =
                format!("\\{command} {included}: this file is outside of the project, or holds its keys");
            return Err(PsqlError::command(path, line, message));
        }
        self.files.push(OpenFile::open(&target)?);
        Ok(())
    }
}

impl OpenFile {
    fn open(path: &Path) -> Result<Self, PsqlError> {
        let text = read_file(path)?;
        let pieces = split_script(&text).map_err(|source| PsqlError::Split {
            path: path.to_owned(),
            source,
        })?;
        let pieces: Vec<OwnedPiece> = pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Statement(statement) => OwnedPiece {
                    text: statement.text.to_owned(),
                    line: statement.line,
                    is_command: false,
                },
                Piece::Command { text, line } => OwnedPiece {
                    text: text.to_owned(),
                    line,
                    is_command: true,
                },
            })
            .collect();
        Ok(Self {
            path: path.to_owned(),
            pieces: pieces.into_iter(),
        })
    }

    /// Consumes the `\g` or `\gset` after a statement, if there is one.
    fn take_output(&mut self) -> Output {
        let words = match self.pieces.as_slice().first() {
            Some(next) if next.is_command => split_arguments(next.text.trim_start_matches('\\')),
            _ => return Output::Print,
        };
        let output = match words.first().map(String::as_str) {
            Some("g") if words.len() == 1 => Output::Print,
            Some("gset") => Output::Variables {
                prefix: words.get(1).cloned().unwrap_or_default(),
            },
            _ => return Output::Print,
        };
        self.pieces.next();
        output
    }
}

/// The words of a command. Single quotes hold a word with spaces together; two in a row stand for one.
fn split_arguments(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut characters = text.trim().chars().peekable();
    while characters.peek().is_some() {
        let mut word = String::new();
        let mut is_quoted = false;
        while let Some(character) = characters.next() {
            match character {
                '\'' if is_quoted && characters.peek() == Some(&'\'') => {
                    word.push('\'');
                    characters.next();
                }
                '\'' => is_quoted = !is_quoted,
                other if other.is_whitespace() && !is_quoted => break,
                other => word.push(other),
            }
        }
        while characters.peek().is_some_and(|next| next.is_whitespace()) {
            characters.next();
        }
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(files: &[(&str, &str)]) -> Result<Vec<Step>, PsqlError> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        let mut script = Script::open(&folder.path().join(files[0].0), |path: &Path| {
            !path.ends_with("refused.sql")
        })?;
        let mut steps = Vec::new();
        while let Some(step) = script.next_step()? {
            steps.push(match step {
                Step::Statement {
                    text,
                    path,
                    line,
                    output,
                } => Step::Statement {
                    text,
                    path: path.file_name().expect("a file").into(),
                    line,
                    output,
                },
                other => other,
            });
        }
        Ok(steps)
    }

    #[test]
    fn scripts_are_read_with_their_commands_and_included_files() {
        let found = steps(&[
            (
                "a.sql",
                "\\set ON_ERROR_STOP 1\n\\set name 'two words'\n\\pset format unaligned\nselect 1;\n\\ir b.sql\nselect 3",
            ),
            ("b.sql", "\\echo # from b\nselect\n 2;"),
        ])
        .expect("valid");

        let statement = |text: &str, path: &str, line| Step::Statement {
            text: text.into(),
            path: path.into(),
            line,
            output: Output::Print,
        };
        assert_eq!(
            found,
            [
                Step::Set {
                    name: "ON_ERROR_STOP".into(),
                    value: "1".into()
                },
                Step::Set {
                    name: "name".into(),
                    value: "two words".into()
                },
                Step::Ignore,
                statement("select 1", "a.sql", 4),
                Step::Ignore,
                Step::Echo {
                    text: "# from b".into()
                },
                statement("select\n 2", "b.sql", 2),
                statement("select 3", "a.sql", 6),
            ]
        );
    }

    #[test]
    fn rows_become_variables_by_gset() {
        let found = steps(&[(
            "a.sql",
            "select 1 as id \\gset\nselect 2\n  as id \\gset b_\nselect 3 \\g\n",
        )])
        .expect("valid");

        let statement = |text: &str, line, output| Step::Statement {
            text: text.into(),
            path: "a.sql".into(),
            line,
            output,
        };
        let variables = |prefix: &str| Output::Variables {
            prefix: prefix.into(),
        };
        assert_eq!(
            found,
            [
                statement("select 1 as id", 1, variables("")),
                statement("select 2\n  as id", 2, variables("b_")),
                statement("select 3", 4, Output::Print),
            ]
        );
    }

    #[test]
    fn unknown_commands_and_endless_includes_are_errors_with_file_and_line() {
        let unknown = steps(&[("a.sql", "select 1;\n\\copy t from 'x'\n")]).expect_err("unknown");
        assert!(
            unknown
                .to_string()
                .ends_with("a.sql:2: error: the command \\copy of psql is not supported"),
            "{unknown}"
        );

        let refused =
            steps(&[("a.sql", "\n\\i refused.sql\n"), ("refused.sql", "select 1")]).expect_err("refused");
        assert!(
            refused
                .to_string()
                .contains("a.sql:2: error: \\i refused.sql: this file is outside"),
            "{refused}"
        );

        let endless = steps(&[("a.sql", "\\ir a.sql\n")]).expect_err("endless");
        assert!(endless.to_string().contains("more than 16 files"), "{endless}");
    }
}
