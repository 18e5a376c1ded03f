//! Sends the mails that requests have promised: from the database, with patience, on any number of nodes.
//!
//! A mail is sent at least once. It is taken under a lease, so that two nodes do not send it at the same time and a killed one
//! loses nothing; it is deleted once the server has accepted it. Pauses between tries grow, until the mail's code has expired.

use std::time::Duration;

use actix_web::web;
use futures_util::future::join_all;
use tokio::sync::Notify;

use crate::error::AuthError;
use crate::state::AuthState;
use crate::store::outgoing_mails::{self, Taken};

/// How often to look without being woken: for mails of other nodes and for those to be tried again.
const INTERVAL: Duration = Duration::from_secs(5);
/// Longer than any try takes; a killed node's mails wait for its end.
const LEASE: Duration = Duration::from_secs(30);
/// As many as are sent at the same time: none of them waits while its lease runs.
const BATCH: i64 = 4;
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// Wakes the sender.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    promised: Notify,
}

impl Outbox {
    /// A promised mail has been committed.
    pub(crate) fn wake(&self) {
        self.promised.notify_one();
    }
}

/// Sends promised mails until it is dropped; run it once per process, away from the request threads.
pub async fn deliver_forever(state: web::Data<AuthState>) {
    if !state.queues_mail() {
        return;
    }
    loop {
        match deliver_due(&state).await {
            // There may be more.
            Ok(BATCH..) => continue,
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "promised mails could not be looked up"),
        }
        let _ = tokio::time::timeout(INTERVAL, state.outbox.promised.notified()).await;
    }
}

/// Tries the mails that are due; how many there were.
async fn deliver_due(state: &AuthState) -> Result<i64, AuthError> {
    let taken = {
        let client = state.client().await?;
        outgoing_mails::take(&client, BATCH, LEASE).await?
    };
    let count = i64::try_from(taken.len()).unwrap_or(BATCH);
    join_all(taken.into_iter().map(|mail| deliver(state, mail))).await;
    Ok(count)
}

async fn deliver(state: &AuthState, taken: Taken) {
    let (id, tries) = (taken.id, taken.tries);
    let outcome = if taken.is_late {
        tracing::warn!(
            mail = id,
            tries,
            "a mail could not be sent before its code expired"
        );
        Outcome::Finished
    } else {
        match state.mailer.send(taken.mail).await {
            Ok(()) => Outcome::Finished,
            Err(error) if error.is_permanent() => {
                tracing::warn!(mail = id, %error, "a mail was refused for good");
                Outcome::Finished
            }
            Err(error) => {
                tracing::warn!(mail = id, tries, %error, "a mail was not taken, trying again later");
                Outcome::Again(error.to_string())
            }
        }
    };
    if let Err(error) = settle(state, id, tries, outcome).await {
        tracing::warn!(mail = id, %error, "a mail's fate could not be written down");
    }
}

enum Outcome {
    Finished,
    Again(String),
}

async fn settle(state: &AuthState, id: i64, tries: i32, outcome: Outcome) -> Result<(), AuthError> {
    let client = state.client().await?;
    match outcome {
        Outcome::Finished => outgoing_mails::delete(&client, id).await?,
        Outcome::Again(error) => outgoing_mails::postpone(&client, id, pause_after(tries), &error).await?,
    }
    Ok(())
}

fn pause_after(tries: i32) -> Duration {
    let doublings = u32::try_from(tries - 1).unwrap_or(0).min(10);
    (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_ten_minutes() {
        let seconds = [1, 2, 3, 7, 8, 99].map(|tries| pause_after(tries).as_secs());

        assert_eq!(seconds, [5, 10, 20, 320, 600, 600]);
    }
}
