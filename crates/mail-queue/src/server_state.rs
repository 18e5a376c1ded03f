//! What the outcomes of attempts say about the mail server, and how long to leave it alone.

use std::time::Duration;

use selvedge_mail::MailError;

/// Mails per round. All are sent at the same time, so that none waits while its lease runs.
pub(crate) const BATCH: usize = 4;
const FIRST_PAUSE: Duration = Duration::from_secs(10);
/// The longest pause of one mail.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);
/// The longest pause of all mails.
const LONGEST_SERVER_PAUSE: Duration = Duration::from_secs(300);

/// The outcomes of the mails that were taken together.
#[derive(Debug, Default)]
pub(crate) struct Round {
    pub(crate) leased: usize,
    pub(crate) sent: usize,
    /// Why mails were not accepted that are tried again.
    pub(crate) refusals: Vec<MailError>,
}

/// What the last rounds say about the mail server.
#[derive(Debug, Default)]
pub(crate) struct ServerState {
    /// Rounds since the server was last there.
    failures: i32,
    /// Whether the last attempts were refused, which was logged then.
    is_refusing: bool,
}

impl ServerState {
    /// How many mails to try: a server that is away is asked with one.
    pub(crate) fn batch(&self) -> usize {
        if self.failures > 0 { 1 } else { BATCH }
    }

    /// Takes note of a round, and logs its refusals unless the last attempts were refused as well. Returns how long to leave
    /// the server alone if it is away.
    pub(crate) fn note(&mut self, round: &Round) -> Option<Duration> {
        let begins = self.begins_to_refuse(round);
        if let Some(error) = round.refusals.first().filter(|_| begins) {
            tracing::warn!(
                %error,
                "queued mails are not accepted and are tried again; this is not logged again until one is accepted"
            );
        }
        let is_away = round.sent == 0 && round.refusals.iter().any(MailError::is_of_server);
        if is_away {
            self.failures = self.failures.saturating_add(1);
            return Some(pause_after(self.failures).min(LONGEST_SERVER_PAUSE));
        }
        if round.sent > 0 || !round.refusals.is_empty() {
            self.failures = 0;
        }
        None
    }

    fn begins_to_refuse(&mut self, round: &Round) -> bool {
        let was_refusing = self.is_refusing;
        if !round.refusals.is_empty() {
            self.is_refusing = true;
        } else if round.sent > 0 {
            self.is_refusing = false;
        }
        self.is_refusing && !was_refusing
    }
}

/// The pause after this attempt: twice as long after each one.
pub(crate) fn pause_after(tries: i32) -> Duration {
    let doublings = u32::try_from(tries.saturating_sub(1)).unwrap_or(0).min(10);
    (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(sent: usize, refusals: Vec<MailError>) -> Round {
        Round {
            leased: sent + refusals.len(),
            sent,
            refusals,
        }
    }

    #[test]
    fn pauses_between_attempts_grow_to_an_hour() {
        let seconds = [1, 2, 3, 9, 10, 99].map(|tries| pause_after(tries).as_secs());

        assert_eq!(seconds, [10, 20, 40, 2560, 3600, 3600]);
    }

    #[test]
    fn a_server_that_is_away_is_asked_seldom_and_with_one_mail() {
        let mut server = ServerState::default();
        let pauses: Vec<_> = (0..8)
            .map(|_| server.note(&round(0, vec![MailError::Timeout])))
            .map(|pause| pause.map(|pause| pause.as_secs()))
            .collect();

        assert_eq!(pauses, [10, 20, 40, 80, 160, 300, 300, 300].map(Some));
        assert_eq!(server.batch(), 1);
        // No mail was due, which says nothing.
        assert_eq!(server.note(&round(0, vec![])), None);
        assert_eq!(server.batch(), 1);
        assert_eq!(server.note(&round(1, vec![])), None);
        assert_eq!(server.batch(), BATCH);
        // A header is of one mail.
        assert_eq!(
            server.note(&round(0, vec![MailError::Header("x".to_owned())])),
            None
        );
        assert_eq!(server.batch(), BATCH);
    }

    #[test]
    fn a_server_that_refuses_is_logged_once_until_it_accepts() {
        let mut server = ServerState::default();
        let logged = [
            round(0, vec![MailError::Timeout]),
            round(0, vec![MailError::Timeout]),
            round(0, vec![]),
            round(1, vec![MailError::Timeout]),
            round(1, vec![]),
            round(0, vec![MailError::Timeout]),
        ]
        .map(|round| server.begins_to_refuse(&round));

        assert_eq!(logged, [true, false, false, false, false, true]);
    }
}
