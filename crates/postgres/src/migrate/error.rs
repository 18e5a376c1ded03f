//! What can go wrong while migrating, worded for the person who wrote the SQL.

use std::path::{Path, PathBuf};

use tokio_postgres::error::DbError;

use super::{files::HistoryConflict, split::SplitError};

/// Why migrating stopped. Everything before the named file stays, nothing of the named file does.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A file could not be read or written.
    #[error("cannot access {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file is not SQL that a connection can run.
    #[error("{}:{}: {source}", path.display(), source.line())]
    Split {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: SplitError,
    },
    /// PostgreSQL refused a statement.
    #[error(transparent)]
    Statement(Box<StatementFailure>),
    /// The migrations need an extension that this PostgreSQL does not have (GW-019).
    #[error("{}:{line}: extension \"{name}\" is not available in this PostgreSQL: {advice}", path.display())]
    MissingExtension {
        /// The file that creates it.
        path: PathBuf,
        /// Line of its `create extension`.
        line: usize,
        /// The extension.
        name: String,
        /// What to do.
        advice: &'static str,
    },
    /// Files and history disagree (GW-022).
    #[error(transparent)]
    History(#[from] HistoryConflict),
    /// The connection failed, or a statement of ours did.
    #[error("the database failed while migrating: {}", describe(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// A file of the platform schema failed.
    #[error("platform schema {file}: {}", describe(source))]
    Platform {
        /// Its name.
        file: String,
        /// What PostgreSQL said.
        source: tokio_postgres::Error,
    },
}

impl MigrateError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

/// One statement that PostgreSQL refused: where, why, and the statement.
#[derive(Debug, thiserror::Error)]
#[error("{}:{line}: {} (SQLSTATE {sqlstate}){}\n{}", path.display(), message, self.remarks(), self.excerpt())]
pub struct StatementFailure {
    /// The file.
    pub path: PathBuf,
    /// Line on which the statement begins.
    pub line: usize,
    /// PostgreSQL's error code.
    pub sqlstate: String,
    /// PostgreSQL's message.
    pub message: String,
    /// Its details, if any.
    pub detail: Option<String>,
    /// Its hint, if any.
    pub hint: Option<String>,
    /// The statement as written.
    pub statement: String,
}

impl StatementFailure {
    pub(crate) fn new(path: &Path, line: usize, statement: &str, error: &DbError) -> Self {
        Self {
            path: path.to_owned(),
            line,
            sqlstate: error.code().code().to_owned(),
            message: error.message().to_owned(),
            detail: error.detail().map(ToOwned::to_owned),
            hint: error.hint().map(ToOwned::to_owned),
            statement: statement.to_owned(),
        }
    }

    fn remarks(&self) -> String {
        let detail = self.detail.iter().map(|detail| format!("\n  detail: {detail}"));
        let hint = self.hint.iter().map(|hint| format!("\n  hint: {hint}"));
        detail.chain(hint).collect()
    }

    /// The statement, indented and cut: a function body of a thousand lines helps nobody in a terminal.
    fn excerpt(&self) -> String {
        const LINES: usize = 12;
        let mut lines = self.statement.lines();
        let mut excerpt: Vec<String> = lines
            .by_ref()
            .take(LINES)
            .map(|line| format!("    {}", line.chars().take(200).collect::<String>()))
            .collect();
        if lines.next().is_some() {
            excerpt.push("    ...".to_owned());
        }
        excerpt.join("\n")
    }
}

/// PostgreSQL's own words, which `tokio_postgres::Error` keeps in its source.
pub(crate) fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(db) => {
            let place = db.where_().map(|place| format!("; {place}")).unwrap_or_default();
            format!("{} (SQLSTATE {}){place}", db.message(), db.code().code())
        }
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}
