//! Decides which node of a database runs the workers: the one whose connection holds an advisory lock.
//!
//! All statements of the workers go over that connection. When it is lost, PostgreSQL gives the lock to another node, and
//! no statement of this one can succeed any more; it stops its workers and tries to get the lock again. PostgreSQL ends the
//! connection of a node that does not run any more ([`crate::liveness`]).

use std::sync::Arc;
use std::time::Duration;

use selvedge_postgres::{Database, ListenEvent, Login};
use tokio::sync::Notify;
use tokio::sync::mpsc::Receiver;

use crate::config::JobsConfig;
use crate::cron;
use crate::error::JobsError;
use crate::liveness::{END_WITH_NODE, LeaderContact, run_unless_frozen, send_heartbeats};
use crate::metrics::{METRICS, Raised};
use crate::net;

/// Advisory lock of the leading node. The extension pg_net looks for it in `net._is_worker_up()`.
const LOCK: &str = "select pg_try_advisory_lock(1936486514, 1785684595)";

/// How often a standby node tries to get the lock. With [`END_WITH_NODE`] another node leads within seven seconds after a node
/// has ended or lost its link, and within eight after it was frozen.
const STANDBY_INTERVAL: Duration = Duration::from_secs(2);

/// Pause before the next attempt to become leader after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// Notifications by which the extensions wake their workers; the payload names the worker.
const CHANNEL: &str = "selvedge_jobs";

/// Runs the workers whenever this node leads, until the future is dropped.
pub async fn run_jobs_forever(database: Arc<Database>, config: JobsConfig) {
    let seen = LeaderContact::new(config.cron.now);
    loop {
        let error = match lead(&database, &config, &seen).await {
            Ok(never) => match never {},
            Err(error) => error,
        };
        match error {
            // Not a warning, because the other services already report that the database cannot be reached.
            JobsError::Login(_) => tracing::debug!(%error, "the workers of pg_net and pg_cron cannot log in"),
            _ => tracing::warn!(%error, "the workers of pg_net and pg_cron stopped and will start again"),
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

/// Waits for the lock, then runs the workers until one fails.
async fn lead(
    database: &Arc<Database>,
    config: &JobsConfig,
    seen: &LeaderContact,
) -> Result<std::convert::Infallible, JobsError> {
    let client = database.client(Login::Authenticator).await;
    let client = client.map_err(JobsError::Login)?;
    client.batch_execute(&format!("select {END_WITH_NODE}")).await?;
    while !client.query_one(LOCK, &[]).await?.get::<_, bool>(0) {
        seen.record_now();
        tokio::time::sleep(STANDBY_INTERVAL).await;
    }
    let unattended_since = seen.unattended_since();
    let _leading = Raised::raise(&METRICS.is_leader);
    tracing::debug!("this node runs the workers of pg_net and pg_cron");
    let wake_net = Notify::new();
    let wake_cron = Notify::new();
    let events = database.listen(&[CHANNEL]);
    let workers = async {
        tokio::select! {
            lost = send_heartbeats(&client, seen) => Err(lost),
            () = forward_notifications(events, &wake_net, &wake_cron) => Err(JobsError::LockLost),
            result = net::send_queued_requests(&client, &config.net, &wake_net) => result,
            result = cron::run_due_jobs(&client, database, &config.cron, &wake_cron, unattended_since) => result,
        }
    };
    run_unless_frozen(workers).await
}

/// Wakes the workers that notifications name, and all of them after notifications may have been missed.
async fn forward_notifications(mut events: Receiver<ListenEvent>, wake_net: &Notify, wake_cron: &Notify) {
    while let Some(event) = events.recv().await {
        let (for_net, for_cron) = match &event {
            ListenEvent::Connected => (true, true),
            ListenEvent::Notification { payload, .. } => (payload == "net", payload == "cron"),
            ListenEvent::Lost(_) => (false, false),
        };
        if for_net {
            wake_net.notify_one();
        }
        if for_cron {
            wake_cron.notify_one();
        }
    }
}
