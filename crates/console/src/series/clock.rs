//! The background task that records a sample every second while the server runs.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;

use crate::state::ConsoleState;

/// The seconds between two counts of the database's connections, each of which costs a query.
const COUNT_EVERY: i64 = 2;

/// Records a sample at each whole second, and never returns.
pub(crate) async fn record_forever(state: Arc<ConsoleState>) {
    let mut connections = None;
    loop {
        let until_next = 1000 - Utc::now().timestamp_subsec_millis() % 1000;
        tokio::time::sleep(Duration::from_millis(u64::from(until_next))).await;
        let now = Utc::now().timestamp();
        // Without an open page, an idle server must not query its database every second.
        if !state.recorder.is_watched(now) {
            connections = None;
        } else if now % COUNT_EVERY == 0 {
            connections = count_connections(&state).await;
        }
        state.recorder.record(connections, now);
    }
}

/// Counts the connections of all clients to this database; `None` while the database is away.
async fn count_connections(state: &ConsoleState) -> Option<f64> {
    let client = state.database.service().await.ok()?;
    let statement = "select count(*) from pg_catalog.pg_stat_activity where datname = current_database()";
    let row = client.query_one(statement, &[]).await.ok()?;
    Some(row.try_get::<_, i64>(0).ok()? as f64)
}
