//! Delivers queued mails from the database, on any number of nodes.
//!
//! A mail is sent at least once. A node leases it, so that two nodes do not send it at the same time and a
//! killed node loses nothing; it is deleted once the SMTP server has accepted it. Pauses between attempts
//! grow, until the mail's code has expired.

use std::time::Duration;

use actix_web::web;
use futures_util::future::join_all;

use crate::error::AuthError;
use crate::state::AuthState;
use crate::store::outgoing_mails::{self, LeasedMail};

/// How often to look without being woken: for mails that other nodes have queued, and for further attempts.
const INTERVAL: Duration = Duration::from_secs(5);
/// How long a mail is reserved for one node: longer than any attempt takes. After a node was killed, its
/// mails wait until the lease ends.
const LEASE: Duration = Duration::from_secs(30);
/// Mails per round. All are sent at the same time, so that none waits while its lease runs.
const BATCH: i64 = 4;
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// Delivers queued mails until it is dropped. Run it once per process, outside of the request threads.
pub async fn deliver_mails_forever(state: web::Data<AuthState>) {
    if !state.queues_mail() {
        return;
    }
    loop {
        match deliver_due_mails(&state).await {
            // The largest number of mails was delivered in one round, so more may be due.
            Ok(BATCH..) => continue,
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "queued mails could not be read"),
        }
        let _ = tokio::time::timeout(INTERVAL, state.outbox.wait()).await;
    }
}

/// Tries to send the mails that are due; returns how many there were.
async fn deliver_due_mails(state: &AuthState) -> Result<i64, AuthError> {
    let leased = {
        let client = state.connect().await?;
        outgoing_mails::lease_due(&client, BATCH, LEASE).await?
    };
    let count = i64::try_from(leased.len()).unwrap_or(BATCH);
    join_all(leased.into_iter().map(|mail| deliver_mail(state, mail))).await;
    Ok(count)
}

async fn deliver_mail(state: &AuthState, leased: LeasedMail) {
    let (id, tries) = (leased.id, leased.tries);
    let outcome = if leased.is_expired {
        tracing::warn!(
            mail = id,
            tries,
            "a mail could not be sent before its code expired"
        );
        Outcome::GivenUp
    } else {
        match state.mailer.send(leased.mail).await {
            Ok(()) => Outcome::Sent,
            Err(error) if error.is_permanent() => {
                tracing::warn!(mail = id, %error, "a mail was rejected permanently");
                Outcome::GivenUp
            }
            Err(error) => {
                tracing::warn!(mail = id, tries, %error, "a mail was not accepted, trying again later");
                Outcome::Retry(error.to_string())
            }
        }
    };
    if let Err(error) = store_outcome(state, id, tries, outcome).await {
        tracing::warn!(mail = id, %error, "the outcome of a mail could not be stored");
    }
}

enum Outcome {
    Sent,
    GivenUp,
    Retry(String),
}

async fn store_outcome(state: &AuthState, id: i64, tries: i32, outcome: Outcome) -> Result<(), AuthError> {
    let client = state.connect().await?;
    match outcome {
        Outcome::Sent => outgoing_mails::delete(&client, id).await?,
        Outcome::GivenUp => outgoing_mails::give_up(&client, id, tries).await?,
        Outcome::Retry(error) => {
            outgoing_mails::postpone(&client, id, tries, compute_pause(tries), &error).await?;
        }
    }
    Ok(())
}

fn compute_pause(tries: i32) -> Duration {
    let doublings = u32::try_from(tries - 1).unwrap_or(0).min(10);
    (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_between_attempts_grow_to_ten_minutes() {
        let seconds = [1, 2, 3, 7, 8, 99].map(|tries| compute_pause(tries).as_secs());

        assert_eq!(seconds, [5, 10, 20, 320, 600, 600]);
    }
}
