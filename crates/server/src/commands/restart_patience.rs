//! How long a command waits for a PostgreSQL that another process starts: without end while it replays its log, else for some minutes.

use std::time::{Duration, Instant};

use selvedge_postgres::cluster::ClusterError;
use tokio_postgres::error::SqlState;

/// How often a wait is reported.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// One wait.
pub(super) struct RestartPatience {
    /// How long a state may last in which nothing says that PostgreSQL is coming.
    limit: Duration,
    begun: Instant,
    came_last: Instant,
    reported: Instant,
}

impl RestartPatience {
    pub(super) fn new(limit: Duration) -> Self {
        let begun = Instant::now();
        Self {
            limit,
            begun,
            came_last: begun,
            reported: begun,
        }
    }

    /// Whether to go on waiting where PostgreSQL cannot be reached for this reason; `None` for a keeper that has no PostgreSQL yet.
    pub(super) fn allows(&mut self, error: Option<&ClusterError>) -> bool {
        if error.is_some_and(is_coming) {
            self.came_last = Instant::now();
        }
        if self.came_last.elapsed() > self.limit {
            return false;
        }
        if self.reported.elapsed() >= REPORT_INTERVAL {
            self.reported = Instant::now();
            tracing::warn!(
                elapsed_s = self.begun.elapsed().as_secs(),
                "PostgreSQL does not accept connections yet: after a crash it first replays its write-ahead log"
            );
        }
        true
    }
}

/// Whether a living process is about to have a PostgreSQL that accepts connections.
fn is_coming(error: &ClusterError) -> bool {
    match error {
        // No address is known before it accepts connections.
        ClusterError::AlreadyRunning(holder) => holder.is_server() && holder.pid != 0 && holder.is_alive(),
        // It says so itself, also while it ends before it is started again.
        ClusterError::Login(error) => error.code() == Some(&SqlState::CANNOT_CONNECT_NOW),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_003_a_wait_ends_unless_something_says_that_postgresql_comes() {
        let mut patience = RestartPatience::new(Duration::ZERO);
        std::thread::sleep(Duration::from_millis(2));

        let missing = ClusterError::Interrupted;

        assert!(!patience.allows(Some(&missing)));
        assert!(!patience.allows(None));
    }
}
