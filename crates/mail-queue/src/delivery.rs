//! Delivers queued mails, on any number of nodes. A mail is sent at least once: it is ended once it was accepted, and tried
//! again after a failure that may pass, with growing pauses.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use selvedge_mail::Mailer;
use selvedge_postgres::{Database, ListenEvent};
use tokio::sync::mpsc::Receiver;

use crate::error::QueueError;
use crate::metrics::ATTEMPTS;
use crate::queue::{LeasedMail, Queue};
use crate::table::QueueTable;

/// How often to look without being woken.
const INTERVAL: Duration = Duration::from_secs(5);
/// Pause after the queue failed.
const FAILURE_PAUSE: Duration = Duration::from_secs(10);
/// How long a mail is reserved for one node: longer than any attempt takes.
const LEASE: Duration = Duration::from_secs(60);
/// Mails per round. All are sent at the same time, so that none waits while its lease runs.
const BATCH: usize = 4;
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// The queue of one process.
pub struct MailQueue {
    queue: Queue,
    mailer: Mailer,
}

impl MailQueue {
    /// The mails in this table, in whose texts `{{ .SiteURL }}` stands for `site_url`.
    pub fn new(table: &QueueTable, database: Arc<Database>, mailer: Mailer, site_url: &str) -> Arc<Self> {
        Arc::new(Self {
            queue: Queue::new(table, database, site_url),
            mailer,
        })
    }
}

/// Delivers queued mails until it is dropped. Run it once per process, outside of the request threads.
pub async fn deliver_queued_mails_forever(mails: Arc<MailQueue>) {
    let mut events = mails.queue.listen();
    let mut last_failure = String::new();
    loop {
        let pause = match deliver_due_mails(&mails).await {
            // The largest number was delivered, so more may be due.
            Ok(BATCH..) => continue,
            Ok(_) => {
                last_failure.clear();
                INTERVAL
            }
            Err(error) => {
                log_failure(&error, &mut last_failure);
                FAILURE_PAUSE
            }
        };
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
        tracing::warn!(%error, "the table of selvedge.jobs.mail_table does not fit its contract");
    } else {
        tracing::warn!(%error, "queued mails cannot be read; trying again");
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

/// Tries to send the mails that are due; returns how many there were.
async fn deliver_due_mails(mails: &MailQueue) -> Result<usize, QueueError> {
    let leased = mails.queue.lease(BATCH as i64, LEASE).await?;
    let count = leased.len();
    join_all(leased.into_iter().map(|mail| deliver_mail(mails, mail))).await;
    Ok(count)
}

async fn deliver_mail(mails: &MailQueue, leased: LeasedMail) {
    let LeasedMail {
        id,
        tries,
        mail,
        is_expired,
        is_ended,
    } = leased;
    if is_ended {
        return;
    }
    let queue = &mails.queue;
    let (outcome, stored) = if is_expired {
        tracing::warn!(%id, tries, "a queued mail could not be sent before it expired");
        ("failed", queue.end(id, tries, Some("expired")).await)
    } else {
        match mails.mailer.send(mail).await {
            Ok(()) => ("sent", queue.end(id, tries, None).await),
            Err(error) if error.is_permanent() => {
                tracing::warn!(%id, %error, "a queued mail was rejected permanently");
                ("failed", queue.end(id, tries, Some(&error.to_string())).await)
            }
            Err(error) => {
                tracing::warn!(%id, tries, %error, "a queued mail was not accepted, trying again later");
                let pause = pause_after(tries);
                (
                    "retried",
                    queue.postpone(id, tries, &error.to_string(), pause).await,
                )
            }
        }
    };
    ATTEMPTS.with_label_values(&[outcome]).inc();
    if let Err(error) = stored {
        tracing::warn!(%id, %error, "the outcome of a queued mail could not be stored");
    }
}

/// The pause after this attempt: twice as long after each one.
fn pause_after(tries: i32) -> Duration {
    let doublings = u32::try_from(tries.saturating_sub(1)).unwrap_or(0).min(10);
    (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_between_attempts_grow_to_an_hour() {
        let seconds = [1, 2, 3, 9, 10, 99].map(|tries| pause_after(tries).as_secs());

        assert_eq!(seconds, [10, 20, 40, 2560, 3600, 3600]);
    }
}
