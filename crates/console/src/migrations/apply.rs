//! Writes a change as a migration file, and runs it with its history row.

use std::path::Path;

use chrono::Utc;
use selvedge_postgres::migrate::{
    DraftFile, LOCK_TIMEOUT, Migration, OutsideStatements, discover_migrations, find_pending, run_uncommitted,
};
use serde::Serialize;
use tokio_postgres::Client;

use super::request::MigrationRequest;
use super::version::choose_version;
use crate::audit::{AuditEntry, AuditPermit};
use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::{ConsoleState, Level};

/// A migration that was applied.
#[derive(Debug, Serialize)]
pub(super) struct Applied {
    /// The file's path below the project's folder.
    file: String,
    version: String,
    notes: Vec<String>,
}

/// Applies the change as the folder's next migration.
///
/// What comes before a statement that needs no transaction is committed before it, and stays when a later one fails; the error says so.
/// The file gets its final name after all statements have run and before the commit. If the process dies earlier, neither
/// the change nor the file remains; if it dies later, the file remains, and the next start runs it unless the commit
/// succeeded.
pub(super) async fn apply_change(
    state: &ConsoleState,
    session: &Session,
    folder: &Path,
    request: &MigrationRequest,
) -> Result<Applied, ConsoleError> {
    let _turn = state.migration_turn.lock().await;
    let permit = AuditPermit::request(state).await?;
    // Closed when this ends, which rolls back what is not committed.
    let client = state.database.dedicated(Level::Admin).await?;
    let migrations = discover_migrations(folder)?.migrations;
    refuse_pending(&client, &migrations).await?;
    let version = choose_version(Utc::now(), &migrations)?;
    let file = format!("{version}_{}.sql", request.name);
    let migration = Migration {
        path: folder.join(&file),
        name: request.name.clone(),
        version,
    };
    let file = format!("migrations/{file}");
    let mut text = request.sql.trim().to_owned();
    text.push('\n');
    let draft = DraftFile::write(&migration, &text)?;
    let mut notes = Vec::new();
    let outside = OutsideStatements::Run;
    run_uncommitted(&client, &migration, &text, LOCK_TIMEOUT, outside, |note| {
        notes.push(note)
    })
    .await?;
    let entry = AuditEntry::new("schema.migrate", &file).with_statement(&text);
    permit.write(&client, session, entry).await?;
    commit_with_file(&client, draft, &file).await?;
    Ok(Applied {
        file,
        version: migration.version,
        notes,
    })
}

/// Refuses while the folder has pending migrations, because they would have to run first.
async fn refuse_pending(client: &Client, migrations: &[Migration]) -> Result<(), ConsoleError> {
    let pending = find_pending(client, migrations).await?;
    let Some(first) = pending.first() else {
        return Ok(());
    };
    let name = first.path.file_name().unwrap_or_default().to_string_lossy();
    let others = match pending.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    Err(ConsoleError::conflict(format!(
        "{name}{others} has not run, and comes before this change"
    ))
    .with_hint("Run it with `selvedge migrate up`, or delete the file."))
}

async fn commit_with_file(client: &Client, mut draft: DraftFile, file: &str) -> Result<(), ConsoleError> {
    draft.publish()?;
    let Err(error) = client.batch_execute("commit").await else {
        return Ok(());
    };
    if is_refusal(&error) {
        draft.withdraw()?;
        return Err(error.into());
    }
    Err(
        ConsoleError::unavailable("The database went away during the commit").with_hint(format!(
            "{file} is kept: the next start runs it if it has not run."
        )),
    )
}

/// Whether PostgreSQL has reported the error, so that the transaction was rolled back. After a lost connection or a shutdown
/// its outcome is unknown.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    error
        .as_db_error()
        .is_some_and(|error| !matches!(error.code().code().get(..2), Some("08" | "57" | "58" | "XX")))
}
