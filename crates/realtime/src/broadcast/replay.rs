//! Replay: broadcasts stored in `realtime.messages`, sent to a channel when it joins (realtime contract §8.2).

use std::time::Duration;

use bytes::Bytes;
use deadpool_postgres::Pool;
use futures_util::join;
use serde_json::{Map, Value};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::message::{Content, RowKey};
use crate::frame::Encoding;

/// Most messages of one replay, and the number when the client names none.
const MOST_MESSAGES: i64 = 25;

/// Which stored messages a client requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReplayRequest {
    /// Milliseconds since the Unix epoch.
    since: i64,
    limit: i64,
}

impl ReplayRequest {
    /// Reads `config.broadcast.replay`; `None` when `since` is missing or one of the two is not an integer.
    pub(crate) fn parse(parameters: &Map<String, Value>) -> Option<Self> {
        let since = parameters.get("since")?.as_i64()?;
        let limit = match parameters.get("limit") {
            None => MOST_MESSAGES,
            Some(limit) => limit.as_i64()?.clamp(1, MOST_MESSAGES),
        };
        Some(Self { since, limit })
    }
}

/// A stored broadcast that is sent again.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) row: RowKey,
    pub(crate) content: Content,
}

/// Reads stored messages. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Replayer {
    pool: Pool,
    timeout: Duration,
}

/// Begins a transaction as a role that no policy restricts.
const BEGIN: &str = "begin; set local role service_role";

/// The newest messages first. Rows dated more than a minute ahead are left out: other sessions' clocks may be a little
/// ahead, but `inserted_at` can be set freely, and a row of the far future would be the newest for ever.
const SELECT: &str = "select id, event, payload::text, binary_payload, inserted_at from realtime.messages \
     where topic = $1 and private and extension = 'broadcast' and event is not null \
       and inserted_at >= timestamp 'epoch' + $2 * interval '1 millisecond' \
       and inserted_at < (now() at time zone 'utc') + interval '1 minute' \
     order by inserted_at desc limit $3";

impl Replayer {
    pub(crate) fn new(pool: Pool, timeout: Duration) -> Self {
        Self { pool, timeout }
    }

    /// The stored broadcasts of a private topic, oldest first; `None` when the database does not answer in time. Reads
    /// past the policies, so the caller must have checked them.
    pub(crate) async fn fetch(&self, topic: &str, request: ReplayRequest) -> Option<Vec<Replay>> {
        let rows = timeout(self.timeout, async {
            let client = self.pool.get().await.map_err(|error| error.to_string())?;
            let statement = client
                .prepare_cached(SELECT)
                .await
                .map_err(|error| error.to_string())?;
            // Larger values would overflow PostgreSQL's interval. The clamp keeps their meaning: no messages, or all.
            #[expect(
                clippy::cast_precision_loss,
                reason = "clamped to what a double holds exactly"
            )]
            let since = request.since.clamp(-(1 << 50), 1 << 50) as f64;
            let parameters: [&(dyn ToSql + Sync); 3] = [&topic, &since, &request.limit];
            // Queued before any await: the rollback also runs where the waiting is given up.
            let (begun, rows, ended) = join!(
                client.batch_execute(BEGIN),
                client.query(&statement, &parameters),
                client.batch_execute("rollback"),
            );
            begun.and(ended).and(rows).map_err(|error| error.to_string())
        });
        match rows.await.map_err(|_| "timeout".to_owned()).flatten() {
            Ok(rows) => Some(rows.iter().rev().filter_map(read_row).collect()),
            Err(error) => {
                tracing::warn!(error_code = "UnableToReplayMessages", error, "a replay failed");
                None
            }
        }
    }
}

/// The message of a row; `None` for a row without a payload.
fn read_row(row: &tokio_postgres::Row) -> Option<Replay> {
    let row_id: Uuid = row.try_get(0).ok()?;
    let inserted_at = row.try_get(4).ok()?;
    let (json, binary): (Option<String>, Option<Vec<u8>>) = (row.try_get(2).ok()?, row.try_get(3).ok()?);
    let (encoding, payload) = match (json, binary) {
        (Some(json), _) => (Encoding::Json, Bytes::from(json)),
        (None, Some(bytes)) => (Encoding::Bytes, Bytes::from(bytes)),
        (None, None) => return None,
    };
    let content = Content::User {
        event: row.try_get(1).ok()?,
        encoding,
        payload,
        meta: format!(r#"{{"id":"{row_id}","replayed":true}}"#),
    };
    Some(Replay {
        row: (row_id, inserted_at),
        content,
    })
}
