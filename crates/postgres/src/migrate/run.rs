//! Runs the statements of one file, many per round trip, and still says which one failed.
//!
//! A simple query may hold many statements; PostgreSQL answers each with its own completion. So the number of
//! completions before an error tells the statement, and a seed of a hundred thousand rows is sent in large pieces.

use std::{ops::Range, path::Path};

use futures_util::TryStreamExt;
use tokio_postgres::{Client, SimpleQueryMessage, error::ErrorPosition};

use super::{
    error::{MigrateError, StatementFailure},
    extension::ExtensionStatement,
    split::{SplitError, Statement, split},
};

/// How much text goes into one message: large enough that round trips do not count, small enough that PostgreSQL does
/// not hold the parse trees of a whole dump.
const BATCH_BYTES: usize = 512 * 1024;

/// A file with its statements.
pub(crate) struct Script<'a> {
    pub(crate) path: &'a Path,
    pub(crate) statements: Vec<Statement<'a>>,
}

impl<'a> Script<'a> {
    pub(crate) fn parse(path: &'a Path, text: &'a str) -> Result<Self, MigrateError> {
        let statements = split(text).map_err(|source: SplitError| MigrateError::Split {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self { path, statements })
    }

    /// Runs the statements in order; the caller has opened the transaction. `skip` says which extensions to leave out.
    pub(crate) async fn run(&self, client: &Client, skip: &[String]) -> Result<(), MigrateError> {
        let texts: Vec<String> = self
            .statements
            .iter()
            .map(|statement| executable(statement.text, skip))
            .collect();
        for range in batches(&texts) {
            self.run_batch(client, &texts, range).await?;
        }
        Ok(())
    }

    async fn run_batch(
        &self,
        client: &Client,
        texts: &[String],
        range: Range<usize>,
    ) -> Result<(), MigrateError> {
        let batch = texts[range.clone()].join(";\n");
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

        // A syntax error stops the batch before its first statement runs, and only its position tells where it is.
        let index = match db.position() {
            Some(ErrorPosition::Original(position)) => {
                statement_at(&texts[range.clone()], *position as usize)
            }
            _ => completed,
        };
        let statement = &self.statements[(range.start + index).min(range.end - 1)];
        Err(MigrateError::Statement(Box::new(StatementFailure::new(
            self.path,
            statement.line,
            statement.text,
            db,
        ))))
    }
}

/// What is sent for a statement: extensions go through the platform's functions.
fn executable(statement: &str, skip: &[String]) -> String {
    match ExtensionStatement::parse(statement) {
        Some(ExtensionStatement::Create { name, .. }) if skip.contains(&name) => "select null".to_owned(),
        Some(extension) => extension.to_sql(),
        None => statement.to_owned(),
    }
}

fn batches(texts: &[String]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        if size > 0 && size + text.len() > BATCH_BYTES {
            ranges.push(start..index);
            (start, size) = (index, 0);
        }
        size += text.len() + 2;
    }
    if start < texts.len() {
        ranges.push(start..texts.len());
    }
    ranges
}

/// Which of the texts, joined by `";\n"`, holds the character at `position` (from 1).
fn statement_at(texts: &[String], position: usize) -> usize {
    let mut end = 0;
    texts
        .iter()
        .position(|text| {
            end += text.chars().count() + 2;
            position <= end
        })
        .unwrap_or(texts.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_021_batches_cover_every_statement_once_and_stay_small() {
        let texts: Vec<String> = (0..100).map(|index| "x".repeat(index * 500)).collect();

        let ranges = batches(&texts);

        assert!(ranges.len() > 1);
        assert_eq!(
            ranges.iter().cloned().flatten().collect::<Vec<_>>(),
            (0..100).collect::<Vec<_>>()
        );
        assert_eq!(batches(&["y".repeat(BATCH_BYTES * 2), "z".into()]), [0..1, 1..2]);
        assert!(batches(&[]).is_empty());
    }

    #[test]
    fn gw_021_positions_count_characters_not_bytes() {
        let texts = ["säüö".to_owned(), "selekt".to_owned()];

        assert_eq!(statement_at(&texts, 1), 0);
        assert_eq!(statement_at(&texts, 7), 1);
        assert_eq!(statement_at(&texts, 99), 1);
    }
}
