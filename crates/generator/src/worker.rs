//! The workers of one node: claim due jobs, carry each out, and record how it ended.

use std::sync::Arc;
use std::time::Duration;

use selvedge_postgres::ListenEvent;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Receiver;

use crate::endpoint::request_picture;
use crate::error::{AttemptError, QueueError, texts};
use crate::metrics::{METRICS, RunningAttempt};
use crate::preview::make_preview;
use crate::queue::job::Job;
use crate::queue::token::CallbackToken;
use crate::state::Generator;

/// How often a node polls for jobs that were not announced: due retries and expired leases.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Pause after the queue failed.
const FAILURE_PAUSE: Duration = Duration::from_secs(10);

/// Longest pause between two attempts.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(3600);

/// How an attempt at a job succeeded.
enum Achieved {
    /// The picture is stored and recorded.
    Picture,
    /// The endpoint has accepted the job and will deliver the picture.
    Accepted,
}

/// Carries out jobs until the future is dropped. Attempts in progress end with the runtime's threads; their jobs are taken
/// over when the leases expire.
pub async fn run_generator_forever(generator: Arc<Generator>) {
    let slots = Arc::new(Semaphore::new(generator.config.parallel));
    let mut events = generator.queue.listen();
    let mut last_failure = String::new();
    loop {
        let mut pause = POLL_INTERVAL;
        match start_due_jobs(&generator, &slots).await {
            Ok(()) => last_failure.clear(),
            Err(error) => {
                pause = FAILURE_PAUSE;
                log_failure(&error, &mut last_failure);
            }
        }
        // Either outcome leads to the next round.
        let _ = tokio::time::timeout(pause, wait_for_announcement(&mut events)).await;
    }
}

/// Logs a failure of the queue once, not in every round.
fn log_failure(error: &QueueError, last: &mut String) {
    let text = error.to_string();
    if *last == text {
        return;
    }
    if error.is_missing_table() {
        tracing::warn!(%error, "the table of selvedge.generator does not fit its contract");
    } else {
        tracing::warn!(%error, "jobs of the generator cannot be read; trying again");
    }
    *last = text;
}

async fn wait_for_announcement(events: &mut Receiver<ListenEvent>) {
    loop {
        match events.recv().await {
            Some(ListenEvent::Connected | ListenEvent::Notification { .. }) => return,
            Some(ListenEvent::Lost(_)) => {}
            None => std::future::pending().await,
        }
    }
}

/// Starts all jobs that are due, as soon as there is a free slot for each.
async fn start_due_jobs(generator: &Arc<Generator>, slots: &Arc<Semaphore>) -> Result<(), QueueError> {
    // First, because a job whose worker died is due again in the same round.
    let expired = generator.queue.release_expired(texts::NOT_DELIVERED).await?;
    METRICS.expired_leases.inc_by(expired);
    loop {
        // A job is claimed only when it can be started at once, because its lease begins with the claim.
        let slot = Arc::clone(slots)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let token = CallbackToken::random();
        let job = match generator.queue.claim(&token, generator.config.lease()).await {
            Ok(Some(job)) => job,
            Ok(None) => return Ok(()),
            Err(QueueError::Malformed { id, attempt, reason }) => {
                tracing::warn!(%id, reason, "the input of a job cannot be read");
                // The input stays as it is, so a further attempt would fail in the same way.
                let pause = Duration::ZERO;
                generator
                    .queue
                    .fail((id, attempt), texts::INTERNAL, true, pause)
                    .await?;
                continue;
            }
            Err(error) => return Err(error),
        };
        let generator = Arc::clone(generator);
        // A blocking thread, because the futures of the store stay on one thread and composing a picture takes time that
        // an event loop does not have.
        tokio::task::spawn_blocking(move || {
            let _slot = slot;
            let _running = RunningAttempt::count();
            Handle::current().block_on(run_attempt(&generator, &job, &token));
        });
    }
}

async fn run_attempt(generator: &Generator, job: &Job, token: &CallbackToken) {
    let work = async {
        match &generator.config.endpoint {
            None => make_preview(generator, job).await.map(|()| Achieved::Picture),
            Some(endpoint) => request_picture(generator, endpoint, job, token)
                .await
                .map(|()| Achieved::Accepted),
        }
    };
    let result = tokio::time::timeout(generator.config.attempt_timeout, work)
        .await
        .unwrap_or_else(|_| Err(AttemptError::temporary(texts::TOO_SLOW)));
    let outcome = match result {
        Ok(Achieved::Picture) => "succeeded",
        Ok(Achieved::Accepted) => "sent",
        Err(error) => match record_failure(generator, job, error).await {
            Ok(outcome) => outcome,
            Err(error) => {
                tracing::warn!(%error, id = %job.id, "the outcome of a job cannot be recorded; its lease will expire");
                "gone"
            }
        },
    };
    METRICS.attempts.with_label_values(&[outcome]).inc();
}

/// Stores why an attempt failed, and returns the outcome for the metrics.
async fn record_failure(
    generator: &Generator,
    job: &Job,
    error: AttemptError,
) -> Result<&'static str, QueueError> {
    let usual = retry_pause(generator.config.retry_pause, job.attempt);
    let (message, is_permanent, pause) = match error {
        AttemptError::Gone => return Ok("gone"),
        AttemptError::Queue(error) => return Err(error),
        AttemptError::Permanent(message) => (message, true, Duration::ZERO),
        AttemptError::Temporary { message, retry_after } => {
            let asked = retry_after.unwrap_or_default().min(MAX_RETRY_PAUSE);
            (message, false, usual.max(asked))
        }
    };
    // Without an effect when the job was cancelled, deleted or taken over meanwhile.
    let status = generator
        .queue
        .fail((job.id, job.attempt), &message, is_permanent, pause)
        .await?;
    Ok(match status.as_deref() {
        Some("queued") => "retried",
        Some(_) => "failed",
        None => "gone",
    })
}

/// The pause after this attempt: four times as long after each one.
pub(crate) fn retry_pause(first: Duration, attempt: i32) -> Duration {
    let exponent = u32::try_from(attempt.clamp(1, 10) - 1).unwrap_or_default();
    first.saturating_mul(4_u32.pow(exponent)).min(MAX_RETRY_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_fourfold_up_to_an_hour() {
        let seconds = |attempt| retry_pause(Duration::from_secs(30), attempt).as_secs();

        assert_eq!(
            [1, 2, 3, 4, 5, 100].map(seconds),
            [30, 120, 480, 1920, 3600, 3600]
        );
    }
}
