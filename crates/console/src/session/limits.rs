//! Limits of a signed-in caller: 50 requests a second for a session, three running statements for an account (CONSOLE-020).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix_web::http::StatusCode;
use moka::sync::Cache;

use super::caller::Session;
use crate::error::ConsoleError;

/// The requests per second that a session may send, and the size of a burst.
const REQUESTS_PER_SECOND: f64 = 50.0;
/// The number of statements that one account may run at the same time.
const MAX_RUNNING_STATEMENTS: usize = 3;

/// Whose requests are counted: the session, or the IP address without sign-in.
type Counted = Arc<str>;

/// Counts the requests of each session with a token bucket.
pub(super) struct RequestLimit {
    buckets: Cache<Counted, Arc<Mutex<Bucket>>>,
}

struct Bucket {
    left: f64,
    filled_at: Instant,
}

impl Default for RequestLimit {
    fn default() -> Self {
        // An idle bucket is full again after a second, so it need not be kept.
        let buckets = Cache::builder()
            .max_capacity(10_000)
            .time_to_idle(Duration::from_secs(10))
            .build();
        Self { buckets }
    }
}

impl RequestLimit {
    pub(super) fn count(&self, session: &Session) -> Result<(), ConsoleError> {
        let counted: Counted = match session.digest {
            Some(digest) => hex::encode(digest).into(),
            None => session.address.clone(),
        };
        let bucket = self.buckets.get_with(counted, || {
            Arc::new(Mutex::new(Bucket {
                left: REQUESTS_PER_SECOND,
                filled_at: Instant::now(),
            }))
        });
        let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        // Whole and parts of requests, because requests come in faster than whole ones are regained.
        let gained = now.duration_since(bucket.filled_at).as_secs_f64() * REQUESTS_PER_SECOND;
        bucket.left = (bucket.left + gained).min(REQUESTS_PER_SECOND);
        bucket.filled_at = now;
        if bucket.left < 1.0 {
            return Err(too_many("Too many requests: at most 50 a second for one session"));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

/// Counts the running statements of each account.
#[derive(Default)]
pub(super) struct StatementLimit {
    running: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

/// The right to run one statement, which is given back when this is dropped.
pub struct StatementPermit {
    account: Arc<str>,
    running: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

impl StatementLimit {
    // The map is locked for a moment only and never across an await, so an ordinary mutex is enough.
    pub(super) fn permit(&self, session: &Session) -> Result<StatementPermit, ConsoleError> {
        let account: Arc<str> = session.account_name().into();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let count = running.entry(Arc::clone(&account)).or_default();
        if *count >= MAX_RUNNING_STATEMENTS {
            return Err(too_many("Three statements of this account run already")
                .with_hint("Wait until one of them ends, or cancel it"));
        }
        *count += 1;
        Ok(StatementPermit {
            account,
            running: Arc::clone(&self.running),
        })
    }
}

impl Drop for StatementPermit {
    fn drop(&mut self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&self.account) {
            *count -= 1;
            // Accounts without running statements are not kept, so that the table stays as small as its use.
            if *count == 0 {
                running.remove(&self.account);
            }
        }
    }
}

fn too_many(message: &str) -> ConsoleError {
    ConsoleError::new(StatusCode::TOO_MANY_REQUESTS, "too_many", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Level;

    fn session(account: &str, digest: u8) -> Session {
        Session::for_test(account, Level::Viewer, [digest; 32])
    }

    #[test]
    fn console_020_a_session_sends_fifty_requests_at_once_and_others_are_not_slowed() {
        let limit = RequestLimit::default();
        let (first, second) = (session("ana", 1), session("ana", 2));

        // The loop is fast enough that the bucket regains at most a few requests meanwhile, also on a busy machine.
        let accepted = (0..1000).filter(|_| limit.count(&first).is_ok()).count();

        assert!((50..500).contains(&accepted), "{accepted}");
        assert!(limit.count(&first).is_err());
        assert!(limit.count(&second).is_ok());
    }

    #[test]
    fn console_020_an_account_runs_three_statements_and_one_more_when_one_has_ended() {
        let limit = StatementLimit::default();
        let (ana, ben) = (session("ana", 1), session("ben", 2));

        let mut running: Vec<_> = (0..3).map(|_| limit.permit(&ana).unwrap()).collect();

        let other_session = session("ana", 3);
        assert!(limit.permit(&other_session).is_err());
        assert!(limit.permit(&ben).is_ok());
        running.pop();
        assert!(limit.permit(&other_session).is_ok());
        drop(running);
        assert!(limit.running.lock().unwrap().is_empty());
    }
}
