//! Keeps the cluster running: starts PostgreSQL again when it ends by itself.
//!
//! That happens when it is killed, also by the kernel for lack of memory, and when it panics. Nothing committed is lost: the
//! start replays the write-ahead log.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::{Cluster, ClusterConfig};

/// Most starts within [`COUNTED_PERIOD`]; a PostgreSQL that ends more often has a fault that starting does not repair.
const MAX_STARTS: usize = 5;
/// The time over which starts are counted.
const COUNTED_PERIOD: Duration = Duration::from_secs(10 * 60);
/// The pause before the second start within the window, doubled with each further one. The first start is immediate.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// What somebody asks of the process that keeps a cluster running. Both bring the settings of a configuration.
#[derive(Debug)]
pub enum KeeperRequest {
    /// PostgreSQL is ended in order and started again.
    Restart(Box<ClusterConfig>),
    /// PostgreSQL reads its settings again.
    Reload(Box<ClusterConfig>),
}

/// The starts of the last minutes.
#[derive(Debug, Default)]
struct StartHistory(Vec<Instant>);

impl StartHistory {
    /// Counts one more start and returns the pause before it. `None` when there were too many.
    fn next_pause(&mut self, now: Instant) -> Option<Duration> {
        self.0
            .retain(|at| now.saturating_duration_since(*at) < COUNTED_PERIOD);
        let before = self.0.len();
        if before == MAX_STARTS {
            return None;
        }
        self.0.push(now);
        Some(match u32::try_from(before).ok()?.checked_sub(1) {
            None => Duration::ZERO,
            Some(doublings) => FIRST_PAUSE * 2_u32.pow(doublings),
        })
    }
}

impl Cluster {
    /// Starts PostgreSQL again whenever it ends without a request to stop. `on_change` is called with `false` when it has
    /// ended and with `true` when it accepts connections again. Returns the reason when it has ended too often.
    pub async fn keep_running(&mut self, on_change: impl Fn(bool)) -> String {
        // Nobody asks for anything.
        let (_unused, requests) = mpsc::channel(1);
        self.keep_running_with(on_change, requests).await
    }

    /// As [`Cluster::keep_running`], and does what is asked for while PostgreSQL runs.
    pub async fn keep_running_with(
        &mut self,
        on_change: impl Fn(bool),
        mut requests: mpsc::Receiver<KeeperRequest>,
    ) -> String {
        let mut starts = StartHistory::default();
        let mut failure = None;
        loop {
            // After a failed start there is no process to wait for.
            let reason = match failure.take() {
                Some(reason) => reason,
                None => match self.wait_for_exit_or(&mut requests).await {
                    Ok(reason) => reason,
                    Err(request) => {
                        failure = self.carry_out(request).await;
                        continue;
                    }
                },
            };
            on_change(false);
            let Some(pause) = starts.next_pause(Instant::now()) else {
                let minutes = COUNTED_PERIOD.as_secs() / 60;
                return format!("{reason}, after {MAX_STARTS} starts within {minutes} minutes");
            };
            tracing::error!(
                reason,
                pause_s = pause.as_secs(),
                "PostgreSQL ended by itself and is started again"
            );
            tokio::time::sleep(pause).await;
            match self.restart().await {
                Ok(()) => {
                    on_change(true);
                    tracing::warn!("PostgreSQL accepts connections again");
                }
                Err(error) => failure = Some(error.to_string()),
            }
        }
    }

    /// How PostgreSQL has ended, or what somebody asks for before that.
    async fn wait_for_exit_or(
        &mut self,
        requests: &mut mpsc::Receiver<KeeperRequest>,
    ) -> Result<String, KeeperRequest> {
        tokio::select! {
            reason = self.wait_for_exit() => Ok(reason),
            Some(request) = requests.recv() => Err(request),
        }
    }

    /// Returns why PostgreSQL does not run afterwards.
    async fn carry_out(&mut self, request: KeeperRequest) -> Option<String> {
        match request {
            KeeperRequest::Reload(config) => {
                if let Err(error) = self.reload_with(&config) {
                    tracing::error!(%error, "the settings of PostgreSQL cannot be written");
                }
                None
            }
            KeeperRequest::Restart(config) => {
                tracing::info!("PostgreSQL is restarted, as somebody has asked for");
                match self.restart_with(*config).await {
                    Ok(()) => None,
                    Err(error) => {
                        tracing::error!(%error, "PostgreSQL could not be restarted");
                        self.postmaster.has_ended().map(|_| error.to_string())
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_come_at_growing_intervals_and_end_after_the_fifth() {
        let mut starts = StartHistory::default();
        let now = Instant::now();

        let pauses: Vec<_> = (0..6).map(|_| starts.next_pause(now)).collect();

        let seconds = [0, 1, 2, 4, 8].map(|seconds| Some(Duration::from_secs(seconds)));
        assert_eq!(pauses[..5], seconds);
        assert_eq!(pauses[5], None);
        assert_eq!(starts.next_pause(now + COUNTED_PERIOD), Some(Duration::ZERO));
    }
}
