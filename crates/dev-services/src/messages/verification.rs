//! The open verifications of Twilio Verify.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a code is valid; Twilio's default.
const LIFETIME: Duration = Duration::from_secs(600);
/// How often a code may be checked; Twilio's limit.
const MAX_CHECKS: u32 = 5;
/// Most verifications that are kept: beyond it the one that was started first is dropped.
const CAPACITY: usize = 500;

/// Outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// The code is right; the verification ends.
    Right,
    /// The code is wrong, and another may be tried.
    Wrong,
    /// There is no open verification for this number.
    Missing,
    /// Too many codes were tried.
    TooMany,
}

struct Verification {
    code: String,
    started: Instant,
    checks: u32,
}

/// Open verifications by phone number.
#[derive(Default)]
pub(super) struct Verifications {
    open: Mutex<HashMap<String, Verification>>,
}

impl Verifications {
    /// Starts a verification and returns its code. As with Twilio, an open one keeps its code, so that the first message still
    /// helps when the second arrives late.
    pub(super) fn start(&self, phone: &str) -> String {
        let mut open = self.lock();
        // Verifications that are never checked are only removed here.
        open.retain(|_, verification| verification.started.elapsed() < LIFETIME);
        if let Some(verification) = open.get(phone) {
            return verification.code.clone();
        }
        if open.len() >= CAPACITY {
            let oldest = open.iter().min_by_key(|(_, verification)| verification.started);
            if let Some(phone) = oldest.map(|(phone, _)| phone.clone()) {
                open.remove(&phone);
            }
        }
        let code = new_code();
        let verification = Verification {
            code: code.clone(),
            started: Instant::now(),
            checks: 0,
        };
        open.insert(phone.to_owned(), verification);
        code
    }

    /// Compares a code with the one that was sent to this number.
    pub(super) fn check(&self, phone: &str, code: &str) -> Check {
        let mut open = self.lock();
        let found = open.get_mut(phone);
        let Some(verification) = found.filter(|verification| verification.started.elapsed() < LIFETIME)
        else {
            return Check::Missing;
        };
        if verification.checks >= MAX_CHECKS {
            return Check::TooMany;
        }
        verification.checks += 1;
        if verification.code != code {
            return Check::Wrong;
        }
        // As with Twilio, a code is accepted once.
        open.remove(phone);
        Check::Right
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Verification>> {
        // A panic under the lock leaves a whole map, so it is used all the same.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns six random digits.
fn new_code() -> String {
    // All but six bits of a version 4 UUID are random, which makes every code equally likely as far as anyone can measure.
    let random = uuid::Uuid::new_v4().as_u128();
    format!("{:06}", random % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A code of six digits that is not this one.
    fn other_than(code: &str) -> &'static str {
        if code == "000000" { "111111" } else { "000000" }
    }

    #[test]
    fn a_code_is_right_once_and_for_its_number_alone() {
        let verifications = Verifications::default();
        let code = verifications.start("+1");

        assert_eq!(verifications.check("+2", &code), Check::Missing);
        assert_eq!(verifications.check("+1", other_than(&code)), Check::Wrong);
        assert_eq!(verifications.check("+1", &code), Check::Right);
        assert_eq!(verifications.check("+1", &code), Check::Missing);
    }

    #[test]
    fn the_right_code_does_not_help_after_five_wrong_ones() {
        let verifications = Verifications::default();
        let code = verifications.start("+1");
        for _ in 0..MAX_CHECKS {
            assert_eq!(verifications.check("+1", other_than(&code)), Check::Wrong);
        }

        assert_eq!(verifications.check("+1", &code), Check::TooMany);
    }

    #[test]
    fn a_second_start_sends_the_same_code() {
        let verifications = Verifications::default();

        assert_eq!(verifications.start("+1"), verifications.start("+1"));
    }
}
