//! Users who were deleted or banned. Their channels end within seconds, and joins with their tokens are refused, although the tokens
//! are valid for as long as an hour.
//!
//! Auth notes them in a table, which is read every few seconds while there are sockets. A question for each token would cost a round trip
//! per join; what Auth announces could be announced by every SQL role.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use deadpool_postgres::Pool;
use selvedge_token::Claims;
use serde_json::Value;
use tokio::time::sleep;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::fanout::Hub;

/// How long to wait between two readings of the table.
const INTERVAL: Duration = Duration::from_secs(2);

/// With the Unix time since when the id belongs to another user, where that user is not banned.
const LIST_ENDED: &str = "select user_id,
      case when until is null or until <= now() then floor(extract(epoch from renewed_at))::bigint end as renewed_at
    from _selvedge.selvedge_ended_users
    where ended_at > now() - interval '8 days' and (until is null or until > now() or renewed_at is not null)";

/// Which tokens of a user do not count: all, or those from before this Unix time, when an administrator has created a user with the id anew.
type Ended = HashMap<Uuid, Option<i64>>;

/// The users whose tokens do not count any more.
#[derive(Debug, Default)]
pub(crate) struct EndedUsers(RwLock<Ended>);

impl EndedUsers {
    /// Whether these are claims of a user who was deleted or is banned.
    pub(crate) fn includes(&self, claims: &Claims) -> bool {
        let ended = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if ended.is_empty() {
            return false;
        }
        let subject = claims.get("sub").and_then(Value::as_str);
        let end = subject
            .and_then(|subject| Uuid::try_parse(subject).ok())
            .and_then(|id| ended.get(&id));
        match end {
            None => false,
            Some(None) => true,
            // Auth says when it has issued a token; others may not.
            Some(Some(renewed_at)) => {
                let issued_at = claims.get("iat").and_then(Value::as_i64);
                issued_at.is_some_and(|issued_at| issued_at < *renewed_at)
            }
        }
    }

    /// Replaces the users; returns whether there are some who were not among those before, or with another time.
    fn replace(&self, now: Ended) -> bool {
        let mut ended = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let has_new = now.iter().any(|(id, end)| ended.get(id) != Some(end));
        *ended = now;
        has_new
    }
}

/// Looks for ended users while there are sockets, and lets every socket check its channels when there are new ones.
pub(crate) async fn watch_forever(
    users: Arc<EndedUsers>,
    hub: Arc<Hub>,
    pool: Pool,
    has_sockets: impl Fn() -> bool,
) {
    let mut is_told = false;
    loop {
        sleep(INTERVAL).await;
        if !has_sockets() {
            continue;
        }
        match list_ended(&pool).await {
            Ok(ended) => {
                is_told = false;
                if users.replace(ended) {
                    hub.check_users();
                }
            }
            // The users that were read last stay refused while the table cannot be read.
            Err(error) if !is_told => {
                is_told = true;
                tracing::warn!(error, "deleted and banned users could not be read");
            }
            Err(_) => {}
        }
    }
}

async fn list_ended(pool: &Pool) -> Result<Ended, String> {
    let client = pool.get().await.map_err(|error| error.to_string())?;
    let rows = client.query(LIST_ENDED, &[]).await;
    let rows = rows.map_err(|error| error.to_string())?;
    let read = |row: &Row| -> Result<_, tokio_postgres::Error> { Ok((row.try_get(0)?, row.try_get(1)?)) };
    let ended: Result<Ended, _> = rows.iter().map(read).collect();
    ended.map_err(|error| error.to_string())
}
