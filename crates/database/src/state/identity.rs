//! Tells databases apart, whatever address leads to them.

use anyhow::Result;
use tokio_postgres::Client;

/// Returns what identifies the database of a session: the number that its cluster got when it was created, and its own in it.
///
/// # Errors
/// When the query fails.
pub async fn find_identity(client: &Client) -> Result<String> {
    let query =
        "select system_identifier || '/' || (select oid from pg_database where datname = current_database())
                 from pg_control_system()";
    Ok(client.query_one(query, &[]).await?.get(0))
}
