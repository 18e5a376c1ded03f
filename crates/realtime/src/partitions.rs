//! The daily partitions of `realtime.messages`: those of the coming days are created, old ones dropped.
//!
//! Every node runs this. The function takes a lock in the database, so one node does the work and the others find nothing
//! to do (realtime contract §12.2).

use std::time::Duration;

use deadpool_postgres::Pool;

/// How often partitions are maintained. They exist three days ahead, so several failed rounds do no harm to inserts.
const INTERVAL: Duration = Duration::from_secs(4 * 3600);
/// Pause after a failed round.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// As a role that may call the function. What limits requests does not limit the work on many partitions.
const MAINTAIN: &str = "begin; set local role service_role; set local statement_timeout = 0;
    select realtime.maintain_messages_partitions(); commit";

/// Keeps the partitions up to date until the runtime ends.
pub(crate) async fn maintain_forever(pool: Pool) {
    loop {
        let pause = match maintain(&pool).await {
            Ok(()) => INTERVAL,
            Err(error) => {
                tracing::warn!(
                    error_code = "PartitionCreationFailed",
                    error,
                    "the partitions of realtime.messages could not be maintained"
                );
                RETRY_INTERVAL
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// Creates and drops partitions once.
async fn maintain(pool: &Pool) -> Result<(), String> {
    let client = pool.get().await.map_err(|error| error.to_string())?;
    let done = client.batch_execute(MAINTAIN).await;
    if done.is_err() {
        client.batch_execute("rollback").await.ok();
    }
    done.map_err(|error| error.to_string())
}
