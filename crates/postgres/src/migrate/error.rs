//! Errors of migrations and seeds. The messages are for the person who wrote the SQL: file, line, statement and cause.

use std::path::{Path, PathBuf};

use tokio_postgres::error::{DbError, SqlState};

use super::split::{SplitError, Statement};

/// Why migrating stopped. Files before the named one stay applied; the named one has been rolled back.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A file could not be read or written.
    #[error("cannot access {}: {source}", path.display())]
    File {
        /// Path of the SQL file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file is not SQL that a connection can run.
    #[error("{}:{}: {source}", path.display(), source.line())]
    Split {
        /// Path of the SQL file.
        path: PathBuf,
        /// Why the file could not be split into statements.
        source: SplitError,
    },
    /// PostgreSQL refused a statement.
    #[error(transparent)]
    Statement(Box<StatementFailure>),
    /// The files need extensions that this PostgreSQL does not have (GW-019).
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    MissingExtensions(Vec<MissingExtension>),
    /// Files and history disagree (GW-022).
    #[error(transparent)]
    History(#[from] HistoryConflict),
    /// The history has a version that cannot be part of a file's name.
    #[error(
        "the history of migrations has the version {0:?}, which is not a number. Nothing was written; remove it there with \
         `selvedge migration repair`"
    )]
    HistoryVersion(String),
    /// The connection failed, or a statement that is part of this server did.
    #[error("the database failed while migrating: {}", describe_error(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// A newer version of this program has used the database.
    #[error(
        "the database was used by a newer version of selvedge, which has added {}. Nothing was changed: use that version, or one \
         that is newer", .0.join(", ")
    )]
    NewerPlatform(Vec<String>),
    /// Another run has changed the platform schema for longer than it is waited for.
    #[error(
        "another run brings the platform schema up to date, in the database's session {0}, and has not ended in ten minutes. Wait for it, \
         or end it with `select pg_terminate_backend({0})`"
    )]
    Busy(i32),
    /// Another run has changed tenants for longer than it is waited for.
    #[error("another `selvedge tenants` works on this database, and has not ended in ten minutes{0}")]
    TenantsBusy(String),
    /// Another transaction has locked what a reset empties.
    #[error(
        "a transaction of another session has locked something for longer than a reset waits. Nothing was changed: end it, then repeat the \
         command\n  sessions with open transactions:  {0}"
    )]
    Locked(String),
    /// Another transaction has locked what a reset changes after the emptying.
    #[error(
        "a transaction of another session has locked something for longer than a reset waits\n  sessions with open transactions:  {0}"
    )]
    LockedWhileEmpty(String),
    /// The database has no platform schema, or that of an earlier version.
    #[error(
        "the database lacks the platform schema, or an older version made it\n  bring it up to date with:  selvedge migrate up (a \
         running project: selvedge stop, selvedge start)"
    )]
    NoPlatform,
    /// Somebody who is no superuser has prepared what the platform schema builds on.
    #[error(
        "the platform schema is not applied, because others could use its rights: {}. Drop, rename or alter that as the superuser",
        .0.join("; ")
    )]
    NotOwned(Vec<String>),
    /// What a reset of a database on another server would leave.
    #[error(
        "this would stay, which a fresh database does not have:\n  {}\n  nothing was changed. A superuser's login in DATABASE_URL removes it, and \
         so does whoever made it, by hand", .0.join("\n  ")
    )]
    NotAsFresh(Vec<String>),
    /// Roles that files create, where a reset drops none.
    #[error(
        "these roles exist, and a reset drops no roles of a server that this program does not run, so what creates them would fail:\n  {}\n  \
         nothing was changed. Let the statements be ones that may run twice (do $$ … if not exists …), or drop the roles by hand", .0.join("\n  ")
    )]
    RolesExist(Vec<String>),
    /// Tables of the platform that somebody has replaced while a database was reset.
    #[error(
        "while the database was reset somebody has replaced tables of the platform, or their schemas by ones that are no superuser's: {}",
        .0.join(", ")
    )]
    Replaced(Vec<String>),
    /// Columns of the services' tables, each with the type that somebody has given it.
    #[error(
        "columns of the platform have types of the project, for which it may have made casts: {}\n  \
         Give them the types back that they had:  alter table … alter column … type …", .0.join(", ")
    )]
    TypesOfOthers(Vec<String>),
    /// A statement failed after a database was emptied, and before the project's files ran.
    #[error(
        "{cause}\n  the database is empty now. Mend the cause, and repeat:  selvedge db reset\n  if it fails again, make the whole database anew:  \
         {anew}"
    )]
    Emptied {
        /// What has failed.
        cause: Box<Self>,
        /// The commands that make the whole database again.
        anew: &'static str,
    },
    /// A file of the platform schema failed.
    #[error("platform schema {file}: {}", describe_error(source))]
    Platform {
        /// Its name, with `:line` when PostgreSQL reported a position.
        file: String,
        /// PostgreSQL's error.
        source: tokio_postgres::Error,
    },
}

/// An extension that a file creates and this PostgreSQL does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: extension \"{name}\" is not available in this PostgreSQL: {advice}", path.display())]
pub struct MissingExtension {
    /// The migration file that creates the extension.
    pub path: PathBuf,
    /// Line of its `create extension`.
    pub line: usize,
    /// Name of the extension.
    pub name: String,
    /// How to install it.
    pub advice: String,
    /// The Debian package that contains it, if known.
    pub package: Option<String>,
}

/// A conflict between the migrations folder and the history in the database (GW-022). The first two messages are those
/// of the Supabase CLI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryConflict {
    /// The history has versions for which the folder has no file.
    #[error("Remote migration versions not found in local migrations directory.\n  {}{}", .versions.join(", "), advise_repair(.versions))]
    MissingFiles {
        /// Versions that are recorded in the database but have no file.
        versions: Vec<String>,
    },
    /// Files that would have to run before one that already ran.
    #[error(
        "Found local migration files to be inserted before the last migration on remote database.\n  {}",
        .files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    OutOfOrder {
        /// Files that are older than the last applied version.
        files: Vec<PathBuf>,
    },
    /// A squash was cut off after it had written its file. The other files, and the history of the database, are not as they should be.
    #[error(
        "`migration squash` was cut off after it had written {}\n  finish it with:  selvedge migration squash", file.display()
    )]
    UnfinishedSquash {
        /// The file that replaces others.
        file: PathBuf,
    },
    /// A file that a squash has yet to delete has another text than it had when it was squashed.
    #[error(
        "{} has changed since `migration squash` was cut off, and would be deleted. Nothing was changed: move it out of the folder, then repeat",
        file.display()
    )]
    ChangedSinceSquash {
        /// The file that would be deleted.
        file: PathBuf,
    },
    /// Two files claim the same version.
    #[error("two migrations have the version {version}: {} and {}", first.display(), second.display())]
    Duplicate {
        /// The version that both files share.
        version: String,
        /// The first of the two files.
        first: PathBuf,
        /// The second of the two files.
        second: PathBuf,
    },
}

/// How versions without a file leave the history. A version that is not a number was not written by this program, and is no text to paste
/// into a shell.
fn advise_repair(versions: &[String]) -> String {
    match versions
        .iter()
        .all(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
    {
        true => format!(
            "\n  if their files were deleted on purpose:  selvedge migration repair {} --status reverted",
            versions.join(" ")
        ),
        false => String::new(),
    }
}

impl MigrateError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }

    /// Whether PostgreSQL has refused a statement for want of a right.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        match self {
            Self::Postgres(error) => error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE),
            _ => false,
        }
    }
}

/// How many lines of PostgreSQL's context are kept: a recursive function fills it with thousands, of which the first ones
/// are enough.
const MAX_CONTEXT_LINES: usize = 6;

/// One statement that PostgreSQL refused: where, why, and the statement.
#[derive(Debug, thiserror::Error)]
#[error("{}:{line}: {} (SQLSTATE {sqlstate}){}\n{}", path.display(), message, self.format_remarks(), self.excerpt())]
pub struct StatementFailure {
    /// Path of the migration file.
    pub path: PathBuf,
    /// Line at which PostgreSQL found the fault; the first of the statement when it named no place.
    pub line: usize,
    /// Line on which the statement's text begins, with the comments before its first word.
    pub first_line: usize,
    /// PostgreSQL's error code.
    pub sqlstate: String,
    /// PostgreSQL's message.
    pub message: String,
    /// PostgreSQL's field DETAIL, if any.
    pub detail: Option<String>,
    /// PostgreSQL's field HINT, if any.
    pub hint: Option<String>,
    /// The functions and triggers that were running, innermost first: a statement can fail in code that it only calls.
    pub context: Option<String>,
    /// Text of the failed statement, as written in the file.
    pub statement: String,
    /// The line of the file's own `commit` up to which it has taken effect.
    pub committed_at: Option<usize>,
    /// The line before which the file has taken effect, because a statement of it cannot run in a transaction.
    pub applied_before: Option<usize>,
}

impl StatementFailure {
    pub(crate) fn new(
        path: &Path,
        statement: &Statement<'_>,
        (first_line, line): (usize, usize),
        error: &DbError,
    ) -> Self {
        Self {
            path: path.to_owned(),
            line,
            first_line,
            sqlstate: error.code().code().to_owned(),
            message: error.message().to_owned(),
            detail: error.detail().map(ToOwned::to_owned),
            hint: error.hint().map(ToOwned::to_owned),
            context: error.where_().map(ToOwned::to_owned),
            statement: statement.text.to_owned(),
            committed_at: None,
            applied_before: None,
        }
    }

    fn format_remarks(&self) -> String {
        let detail = self.detail.iter().map(|detail| format!("\n  detail: {detail}"));
        let hint = self.hint.iter().map(|hint| format!("\n  hint: {hint}"));
        let context = self.context.iter().map(|context| {
            let lines: Vec<&str> = context.lines().take(MAX_CONTEXT_LINES).collect();
            format!("\n  context: {}", lines.join("\n    "))
        });
        let committed = self.committed_at.iter().map(|line| {
            format!(
                "\n  the file has a COMMIT on line {line}: what is before it has taken effect, although the file does not count as \
                 applied. Take it out of the file, or undo it, before the next attempt"
            )
        });
        let applied = self.applied_before.iter().map(|line| {
            format!(
                "\n  the file has statements that cannot run in a transaction: what is before line {line} has taken effect, although \
                 the file does not count as applied. Undo it before the next attempt, or let each statement be one that may run \
                 twice (if not exists)"
            )
        });
        let invalid = self.makes_index_concurrently().then(|| {
            "\n  an index that could not be made concurrently may stay behind, invalid: drop it before the next attempt".to_owned()
        });
        detail
            .chain(hint)
            .chain(context)
            .chain(committed)
            .chain(applied)
            .chain(invalid)
            .collect()
    }

    fn makes_index_concurrently(&self) -> bool {
        let lower = self.statement.to_ascii_lowercase();
        lower.contains("index") && lower.contains(" concurrently")
    }

    /// At most 12 lines of the statement, each cut at 200 characters, so that the message fits a terminal. The faulty line is
    /// among them.
    fn excerpt(&self) -> String {
        const EXCERPT_LINES: usize = 12;
        let lines: Vec<&str> = self.statement.lines().collect();
        let last = lines.len().saturating_sub(1);
        let faulty = self.line.saturating_sub(self.first_line).min(last);
        // Half of the lines lead to a faulty one that is far down.
        let start = if faulty < EXCERPT_LINES {
            0
        } else {
            faulty - EXCERPT_LINES / 2
        };
        let end = lines.len().min(start + EXCERPT_LINES);
        let mut excerpt = Vec::with_capacity(EXCERPT_LINES + 2);
        if start > 0 {
            excerpt.push("    ...".to_owned());
        }
        for line in &lines[start..end] {
            excerpt.push(format!("    {}", line.chars().take(200).collect::<String>()));
        }
        if end < lines.len() {
            excerpt.push("    ...".to_owned());
        }
        excerpt.join("\n")
    }
}

/// The message with SQLSTATE and context. `Display` of `tokio_postgres::Error` leaves these out, as they are in its
/// source.
pub(crate) fn describe_error(error: &tokio_postgres::Error) -> String {
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
