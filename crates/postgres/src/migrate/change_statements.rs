//! Statements that change a database until its objects are those of another one, in one transaction. Each runs in a savepoint, because a statement
//! that is refused would otherwise end the transaction for all others.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::error::MigrateError;

/// Locks tables until the transaction ends, so that nobody changes what belongs to them, or gives their names to others.
///
/// # Errors
/// When one is not there any more, or somebody else keeps a lock for too long.
pub(super) async fn lock_tables(client: &Client, tables: &[String]) -> Result<(), Error> {
    if tables.is_empty() {
        return Ok(());
    }
    let lock = format!("lock table {} in access exclusive mode", tables.join(", "));
    client.batch_execute(&lock).await
}

/// Commits what was done in the transaction that is open, or takes it back after an error.
///
/// # Errors
/// That of `outcome`, or of the commit.
pub(super) async fn end_transaction(
    client: &Client,
    outcome: Result<(), MigrateError>,
) -> Result<(), MigrateError> {
    let end = if outcome.is_ok() { "commit" } else { "rollback" };
    // Where the connection is lost the rollback fails too. The error that led to it is the one to report.
    let ended = client.batch_execute(end).await;
    outcome?;
    Ok(ended?)
}

/// Runs a statement in a savepoint of the open transaction, which can therefore go on when PostgreSQL refuses the statement. Returns whether it was
/// accepted.
///
/// # Errors
/// Also when it has waited for a lock for too long: each statement after it would wait as long.
pub(super) async fn run_in_savepoint(client: &Client, statement: &str) -> Result<bool, Error> {
    Ok(find_refusal(client, statement).await?.is_none())
}

/// Runs statements in the transaction that is open. Those that are refused run again after the others, as they may need what these make, until
/// a round makes nothing more. Returns the places of what is refused then, with PostgreSQL's errors.
///
/// # Errors
/// As [`run_in_savepoint`].
pub(super) async fn run_in_rounds(
    client: &Client,
    statements: &[&str],
) -> Result<Vec<(usize, Error)>, Error> {
    let mut waiting: Vec<usize> = (0..statements.len()).collect();
    loop {
        let mut refused = Vec::new();
        for place in &waiting {
            if let Some(error) = find_refusal(client, statements[*place]).await? {
                refused.push((*place, error));
            }
        }
        if refused.is_empty() || refused.len() == waiting.len() {
            return Ok(refused);
        }
        waiting = refused.iter().map(|(place, _)| *place).collect();
    }
}

/// Whether a statement was refused because something that it names is missing.
pub(super) fn is_missing_object(error: &Error) -> bool {
    const CODES: [SqlState; 5] = [
        SqlState::UNDEFINED_TABLE,
        SqlState::UNDEFINED_COLUMN,
        SqlState::UNDEFINED_FUNCTION,
        SqlState::UNDEFINED_OBJECT,
        SqlState::INVALID_SCHEMA_NAME,
    ];
    error.code().is_some_and(|code| CODES.contains(code))
}

/// As [`run_in_savepoint`], but returns the error of a statement that was refused.
async fn find_refusal(client: &Client, statement: &str) -> Result<Option<Error>, Error> {
    client.batch_execute("savepoint part").await?;
    match client.batch_execute(statement).await {
        Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => Err(error),
        Ok(()) => client.batch_execute("release part").await.map(|()| None),
        Err(error) if error.as_db_error().is_some() => client
            .batch_execute("rollback to part; release part")
            .await
            .map(|()| Some(error)),
        Err(error) => Err(error),
    }
}
