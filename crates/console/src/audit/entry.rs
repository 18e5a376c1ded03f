//! Writes entries of the audit.

use tokio_postgres::GenericClient;

use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// The bytes after which a statement's text is cut, because a pasted import can have megabytes.
const LONGEST_STATEMENT: usize = 16 * 1024;

const INSERT_ENTRY: &str = "select selvedge_console.write_audit($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// An action of an account, its target and its outcome.
#[derive(Debug, Clone, Copy)]
pub struct AuditEntry<'a> {
    action: &'a str,
    target: &'a str,
    statement: Option<&'a str>,
    rows: Option<i64>,
    result: &'a str,
}

impl<'a> AuditEntry<'a> {
    /// Describes an action such as `rows.apply`, `sql.run` or `sign_in` on a target such as `public.notes`.
    pub fn new(action: &'a str, target: &'a str) -> Self {
        Self {
            action,
            target,
            statement: None,
            rows: None,
            result: "ok",
        }
    }

    /// Adds the statement. Its values must be parameters where they may be secrets.
    #[must_use]
    pub fn with_statement(mut self, statement: &'a str) -> Self {
        let end = statement.floor_char_boundary(LONGEST_STATEMENT);
        self.statement = Some(&statement[..end]);
        self
    }

    /// Adds the number of rows that were changed or read.
    #[must_use]
    pub fn with_rows(mut self, rows: i64) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Sets the outcome, which is `ok` otherwise: `refused`, `failed`, `started`.
    #[must_use]
    pub fn with_result(mut self, result: &'a str) -> Self {
        self.result = result;
        self
    }
}

/// Writes an entry on `client`, which is in the transaction of the change and logged in as an admin's level. Where the
/// transaction has taken another role, that must be reset before.
///
/// # Errors
/// When PostgreSQL refuses; the transaction must then be rolled back.
pub async fn write(
    client: &impl GenericClient,
    session: &Session,
    entry: AuditEntry<'_>,
) -> Result<(), ConsoleError> {
    let AuditEntry {
        action,
        target,
        statement,
        rows,
        result,
    } = entry;
    client
        .execute(
            INSERT_ENTRY,
            &[
                &session.account.as_deref(),
                &session.level.name(),
                &&*session.address,
                &action,
                &target,
                &statement,
                &rows,
                &result,
                &&*session.request_id,
            ],
        )
        .await?;
    // The entry also becomes a line of the log, which an attacker with rights on the database cannot take back.
    tracing::info!(
        account = session.account_name(),
        level = session.level.name(),
        address = &*session.address,
        request_id = &*session.request_id,
        action,
        target,
        rows,
        result,
        "console"
    );
    Ok(())
}

/// Writes an entry in a separate transaction: before a service is called, and for actions that change nothing in the
/// database.
///
/// # Errors
/// When the database does not respond; the action must not run then.
pub async fn record(
    state: &ConsoleState,
    session: &Session,
    entry: AuditEntry<'_>,
) -> Result<(), ConsoleError> {
    let client = state.database.service().await?;
    write(&**client, session, entry).await
}
