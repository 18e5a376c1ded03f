//! The effects of a change: it runs in a transaction that is rolled back, while a second session inspects its locks
//! (CONSOLE-072).

use std::path::PathBuf;
use std::time::Duration;

use selvedge_postgres::migrate::{Migration, OutsideStatements, run_uncommitted};
use tokio_postgres::Client;

use super::effects::{Effects, Observer};
use crate::error::ConsoleError;
use crate::state::{ConsoleState, Level};

/// How long a try waits for a lock. It is short, because all later queries on the table wait behind it.
const TRIAL_LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// The time limit of a try, which holds its locks until it ends.
const TRIAL_LIMIT: Duration = Duration::from_secs(5);

/// Tries the change in a transaction that is rolled back, and returns its effects.
pub(super) async fn try_change(state: &ConsoleState, sql: &str) -> Result<Effects, ConsoleError> {
    let trial = state.database.dedicated(Level::Admin).await?;
    let mut observing = state.database.connection(Level::Admin).await?;
    let pid: i32 = trial.query_one("select pg_backend_pid()", &[]).await?.get(0);
    let mut notes = Vec::new();
    let migration = trial_migration();
    let stop = OutsideStatements::StopBefore;
    let run = run_uncommitted(&trial, &migration, sql, TRIAL_LOCK_TIMEOUT, stop, |note| {
        notes.push(note)
    });
    let is_complete = match tokio::time::timeout(TRIAL_LIMIT, run).await {
        Ok(outcome) => {
            outcome?;
            true
        }
        Err(_) => false,
    };
    let mut observer = Observer::new(&mut observing, pid, notes);
    observer.read_locks().await?;
    if is_complete {
        observer.compare(&trial, &state.config.exposed_schemas).await?;
        trial.batch_execute("rollback").await?;
        observer.count_rows(&trial).await?;
    } else {
        end_trial(&observer, pid).await?;
    }
    observer.into_effects(sql, is_complete).await
}

/// Ends the try that takes too long. Dropping its connection would not: PostgreSQL notices that between statements alone.
async fn end_trial(observer: &Observer<'_>, pid: i32) -> Result<(), ConsoleError> {
    let client: &Client = observer.client();
    client.execute("select pg_terminate_backend($1)", &[&pid]).await?;
    Ok(())
}

/// Returns the migration of a trial run, which is never committed. Its version is not a number, so no file can have it.
fn trial_migration() -> Migration {
    Migration {
        version: "preview".to_owned(),
        name: String::new(),
        path: PathBuf::from("preview.sql"),
    }
}
