//! What became of attempts to obtain a certificate, kept in a file, so that a server that is started again and again does not ask again and
//! again: authorities refuse whoever fails too often.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::AcmeError;
use super::schedule::{FIRST_PAUSE, LONGEST_HOLD, SOONEST, pause_after};
use super::store::{read_json, write_json};
use crate::certificate::Certificate;

const FILE: &str = "attempts.json";
/// The longest text of an error that is kept.
const LONGEST_ERROR: usize = 1000;

/// What became of the last attempts, for one list of domains and one authority. Times are seconds of the clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attempts {
    #[serde(default)]
    domains: Vec<String>,
    #[serde(default)]
    directory: String,
    /// Whether the pause goes on after a restart, because a restart is no sign that somebody has mended something: the process was killed in the
    /// middle of the last attempt, or a certificate was issued that would be replaced at once.
    #[serde(default)]
    is_unfinished: bool,
    #[serde(default)]
    pub(super) failures: u32,
    #[serde(default)]
    noted_at: u64,
    #[serde(default)]
    next: u64,
    /// Until when the authority has told this server to wait.
    #[serde(default)]
    held_until: u64,
    #[serde(default)]
    pub(super) error: Option<String>,
}

impl Attempts {
    /// Reads the attempts that an earlier process has noted. Those for other domains or at another authority do not count.
    pub(super) fn read(folder: &Path, domains: &[String], directory: &str) -> Self {
        let kept: Option<Self> = read_json(&folder.join(FILE)).unwrap_or_default();
        kept.filter(|kept| kept.domains == domains && kept.directory == directory)
            .unwrap_or_else(|| Self {
                domains: domains.to_vec(),
                directory: directory.to_owned(),
                ..Self::default()
            })
    }

    /// Reads the noted attempts, for whichever domains and authority they were.
    pub(super) fn read_any(folder: &Path) -> Self {
        read_json(&folder.join(FILE)).ok().flatten().unwrap_or_default()
    }

    /// Lets the first attempt of a process be soon after a failure: somebody may have mended what was wrong. Not where a restart is no sign of that,
    /// as that of a process which ends again and again.
    pub(super) fn begin(&mut self) {
        if self.failures > 0 && !self.is_unfinished {
            self.next = self.next.min(self.noted_at.saturating_add(FIRST_PAUSE.as_secs()));
        }
    }

    /// Whether another attempt may be made. One that was noted in the future says that the clock has been set back.
    pub(super) fn allow(&self, now: SystemTime) -> bool {
        let now = seconds(now);
        now < self.noted_at || now >= self.next.max(self.held_until)
    }

    /// Notes a failure, and for how long the authority has told to wait.
    pub(super) fn fail(
        &mut self,
        now: SystemTime,
        current: Option<&Certificate>,
        hold: Option<Duration>,
        error: &AcmeError,
    ) {
        self.failures = self.failures.saturating_add(1);
        self.is_unfinished = matches!(error, AcmeError::Unfinished | AcmeError::StillDue);
        self.noted_at = seconds(now);
        let fraction = current.map_or(0.5, Certificate::fraction);
        let pause = pause_after(self.failures, fraction, current.map(Certificate::lifetime));
        self.next = seconds(now + pause);
        self.held_until = hold.map_or(0, |hold| seconds(now + hold.min(LONGEST_HOLD)));
        self.error = Some(error.to_string().chars().take(LONGEST_ERROR).collect());
    }

    /// Notes a success. The next attempt is not made at once, also where the clock is so wrong that every new certificate looks old, or the
    /// authority leaves a domain out.
    pub(super) fn succeed(&mut self, now: SystemTime, lifetime: Duration) {
        *self = Self {
            domains: std::mem::take(&mut self.domains),
            directory: std::mem::take(&mut self.directory),
            noted_at: seconds(now),
            next: seconds(now + (lifetime / 20).min(SOONEST)),
            ..Self::default()
        };
    }

    /// The attempts after one that an orderly stop has cut off. It counts as no failure; the next one waits all the same, so that many restarts
    /// do not send many orders.
    pub(super) fn postponed(&self, now: SystemTime) -> Self {
        Self {
            noted_at: seconds(now),
            next: self.next.max(seconds(now + FIRST_PAUSE)),
            ..self.clone()
        }
    }

    /// The file.
    pub(super) fn path(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    /// When the next attempt is made.
    pub(super) fn next_attempt(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.next.max(self.held_until))
    }

    /// Keeps them for the next start.
    pub(super) fn write(&self, folder: &Path) -> Result<(), AcmeError> {
        write_json(&folder.join(FILE), self)
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_021_a_server_that_is_started_again_and_again_does_not_ask_again_and_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let domains = vec!["a.example".to_owned()];
        let now = SystemTime::now();
        let error = AcmeError::NotProven("no address".to_owned());
        let mut attempts = Attempts::read(folder.path(), &domains, "https://ca.example");
        assert!(attempts.allow(now));
        for _ in 0..6 {
            attempts.fail(now, None, None, &error);
        }
        attempts.write(folder.path()).expect("written");

        let mut next = Attempts::read(folder.path(), &domains, "https://ca.example");
        assert_eq!(next, attempts);
        assert!(!next.allow(now + 2 * FIRST_PAUSE));
        next.begin();
        assert!(!next.allow(now) && next.allow(now + FIRST_PAUSE));
        // Attempts for other domains, or at another authority, do not count here.
        let other = Attempts::read(folder.path(), &["b.example".to_owned()], "https://ca.example");
        assert!(other.allow(now) && other.failures == 0);
        let other = Attempts::read(folder.path(), &domains, "https://staging.ca.example");
        assert!(other.allow(now) && other.failures == 0);
        // An attempt in the future was noted by a wrong clock, and holds nothing back.
        assert!(attempts.allow(now - Duration::from_secs(3600 * 24 * 365)));
    }

    #[test]
    fn prod_021_an_attempt_that_a_killed_process_has_begun_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let now = SystemTime::now();
        for restart in 1..=4 {
            let mut attempts = Attempts::read(folder.path(), &[], "https://ca.example");
            attempts.begin();
            assert!(restart == 1 || !attempts.allow(now + FIRST_PAUSE / 2));
            attempts.fail(now, None, None, &AcmeError::Unfinished);
            attempts.write(folder.path()).expect("written");
        }

        let mut attempts = Attempts::read(folder.path(), &[], "https://ca.example");
        attempts.begin();
        assert!(!attempts.allow(now + 7 * FIRST_PAUSE), "the pauses grow");
    }

    #[test]
    fn prod_021_a_clock_that_makes_every_certificate_look_old_orders_one_in_an_hour() {
        let day = Duration::from_secs(24 * 3600);
        let wrong = SystemTime::now() + 400 * day;
        let mut attempts = Attempts::default();

        attempts.succeed(wrong, 90 * day);
        attempts.begin();

        assert!(!attempts.allow(wrong + SOONEST / 2) && attempts.allow(wrong + SOONEST));
        // The clock is set right again, and the time that was noted lies in the future.
        assert!(attempts.allow(wrong - 400 * day));
    }

    #[test]
    fn prod_021_certificates_that_are_due_at_once_are_ordered_ever_more_seldom() {
        let now = SystemTime::now();
        let mut attempts = Attempts::default();

        let mut orders = 0;
        let mut time = now;
        while time < now + Duration::from_secs(24 * 3600) {
            attempts.begin();
            if attempts.allow(time) {
                attempts.fail(time, None, None, &AcmeError::StillDue);
                orders += 1;
            }
            time += FIRST_PAUSE;
        }

        assert!(orders < 12, "{orders} in a day, with a restart every two minutes");
    }

    #[test]
    fn prod_021_an_authority_that_tells_to_wait_is_not_asked_before() {
        let now = SystemTime::now();
        let hour = Duration::from_secs(3600);
        let mut attempts = Attempts::default();

        attempts.fail(now, None, Some(5 * hour), &AcmeError::Slow(1));
        attempts.begin();

        assert!(!attempts.allow(now + 4 * hour) && attempts.allow(now + 5 * hour));
        // A wait that an authority asks for is cut to the longest one, else it could end all renewals.
        attempts.fail(now, None, Some(1000 * 24 * hour), &AcmeError::Slow(1));
        assert!(attempts.allow(now + LONGEST_HOLD));
    }
}
