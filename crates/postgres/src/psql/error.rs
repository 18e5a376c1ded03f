//! Why a script stopped, in the form in which psql reports it.

use std::path::{Path, PathBuf};

use crate::migrate::{MigrateError, SplitError};

/// Why a script stopped.
#[derive(Debug, thiserror::Error)]
pub enum PsqlError {
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] MigrateError),
    /// A file is not SQL that a connection can run.
    #[error("psql:{}:{}: ERROR:  {source}", path.display(), source.line())]
    Split {
        /// Path of the script.
        path: PathBuf,
        /// Why the script could not be split into statements.
        source: SplitError,
    },
    /// A command of psql that is not supported here, or lacks an argument.
    #[error("psql:{}:{line}: error: {message}", path.display())]
    Command {
        /// Path of the script.
        path: PathBuf,
        /// Line of the psql command, from 1.
        line: usize,
        /// The error message.
        message: String,
    },
    /// PostgreSQL refused a statement.
    #[error("psql:{}:{line}: ERROR:  {message}", path.display())]
    Statement {
        /// Path of the script.
        path: PathBuf,
        /// Line on which the statement begins.
        line: usize,
        /// PostgreSQL's message, with SQLSTATE, details and hint.
        message: String,
    },
    /// The connection to PostgreSQL failed.
    #[error("the connection to the database failed: {0}")]
    Connection(tokio_postgres::Error),
}

impl PsqlError {
    pub(super) fn statement(path: &Path, line: usize, error: tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            return Self::Connection(error);
        };
        let remarks = [
            ("DETAIL", db.detail()),
            ("HINT", db.hint()),
            ("CONTEXT", db.where_()),
        ];
        let mut message = format!("{} (SQLSTATE {})", db.message(), db.code().code());
        for (name, text) in remarks {
            if let Some(text) = text {
                message = format!("{message}\n{name}:  {text}");
            }
        }
        Self::Statement {
            path: path.to_owned(),
            line,
            message,
        }
    }

    pub(super) fn command(path: &Path, line: usize, message: String) -> Self {
        Self::Command {
            path: path.to_owned(),
            line,
            message,
        }
    }
}
