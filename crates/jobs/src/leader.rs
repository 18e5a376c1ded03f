//! Decides which node of a database runs the workers: the one whose session has the name `leader` (platform file 0113).
//!
//! All statements of the workers go over that connection. When it is lost, another node gets the name, and no statement of
//! this one can succeed any more; it stops its workers and tries to get the name again. PostgreSQL ends the connection of a
//! node that does not run any more ([`crate::liveness`]).
//!
//! Earlier versions lead with an advisory lock. A leader takes it as well when it can, so that no such node leads beside it
//! during an upgrade, and waits for one that does. What anybody else holds that lock for does not matter.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use selvedge_postgres::{Database, ListenEvent, Login};
use tokio::sync::Notify;
use tokio::sync::mpsc::Receiver;
use tokio_postgres::Client;

use crate::config::JobsConfig;
use crate::cron;
use crate::error::JobsError;
use crate::liveness::{END_WITH_NODE, LIMIT_STATEMENTS, LeaderContact, run_unless_frozen, send_heartbeats};
use crate::metrics::{METRICS, Raised};
use crate::net;

/// Makes this session the leading one, unless another one leads, also one of an earlier version.
const CLAIM: &str = "
    select not _selvedge.is_locked_by_earlier_version(1936486514, 1785684595, session_user, null)
      and _selvedge.claim_session('leader', pg_catalog.pg_backend_pid())";

/// Takes the advisory lock of earlier versions.
const LOCK: &str = "select pg_catalog.pg_try_advisory_lock(1936486514, 1785684595)";

/// Whether an earlier version has taken its lock between [`CLAIM`] and [`LOCK`].
const IS_BESIDE_EARLIER_VERSION: &str =
    "select _selvedge.is_locked_by_earlier_version(1936486514, 1785684595, session_user, null)";

/// Forgets the sessions of jobs that have ended.
const FORGET_ENDED: &str = "select _selvedge.forget_ended_sessions()";

/// How often a standby node tries to get the lock. With [`END_WITH_NODE`] another node leads within seven seconds after a node
/// has ended or lost its link, and within eight after it was frozen.
const STANDBY_INTERVAL: Duration = Duration::from_secs(2);

/// Pause before the next attempt to become leader after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// How long a login is tried.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(20);

/// How long one of several hosts may take to answer a login. Doubled after each login that failed, because a primary that is slower than this
/// would never be reached, up to [`LONGEST_HOST_TIMEOUT`].
const HOST_TIMEOUT: Duration = Duration::from_secs(2);
const LONGEST_HOST_TIMEOUT: Duration = Duration::from_secs(8);

/// How long logins may fail before the log says so. The other services report at once that the database cannot be reached, but not that this
/// login fails while theirs work.
const TOLD_AFTER: Duration = Duration::from_secs(10);

/// The longest pause before a worker that has failed is started again.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Notifications by which the extensions wake their workers; the payload names the worker.
const CHANNEL: &str = "selvedge_jobs";

/// Runs the workers whenever this node leads, until the future is dropped.
pub async fn run_jobs_forever(database: Arc<Database>, config: JobsConfig) {
    let seen = LeaderContact::new(config.cron.now);
    let mut failing = FailingLogins::default();
    loop {
        let error = match lead(&database, &config, &seen, failing.host_timeout()).await {
            Ok(never) => match never {},
            Err(error) => error,
        };
        match error {
            JobsError::Login(_) | JobsError::NoPrimary => failing.report(&error),
            _ => {
                failing = FailingLogins::default();
                tracing::warn!(%error, "the workers of pg_net and pg_cron stopped and will start again");
            }
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

/// Logins that failed one after the other.
#[derive(Default)]
struct FailingLogins {
    since: Option<Instant>,
    count: u32,
    is_told: bool,
}

impl FailingLogins {
    /// Warns once when they have failed for [`TOLD_AFTER`].
    fn report(&mut self, error: &JobsError) {
        if self.must_tell(Instant::now()) {
            tracing::warn!(%error, "this node cannot log in for the workers of pg_net and pg_cron: if no other one runs them, they stand still");
        } else {
            tracing::debug!(%error, "the workers of pg_net and pg_cron cannot log in");
        }
    }

    /// How long a host may take to answer the next login.
    fn host_timeout(&self) -> Duration {
        HOST_TIMEOUT
            .saturating_mul(2_u32.saturating_pow(self.count))
            .min(LONGEST_HOST_TIMEOUT)
    }

    fn must_tell(&mut self, now: Instant) -> bool {
        self.count += 1;
        let since = *self.since.get_or_insert(now);
        let is_due = now.duration_since(since) >= TOLD_AFTER;
        is_due && !std::mem::replace(&mut self.is_told, true)
    }
}

/// Makes the session the leading one if it can be.
async fn begin_to_lead(client: &Client) -> Result<bool, tokio_postgres::Error> {
    if !client.query_one(CLAIM, &[]).await?.try_get::<_, bool>(0)? {
        return Ok(false);
    }
    if let EarlierLock::HeldByEarlierVersion = take_earlier_lock(client).await? {
        // Both would lead. The name is free again for whoever leads after the earlier version's node.
        client
            .execute(
                "delete from _selvedge.selvedge_worker_sessions where name = 'leader'",
                &[],
            )
            .await?;
        return Ok(false);
    }
    client.execute(FORGET_ENDED, &[]).await?;
    Ok(true)
}

/// Waits until this node may lead, then runs the workers until one fails.
async fn lead(
    database: &Arc<Database>,
    config: &JobsConfig,
    seen: &LeaderContact,
    host_timeout: Duration,
) -> Result<Infallible, JobsError> {
    // Without a limit a login is tried without end while only a former primary responds, and nothing would say so.
    let login = database.client_within(Login::Authenticator, host_timeout);
    let login = tokio::time::timeout(LOGIN_TIMEOUT, login).await;
    let client = login.map_err(|_elapsed| JobsError::NoPrimary)?;
    let client = client.map_err(JobsError::Login)?;
    client
        .batch_execute(&format!("select {END_WITH_NODE}, {LIMIT_STATEMENTS}"))
        .await?;
    while !begin_to_lead(&client).await? {
        seen.record_now();
        tokio::time::sleep(STANDBY_INTERVAL).await;
    }
    // Of a worker that is started again nothing is to be made up for: it has failed for seconds only.
    let mut since = seen.unattended_since();
    let _leading = Raised::raise(&METRICS.is_leader);
    tracing::info!("this node runs the workers of pg_net and pg_cron");
    let wake_net = Notify::new();
    let wake_cron = Notify::new();
    let events = database.listen(&[CHANNEL]);
    let workers = async {
        tokio::select! {
            lost = send_heartbeats(&client, seen) => Err(lost),
            lost = hold_earlier_lock(&client) => Err(lost),
            () = forward_notifications(events, &wake_net, &wake_cron) => Err(JobsError::LockLost),
            error = keep_running("pg_net", &client, config, || {
                net::send_queued_requests(&client, &config.net, &wake_net)
            }) => Err(error),
            error = keep_running("pg_cron", &client, config, || {
                let since = std::mem::replace(&mut since, (config.cron.now)());
                cron::run_due_jobs(&client, database, &config.cron, &wake_cron, since)
            }) => Err(error),
        }
    };
    run_unless_frozen(workers).await
}

/// Runs one of the workers, which must not end the other: after a panic, or an error of a statement, it is started again. Returns
/// the error with which the connection was lost.
async fn keep_running<F: Future<Output = Result<Infallible, JobsError>>>(
    worker: &'static str,
    client: &Client,
    config: &JobsConfig,
    mut start: impl FnMut() -> F,
) -> JobsError {
    let mut pause = RETRY_INTERVAL;
    loop {
        match AssertUnwindSafe(start()).catch_unwind().await {
            Ok(Ok(never)) => match never {},
            Ok(Err(error)) if client.is_closed() => return error,
            Ok(Err(error)) => tracing::warn!(worker, %error, "a worker stopped and will start again"),
            Err(_panic) => (config.on_panic)(worker),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_RETRY);
    }
}

/// Takes the advisory lock of earlier versions as soon as whoever holds it gives it up, so that none of their nodes leads beside this
/// one. Ends when one of them was faster.
async fn hold_earlier_lock(client: &Client) -> JobsError {
    loop {
        match take_earlier_lock(client).await {
            Ok(EarlierLock::Taken) => std::future::pending().await,
            Ok(EarlierLock::HeldByEarlierVersion) => return JobsError::LockLost,
            Ok(EarlierLock::HeldByOthers) => tokio::time::sleep(STANDBY_INTERVAL).await,
            Err(error) => return error.into(),
        }
    }
}

/// Who has the advisory lock of earlier versions.
enum EarlierLock {
    Taken,
    HeldByEarlierVersion,
    /// By a session that leads nothing.
    HeldByOthers,
}

async fn take_earlier_lock(client: &Client) -> Result<EarlierLock, tokio_postgres::Error> {
    if client.query_one(LOCK, &[]).await?.try_get(0)? {
        return Ok(EarlierLock::Taken);
    }
    let is_earlier: bool = client
        .query_one(IS_BESIDE_EARLIER_VERSION, &[])
        .await?
        .try_get(0)?;
    Ok(match is_earlier {
        true => EarlierLock::HeldByEarlierVersion,
        false => EarlierLock::HeldByOthers,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_that_fail_for_long_are_told_once() {
        let mut failing = FailingLogins::default();
        let begun = Instant::now();
        let told =
            [0, 5, 9, 12, 14, 60].map(|seconds| failing.must_tell(begun + Duration::from_secs(seconds)));

        assert_eq!(told, [false, false, false, true, false, false]);
        assert_eq!(failing.host_timeout(), LONGEST_HOST_TIMEOUT);
        assert_eq!(FailingLogins::default().host_timeout(), HOST_TIMEOUT);
    }
}
