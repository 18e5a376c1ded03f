//! How PostgreSQL and the node itself notice that the node does not run any more, so that another one can lead.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use selvedge_postgres::Moment;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::Client;

use crate::error::JobsError;

/// Settings by which PostgreSQL ends a session of a node that is gone, and frees its locks:
///
/// - A node that has lost its power or its link does not acknowledge what it is sent. By default it takes hours to notice that.
/// - A node that is frozen (by SIGSTOP, or as a virtual machine) acknowledges everything and sends nothing. A session
///   that is idle for [`IDLE_LIMIT`] is therefore ended.
///
/// Written as expressions of a `select`.
pub(crate) const END_WITH_NODE: &str = "
    pg_catalog.set_config('tcp_keepalives_idle', '2', false),
    pg_catalog.set_config('tcp_keepalives_interval', '1', false),
    pg_catalog.set_config('tcp_keepalives_count', '3', false),
    pg_catalog.set_config('tcp_user_timeout', '5000', false),
    pg_catalog.set_config('idle_session_timeout', '6s', false),
    pg_catalog.set_config('idle_in_transaction_session_timeout', '6s', false)";

/// The limit that [`END_WITH_NODE`] sets for an idle session.
const IDLE_LIMIT: Duration = Duration::from_secs(6);

/// Limits of the leading session's own statements, whatever the role has: a statement that waits for a table which somebody has locked keeps all
/// others waiting that go over the same connection.
pub(crate) const LIMIT_STATEMENTS: &str = "
    pg_catalog.set_config('statement_timeout', '10s', false),
    pg_catalog.set_config('lock_timeout', '5s', false)";

/// How often the leading node sends something on the connection that holds the lock.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// How long PostgreSQL may owe the answer to a heartbeat: longer than the statements before it may take by [`LIMIT_STATEMENTS`].
const HEARTBEAT_LIMIT: Duration = Duration::from_secs(30);

/// A node that has not run for this long stops its workers: PostgreSQL may be about to give its lock to another node.
const FROZEN_LIMIT: Duration = IDLE_LIMIT.saturating_sub(HEARTBEAT_INTERVAL);

/// A leader that is lost keeps its lock for up to [`END_WITH_NODE`], and longer on a busy machine. So work that became due this long
/// before a node last saw the lock held may not have been started.
const TAKEOVER_LIMIT: TimeDelta = TimeDelta::seconds(10);

/// After a longer time without a leader, the jobs that became due meanwhile are skipped, as pg_cron skips them while PostgreSQL is
/// stopped.
const LONGEST_OUTAGE: TimeDelta = TimeDelta::minutes(5);

/// The last time at which this node knew of a leader, which may have been the node itself.
pub(crate) struct LeaderContact {
    now: fn() -> DateTime<Utc>,
    last: Mutex<DateTime<Utc>>,
}

impl LeaderContact {
    /// Begins with the present time, because a node that has just started knows of no earlier leader.
    pub(crate) fn new(now: fn() -> DateTime<Utc>) -> Self {
        let last = Mutex::new(now());
        Self { now, last }
    }

    pub(crate) fn record_now(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = (self.now)();
    }

    /// Returns the time after which work may have become due that no leader has started. To be called when this node begins to lead.
    pub(crate) fn unattended_since(&self) -> DateTime<Utc> {
        let now = (self.now)();
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_long_ago = now - last > LONGEST_OUTAGE;
        let seen = if is_long_ago { now } else { last.min(now) };
        seen - TAKEOVER_LIMIT
    }
}

/// Keeps the session that holds the lock from being idle. Ends when the connection is lost.
pub(crate) async fn send_heartbeats(client: &Client, seen: &LeaderContact) -> JobsError {
    loop {
        sleep(HEARTBEAT_INTERVAL).await;
        if !is_answered(client.simple_query("")).await {
            return JobsError::LockLost;
        }
        seen.record_now();
    }
}

/// Waits for the answer to a heartbeat, which comes behind those to the statements before it. Wakes up each second meanwhile, so that
/// [`run_unless_frozen`] does not take a slow statement for a frozen node.
async fn is_answered<T, E>(answer: impl Future<Output = Result<T, E>>) -> bool {
    let mut answer = pin!(answer);
    let asked = Instant::now();
    while asked.elapsed() < HEARTBEAT_LIMIT {
        if let Ok(answer) = timeout(HEARTBEAT_INTERVAL, &mut answer).await {
            return answer.is_ok();
        }
    }
    false
}

/// Runs the workers until they end, or until this node was frozen for longer than [`FROZEN_LIMIT`]. In that case they are not
/// polled again, so that a node that wakes up sends nothing that another one has sent meanwhile.
///
/// Other clocks than that of timers are asked as well, which stops while the machine is suspended, or paused as a virtual one. A clock of the system
/// that jumps forward for another reason costs a restart of the workers. While all clocks stand still, PostgreSQL ends the session, and every
/// worker asks that one before it sends something.
///
/// `workers` must contain [`send_heartbeats`], whose timer has it polled each second.
pub(crate) async fn run_unless_frozen<T>(
    workers: impl Future<Output = Result<T, JobsError>>,
) -> Result<T, JobsError> {
    run_unless_frozen_by(Moment::elapsed, workers).await
}

/// Does the same with a function that tells how much time has passed, so that a test can let the machine be suspended.
async fn run_unless_frozen_by<T>(
    elapsed_since: impl Fn(Moment) -> Duration,
    workers: impl Future<Output = Result<T, JobsError>>,
) -> Result<T, JobsError> {
    let mut workers = pin!(workers);
    let mut last_poll = (Instant::now(), Moment::now());
    std::future::poll_fn(|context| {
        let elapsed = last_poll.0.elapsed().max(elapsed_since(last_poll.1));
        if elapsed > FROZEN_LIMIT {
            return std::task::Poll::Ready(Err(JobsError::Frozen(elapsed)));
        }
        last_poll = (Instant::now(), Moment::now());
        workers.as_mut().poll(context)
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_limit_of_idle_sessions_is_the_one_that_postgresql_is_told() {
        assert!(END_WITH_NODE.contains(&format!("'idle_session_timeout', '{}s'", IDLE_LIMIT.as_secs())));
    }

    #[test]
    fn short_outages_are_made_up_for_and_long_ones_are_skipped() {
        fn ten_o_clock() -> DateTime<Utc> {
            DateTime::from_timestamp(1_764_151_200, 0).expect("a time")
        }
        let seconds_before = |time: DateTime<Utc>| (ten_o_clock() - time).num_seconds();
        let seen = |seconds_ago| LeaderContact {
            now: ten_o_clock,
            last: Mutex::new(ten_o_clock() - TimeDelta::seconds(seconds_ago)),
        };

        for (seconds_ago, unattended) in [(0, 10), (40, 50), (300, 310), (301, 10), (-5, 10)] {
            let since = seen(seconds_ago).unattended_since();
            assert_eq!(seconds_before(since), unattended, "{seconds_ago} s");
        }
        let seen = seen(100);
        seen.record_now();
        assert_eq!(seconds_before(seen.unattended_since()), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn workers_of_a_node_that_was_frozen_are_not_polled_again() {
        let polls = Cell::new(0);
        let workers = async {
            for _ in 0..3 {
                polls.set(polls.get() + 1);
                sleep(HEARTBEAT_INTERVAL).await;
            }
            // The clock also advances while the workers are not polled, so a long gap shows that the node was frozen.
            tokio::time::advance(FROZEN_LIMIT + HEARTBEAT_INTERVAL).await;
            polls.set(polls.get() + 1);
            Ok(())
        };

        let result = run_unless_frozen(workers).await;

        assert!(matches!(result, Err(JobsError::Frozen(_))), "{result:?}");
        assert_eq!(polls.get(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn workers_whose_statement_takes_long_are_not_taken_for_frozen() {
        let slow = async {
            sleep(FROZEN_LIMIT * 2).await;
            Ok::<_, JobsError>(())
        };
        let result = run_unless_frozen(async { Ok(is_answered(slow).await) }).await;
        assert!(matches!(result, Ok(true)), "{result:?}");

        let never = std::future::pending::<Result<(), JobsError>>();
        let result = run_unless_frozen(async { Ok(is_answered(never).await) }).await;
        assert!(matches!(result, Ok(false)), "{result:?}");
    }

    /// The clock of timers stops with the machine.
    #[tokio::test(start_paused = true)]
    async fn workers_of_a_machine_that_was_paused_are_not_polled_again() {
        let (polls, paused) = (Cell::new(0), Cell::new(Duration::ZERO));
        let workers = async {
            for round in 0..5 {
                polls.set(polls.get() + 1);
                sleep(HEARTBEAT_INTERVAL).await;
                if round == 1 {
                    paused.set(FROZEN_LIMIT + HEARTBEAT_INTERVAL);
                }
            }
            Ok(())
        };

        let result = run_unless_frozen_by(|moment| moment.elapsed() + paused.take(), workers).await;

        assert!(matches!(result, Err(JobsError::Frozen(_))), "{result:?}");
        assert_eq!(polls.get(), 3);
    }
}
