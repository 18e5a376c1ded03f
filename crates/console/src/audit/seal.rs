//! Seals entries of the audit in order, so that one that is changed or removed later does not match its seal.

use std::sync::Arc;
use std::time::Duration;

use crate::error::ConsoleError;
use crate::state::ConsoleState;

/// How long after its start the server looks for entries that the last one has left.
const FIRST_DELAY: Duration = Duration::from_secs(20);
/// How long after an entry it is sealed, so that the entries of one action share a pass.
const DELAY: Duration = Duration::from_secs(2);
/// The longest time between two passes while an older transaction runs.
const LONGEST_DELAY: Duration = Duration::from_secs(60);

const SEAL_ENTRIES: &str =
    "select newest, newest_seal, sealed, is_complete from selvedge_console.seal_audit()";

/// Seals what was written, whenever something was.
pub(crate) async fn seal_forever(state: Arc<ConsoleState>) {
    let _ = tokio::time::timeout(FIRST_DELAY, state.audit_written.notified()).await;
    loop {
        let mut delay = DELAY;
        loop {
            tokio::time::sleep(delay).await;
            match seal_entries(&state).await {
                Ok(true) => break,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "entries of the console's audit could not be sealed"),
            }
            delay = (delay * 2).min(LONGEST_DELAY);
        }
        state.audit_written.notified().await;
    }
}

/// Seals what can be sealed now. Returns whether nothing is left.
async fn seal_entries(state: &ConsoleState) -> Result<bool, ConsoleError> {
    // Not pooled: a console that nobody uses keeps no connection.
    let client = state.database.dedicated_service().await?;
    let row = client.query_one(SEAL_ENTRIES, &[]).await?;
    let (newest, seal): (Option<i64>, Option<&[u8]>) = (row.try_get(0)?, row.try_get(1)?);
    let (sealed, is_complete): (i32, bool) = (row.try_get(2)?, row.try_get(3)?);
    if sealed > 0 {
        // Whoever changes the table and computes its seals anew cannot change this line.
        tracing::info!(
            entry = newest,
            seal = seal.map(hex::encode),
            "the console's audit is sealed"
        );
    }
    Ok(is_complete)
}
