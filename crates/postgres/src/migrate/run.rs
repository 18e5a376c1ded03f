//! Runs the statements of one file, many per round trip, and reports which one failed.
//!
//! A simple query may hold many statements, and PostgreSQL sends a `CommandComplete` for each. The number of these
//! messages before an error is the index of the statement that failed, so a seed of a hundred thousand rows can be sent
//! in few, large messages.

use std::ops::Range;
use std::path::Path;

use futures_util::TryStreamExt;
use tokio_postgres::{Client, SimpleQueryMessage, error::ErrorPosition};

use super::{
    error::{MigrateError, StatementFailure},
    extension::is_read_by_event_triggers,
    lexer::{Lexer, TokenKind},
    script_parts::{Part, is_without_transaction, split_parts},
    split::{SEPARATOR, SplitError, Statement, split_statements},
    transaction_control::{find_commits, last_commit_before, without_outer_pair},
};

/// Most text of one message: large enough that round trips take little of the time, small enough that PostgreSQL does
/// not keep the parse trees of a whole dump in memory.
pub(crate) const BATCH_BYTES: usize = 512 * 1024;

/// A SQL file, split into its statements.
pub(crate) struct Script<'a> {
    pub(crate) path: &'a Path,
    pub(crate) statements: Vec<Statement<'a>>,
    /// Whether its first line says that nothing of it runs in a transaction.
    is_without_transaction: bool,
}

impl<'a> Script<'a> {
    pub(crate) fn parse(path: &'a Path, text: &'a str) -> Result<Self, MigrateError> {
        let statements = split_statements(text).map_err(|source: SplitError| MigrateError::Split {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            path,
            statements: without_outer_pair(statements),
            is_without_transaction: is_without_transaction(text),
        })
    }

    /// A warning about statements that end the transaction in which the file runs.
    pub(crate) fn warn_of_commits(&self) -> Option<String> {
        let lines = find_commits(&self.statements);
        let first = lines.first()?;
        Some(format!(
            "{}:{first}: the file ends its transaction itself: when a later statement fails, the ones before stay, and the file \
             does not count as applied",
            self.path.display()
        ))
    }

    /// What of it runs in a transaction, and what alone.
    pub(super) fn parts(&self) -> Vec<Part> {
        split_parts(&self.statements, self.is_without_transaction)
    }

    /// Runs some of the statements in order. `plan` gives the statement that is sent in the place of each, and a message has at most
    /// `batch_bytes` of text; a longer statement is sent alone.
    pub(crate) async fn run(
        &self,
        client: &Client,
        range: Range<usize>,
        plan: impl Fn(&str) -> String,
        batch_bytes: usize,
    ) -> Result<(), MigrateError> {
        let mut start = range.start;
        while start < range.end {
            let texts = plan_batch(&self.statements[start..range.end], &plan, batch_bytes);
            self.run_batch(client, &texts, start).await?;
            start += texts.len();
        }
        Ok(())
    }

    /// Runs the statements from `start` on, in the forms that are sent in their places.
    async fn run_batch(&self, client: &Client, texts: &[String], start: usize) -> Result<(), MigrateError> {
        let batch = texts.join(SEPARATOR);
        let mut completed = 0;
        let outcome = async {
            let mut messages = std::pin::pin!(client.simple_query_raw(&batch).await?);
            while let Some(message) = messages.try_next().await? {
                if matches!(message, SimpleQueryMessage::CommandComplete(_)) {
                    completed += 1;
                }
            }
            Ok::<(), tokio_postgres::Error>(())
        }
        .await;
        let Err(error) = outcome else { return Ok(()) };
        let Some(db) = error.as_db_error() else {
            return Err(error.into());
        };

        // A syntax error is reported before the first statement of the batch runs, so the number of completed statements
        // does not identify it; the error's character position does.
        let (index, offset) = match db.position() {
            Some(ErrorPosition::Original(position)) => statement_at(texts, *position as usize),
            _ => (completed, 0),
        };
        let index = index.min(texts.len() - 1);
        let statement = &self.statements[start + index];
        let first_line = first_line_of(statement);
        // A statement that was sent in another form has its lines elsewhere.
        let line = if texts[index] == statement.text {
            faulty_line(statement, offset)
        } else {
            statement.line
        };
        let mut failure = StatementFailure::new(self.path, statement, (first_line, line), db);
        failure.committed_at = last_commit_before(&self.statements, statement.line);
        Err(MigrateError::Statement(Box::new(failure)))
    }
}

/// The line of the character before which `offset` characters of the statement are.
fn faulty_line(statement: &Statement<'_>, offset: usize) -> usize {
    let before = statement.text.chars().take(offset);
    let line = first_line_of(statement) + before.filter(|char| *char == '\n').count();
    line.max(statement.line)
}

/// The line on which a statement's text begins, with the comments before its first word.
fn first_line_of(statement: &Statement<'_>) -> usize {
    let mut lexer = Lexer::new(statement.text);
    let mut lines = 0;
    while let Some(Ok(token)) = lexer.next_token() {
        if !matches!(token.kind, TokenKind::Whitespace | TokenKind::Comment) {
            break;
        }
        lines += statement.text[token.start..token.end].matches('\n').count();
    }
    statement.line.saturating_sub(lines)
}

/// Returns the forms of the next statements for one message of at most `batch_bytes`; a longer statement, and one that event triggers of the
/// platform read, is sent alone. They are made message by message, because a file may be as large as the memory.
fn plan_batch(
    statements: &[Statement<'_>],
    plan: impl Fn(&str) -> String,
    batch_bytes: usize,
) -> Vec<String> {
    let (mut texts, mut size) = (Vec::new(), 0);
    for statement in statements {
        let text = plan(statement.text);
        // Only of a message of one statement can an event trigger tell which extension, or which connection, it is about.
        let is_alone = is_read_by_event_triggers(&text);
        if size > 0 && (is_alone || size + text.len() > batch_bytes) {
            break;
        }
        size += text.len() + SEPARATOR.len();
        texts.push(text);
        if is_alone {
            break;
        }
    }
    texts
}

/// Which of the texts, joined by [`SEPARATOR`], holds the character at `position` (from 1), and how many of its characters are
/// before that.
fn statement_at(texts: &[String], position: usize) -> (usize, usize) {
    let mut start = 0;
    for (index, text) in texts.iter().enumerate() {
        let end = start + text.chars().count() + SEPARATOR.len();
        if position <= end {
            return (index, position.saturating_sub(start + 1));
        }
        start = end;
    }
    (texts.len().saturating_sub(1), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of all messages, and how many statements were planned before the first one was sent.
    fn plan_all(texts: &[String], batch_bytes: usize) -> (Vec<usize>, usize) {
        let line = |text| Statement { text, line: 1 };
        let statements: Vec<Statement<'_>> = texts.iter().map(|text| line(text.as_str())).collect();
        let planned = std::cell::Cell::new(0);
        let plan = |text: &str| {
            planned.set(planned.get() + 1);
            text.to_owned()
        };
        let (mut sizes, mut of_first, mut start) = (Vec::new(), 0, 0);
        while start < statements.len() {
            sizes.push(plan_batch(&statements[start..], plan, batch_bytes).len());
            if start == 0 {
                of_first = planned.get();
            }
            start += sizes[sizes.len() - 1];
        }
        (sizes, of_first)
    }

    #[test]
    fn gw_021_batches_contain_every_statement_once_and_stay_below_the_size_limit() {
        let texts: Vec<String> = (0..100).map(|index| "x".repeat(index * 500)).collect();

        let (sizes, of_first) = plan_all(&texts, BATCH_BYTES);

        assert!(sizes.len() > 1);
        assert_eq!(sizes.iter().sum::<usize>(), 100);
        assert_eq!(of_first, sizes[0] + 1, "a file is not planned as a whole");
        let long = ["y".repeat(BATCH_BYTES * 2), "z".into()];
        assert_eq!(plan_all(&long, BATCH_BYTES).0, [1, 1]);
        assert_eq!(plan_all(&["y".into(), "z".into()], 0).0, [1, 1], "one by one");
        let extensions = [
            "a",
            "-- why\ncreate extension x",
            "b",
            "c",
            "ALTER EXTENSION x UPDATE",
        ];
        let extensions = extensions.map(str::to_owned);
        assert_eq!(plan_all(&extensions, BATCH_BYTES).0, [1, 1, 2, 1]);
        assert!(plan_all(&[], BATCH_BYTES).0.is_empty());
    }

    #[test]
    fn gw_021_the_faulty_line_counts_comments_before_the_statement() {
        let text = "-- a comment\n\nselect 1,\n  nothing";
        let statement = Statement { text, line: 13 };

        assert_eq!(
            faulty_line(&statement, text.find("nothing").unwrap_or_default()),
            14
        );
        assert_eq!(faulty_line(&statement, 0), 13);
    }

    #[test]
    fn gw_021_positions_count_characters_not_bytes() {
        let texts = ["säüö".to_owned(), "selekt".to_owned()];

        assert_eq!(statement_at(&texts, 1), (0, 0));
        assert_eq!(statement_at(&texts, 4), (0, 3));
        assert_eq!(statement_at(&texts, 8), (1, 0));
        assert_eq!(statement_at(&texts, 99), (1, 0));
    }
}
