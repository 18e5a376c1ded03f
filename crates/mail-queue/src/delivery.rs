//! Delivers queued mails, on any number of nodes. A mail is sent at least once: it is ended once it was accepted, and tried
//! again after a failure that may pass, with growing pauses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use selvedge_mail::{MailError, Mailer, is_authorized_address};
use selvedge_postgres::{Database, ListenEvent, TableName};
use tokio::sync::mpsc::Receiver;

use crate::error::QueueError;
use crate::limits::{HourlyCount, MailLimits};
use crate::metrics::ATTEMPTS;
use crate::queue::{LeasedMail, Queue};
use crate::server_state::{Round, ServerState, pause_after};
use crate::text::MailLinks;

/// How often to look without being woken.
const INTERVAL: Duration = Duration::from_secs(5);
/// Pause after the queue failed.
const FAILURE_PAUSE: Duration = Duration::from_secs(10);
/// How long a mail is reserved for one node: longer than any attempt takes.
const LEASE: Duration = Duration::from_secs(60);
/// Until a mail whose trigger failed is tried again.
const SKIP_PAUSE: Duration = Duration::from_secs(3600);

/// The queue of one process.
pub struct MailQueue {
    queue: Queue,
    mailer: Mailer,
    limits: MailLimits,
}

impl MailQueue {
    /// The mails in this table.
    pub fn new(
        table: &TableName,
        database: Arc<Database>,
        mailer: Mailer,
        links: MailLinks,
        limits: MailLimits,
    ) -> Arc<Self> {
        Arc::new(Self {
            queue: Queue::new(table, database, links),
            mailer,
            limits,
        })
    }
}

/// Delivers queued mails until it is dropped. Run it once per process, outside of the request threads. Without a mail server
/// it returns at once, and the mails wait.
pub async fn deliver_queued_mails_forever(mails: Arc<MailQueue>) {
    if matches!(mails.mailer, Mailer::Missing) {
        tracing::warn!(
            "no SMTP server is configured, so the mails of selvedge.jobs.mail_table wait: set [auth.email.smtp]"
        );
        return;
    }
    let mut events = mails.queue.listen();
    let mut last_failure = String::new();
    let mut server = ServerState::default();
    let mut hour = HourlyCount::new(mails.limits.per_hour, Instant::now());
    // After a mail whose trigger fails: with others in one statement, it would take back their leases each time.
    let mut is_one_by_one = false;
    loop {
        let left = hour.left(Instant::now());
        if left == 0 {
            tracing::warn!("selvedge.jobs.mails_per_hour is reached, so queued mails wait for the next hour");
            ignore_announcements(&mut events, hour.rest(Instant::now())).await;
            continue;
        }
        let most = if is_one_by_one {
            1
        } else {
            server.batch().min(left)
        };
        match deliver_due_mails(&mails, most).await {
            Ok(round) => {
                last_failure.clear();
                hour.count(round.sent);
                is_one_by_one &= round.leased == most;
                if let Some(pause) = server.note(&round) {
                    ignore_announcements(&mut events, pause).await;
                } else if round.leased < most {
                    // Either outcome leads to the next round.
                    let _ = tokio::time::timeout(INTERVAL, wait_for_announcement(&mut events)).await;
                }
            }
            Err(error) => {
                log_failure(&error, &mut last_failure);
                let isolates = error.is_of_a_mail() && !is_one_by_one;
                let is_solved = error.is_of_a_mail() && (isolates || skip_first(&mails, &error).await);
                is_one_by_one = isolates;
                if !is_solved {
                    ignore_announcements(&mut events, FAILURE_PAUSE).await;
                }
            }
        }
    }
}

/// Postpones the mail that is due first, because its trigger fails. Returns whether that worked.
async fn skip_first(mails: &MailQueue, error: &QueueError) -> bool {
    let skipped = mails.queue.skip_first(&error.to_string(), SKIP_PAUSE).await;
    skipped.is_ok()
}

/// Waits, although mails may be announced meanwhile.
async fn ignore_announcements(events: &mut Receiver<ListenEvent>, pause: Duration) {
    let ignore = async {
        loop {
            wait_for_announcement(events).await;
        }
    };
    // It ends by the pause alone.
    let _: Result<(), _> = tokio::time::timeout(pause, ignore).await;
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

/// Tries to send at most so many mails that are due.
async fn deliver_due_mails(mails: &MailQueue, most: usize) -> Result<Round, QueueError> {
    let count = i64::try_from(most).unwrap_or(i64::MAX);
    let leased = mails.queue.lease(count, LEASE).await?;
    let mut round = Round {
        leased: leased.len(),
        ..Round::default()
    };
    let attempts = leased.into_iter().map(|mail| deliver_mail(mails, mail));
    for attempt in join_all(attempts).await {
        match attempt {
            Attempt::Sent => round.sent += 1,
            Attempt::Refused(error) => round.refusals.push(error),
            Attempt::Ended => {}
        }
    }
    Ok(round)
}

/// What became of a mail.
enum Attempt {
    Sent,
    /// It is not sent, now or later.
    Ended,
    /// It is tried again.
    Refused(MailError),
}

async fn deliver_mail(mails: &MailQueue, leased: LeasedMail) -> Attempt {
    let LeasedMail {
        id,
        tries,
        mail,
        is_expired,
        is_ended,
    } = leased;
    if is_ended {
        return Attempt::Ended;
    }
    let queue = &mails.queue;
    let refused = if is_expired {
        Some("expired")
    } else if !is_authorized_address(&mails.limits.authorized_addresses, &mail.to) {
        Some("not an authorized address")
    } else {
        None
    };
    let (attempt, outcome, stored) = if let Some(reason) = refused {
        tracing::debug!(%id, tries, reason, "a queued mail is not sent");
        let stored = queue.end(id, tries, Some(reason)).await;
        (Attempt::Ended, "failed", stored)
    } else {
        match mails.mailer.send(mail).await {
            Ok(()) => (Attempt::Sent, "sent", queue.end(id, tries, None).await),
            Err(error) if error.is_permanent() => {
                tracing::warn!(%id, %error, "a queued mail was rejected permanently");
                let stored = queue.end(id, tries, Some(&error.to_string())).await;
                (Attempt::Ended, "failed", stored)
            }
            Err(error) => {
                let pause = pause_after(tries);
                let stored = queue.postpone(id, tries, &error.to_string(), pause).await;
                (Attempt::Refused(error), "retried", stored)
            }
        }
    };
    ATTEMPTS.with_label_values(&[outcome]).inc();
    if let Err(error) = stored {
        tracing::warn!(%id, %error, "the outcome of a queued mail could not be stored");
    }
    attempt
}
