//! Rate limits in bounded memory: per client address and endpoint, per unknown mail address, and for all mails together.
//!
//! A limiter is a fixed table of slots, and a client is a slot by a keyed hash. So memory does not grow with the number of
//! strangers, and nobody can aim at somebody else's slot. Source: Auth contract §3.7.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use crate::config::{AuthConfig, RateLimitConfig};
use crate::error::AuthError;

const SLOTS: usize = 8192;
const BURST: u64 = 30;
/// Wrong codes for one address before it is closed; then a hundred per hour. Of a million codes that is little.
const GUESSES: u64 = 100;
/// Wrong codes for one second factor before it is closed; then twenty per hour.
const FACTOR_GUESSES: u64 = 20;
const MINUTE: Duration = Duration::from_secs(60);
const FIVE_MINUTES: Duration = Duration::from_secs(300);
const HOUR: Duration = Duration::from_secs(3600);

/// What is limited; each has its own buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limited {
    Verify,
    Token,
    Otp,
    MagicLink,
    Recover,
    Resend,
    Signup,
    UpdateUser,
    Anonymous,
    FactorChallenge,
    FactorVerify,
    Passkey,
    Web3,
    RegisterClient,
}

impl Limited {
    const COUNT: usize = 14;
}

/// All limits of one node.
#[derive(Debug)]
pub(crate) struct Limits {
    hash: RandomState,
    started: Instant,
    buckets: [Option<Buckets>; Limited::COUNT],
    unknown_addresses: Buckets,
    unknown_phones: Buckets,
    guesses: Buckets,
    factor_guesses: Buckets,
    emails: Option<HourWindow>,
    text_messages: Option<HourWindow>,
}

impl Limits {
    pub(crate) fn new(config: &AuthConfig) -> Self {
        let rates = &config.rate_limits;
        let per_address = |limit: u32, period: Duration, burst: u64| {
            RateLimitConfig::positive(limit).map(|limit| Buckets::new(period / limit.get(), burst))
        };
        let otp = || per_address(rates.otp, FIVE_MINUTES, BURST);
        Self {
            hash: RandomState::new(),
            started: Instant::now(),
            // In the order of `Limited`.
            buckets: [
                per_address(rates.verify, FIVE_MINUTES, BURST),
                per_address(rates.token, FIVE_MINUTES, BURST),
                otp(),
                otp(),
                otp(),
                otp(),
                otp(),
                otp(),
                per_address(rates.anonymous_users, HOUR, u64::from(rates.anonymous_users)),
                per_address(rates.mfa_per_minute, MINUTE, BURST),
                per_address(rates.mfa_per_minute, MINUTE, BURST),
                per_address(rates.passkeys, FIVE_MINUTES, BURST),
                per_address(rates.web3, FIVE_MINUTES, BURST),
                per_address(rates.client_registrations, FIVE_MINUTES, BURST),
            ],
            unknown_addresses: Buckets::new(config.email.max_frequency, 1),
            unknown_phones: Buckets::new(config.phone.max_frequency, 1),
            guesses: Buckets::new(HOUR / 100, GUESSES),
            factor_guesses: Buckets::new(HOUR / 20, FACTOR_GUESSES),
            // Compat: under autoconfirm no mail needs to be counted.
            emails: rates
                .emails_per_hour
                .filter(|limit| !config.email.autoconfirm || *limit == 0)
                .map(HourWindow::new),
            text_messages: rates
                .sms_per_hour
                .filter(|limit| !config.phone.autoconfirm || *limit == 0)
                .map(HourWindow::new),
        }
    }

    /// Counts one request of `client`; `None` is never limited.
    ///
    /// # Errors
    /// 429 `over_request_rate_limit`.
    pub(crate) fn check(&self, what: Limited, client: Option<&str>) -> Result<(), AuthError> {
        let (Some(client), Some(buckets)) = (client, &self.buckets[what as usize]) else {
            return Ok(());
        };
        buckets
            .take(self.hash.hash_one(client), self.started.elapsed())
            .map_err(|_| AuthError::RequestRateLimit)
    }

    /// Counts a request for a mail to an address that nobody has, as if somebody had it: known and unknown look alike.
    ///
    /// # Errors
    /// 429 `over_email_send_rate_limit` with the seconds left.
    pub(crate) fn check_unknown_address(&self, purpose: Limited, email: &str) -> Result<(), AuthError> {
        let taken = self.unknown_addresses.take(
            self.hash.hash_one((purpose as usize, email)),
            self.started.elapsed(),
        );
        taken.map_err(|wait| AuthError::TooSoon {
            seconds: ceil_seconds(wait),
        })
    }

    /// The same for a text message to a number that nobody has.
    ///
    /// # Errors
    /// 429 `over_sms_send_rate_limit` with the seconds left.
    pub(crate) fn check_unknown_phone(&self, purpose: Limited, phone: &str) -> Result<(), AuthError> {
        let hash = self.hash.hash_one((purpose as usize, phone));
        let taken = self.unknown_phones.take(hash, self.started.elapsed());
        taken.map_err(|wait| AuthError::TooSoonSms {
            seconds: ceil_seconds(wait),
        })
    }

    /// Refuses an address for which too many wrong codes were tried, whoever tried them.
    ///
    /// # Errors
    /// 429 `over_request_rate_limit`.
    pub(crate) fn check_guesses(&self, address: &str) -> Result<(), AuthError> {
        match self
            .guesses
            .is_empty(self.hash.hash_one(address), self.started.elapsed())
        {
            true => Err(AuthError::RequestRateLimit),
            false => Ok(()),
        }
    }

    /// Counts a wrong code.
    pub(crate) fn count_guess(&self, address: &str) {
        // An empty bucket needs no further counting.
        let _ = self
            .guesses
            .take(self.hash.hash_one(address), self.started.elapsed());
    }

    /// Refuses a second factor for which too many wrong codes were tried, from wherever.
    ///
    /// # Errors
    /// 429 `over_request_rate_limit`.
    pub(crate) fn check_factor_guesses(&self, factor: Uuid) -> Result<(), AuthError> {
        match self
            .factor_guesses
            .is_empty(self.hash.hash_one(factor), self.started.elapsed())
        {
            true => Err(AuthError::RequestRateLimit),
            false => Ok(()),
        }
    }

    /// Counts a wrong code of a second factor.
    pub(crate) fn count_factor_guess(&self, factor: Uuid) {
        let _ = self
            .factor_guesses
            .take(self.hash.hash_one(factor), self.started.elapsed());
    }

    /// Counts a text message of the whole instance.
    ///
    /// # Errors
    /// 429 `over_sms_send_rate_limit`.
    pub(crate) fn check_sms(&self) -> Result<(), AuthError> {
        match &self.text_messages {
            Some(window) if !window.take(self.started.elapsed()) => Err(AuthError::SmsRateLimit),
            _ => Ok(()),
        }
    }

    /// Counts a mail of the whole instance.
    ///
    /// # Errors
    /// 429 `over_email_send_rate_limit`.
    pub(crate) fn check_email(&self) -> Result<(), AuthError> {
        match &self.emails {
            Some(window) if !window.take(self.started.elapsed()) => Err(AuthError::EmailRateLimit),
            _ => Ok(()),
        }
    }
}

/// How long after `sent_at` the next message must wait still; `None` when it may go.
pub(crate) fn seconds_left(
    sent_at: Option<DateTime<Utc>>,
    pause: Duration,
    now: DateTime<Utc>,
) -> Option<i64> {
    let pause = TimeDelta::from_std(pause).unwrap_or(TimeDelta::MAX);
    let wait = (sent_at? + pause - now).to_std().ok()?;
    (!wait.is_zero()).then(|| ceil_seconds(wait))
}

/// Whole seconds, rounded up: "after 0 seconds" helps nobody.
fn ceil_seconds(wait: Duration) -> i64 {
    i64::try_from(wait.as_millis().div_ceil(1000).max(1)).unwrap_or(i64::MAX)
}

/// Token buckets as one number each: the time at which the bucket will be full again (GCRA).
#[derive(Debug)]
struct Buckets {
    full_at_us: OnceLock<Box<[AtomicU64]>>,
    interval_us: u64,
    burst: u64,
}

impl Buckets {
    /// `burst` at once, then one per `interval`.
    fn new(interval: Duration, burst: u64) -> Self {
        let interval_us = u64::try_from(interval.as_micros()).unwrap_or(u64::MAX / 64);
        Self {
            full_at_us: OnceLock::new(),
            interval_us,
            burst: burst.max(1),
        }
    }

    /// Takes one token, or says how long to wait for the next.
    fn take(&self, hash: u64, now: Duration) -> Result<(), Duration> {
        let now_us = micros(now);
        let taken = self
            .slot(hash)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
                let after = full_at.max(now_us).saturating_add(self.interval_us);
                (after - now_us <= self.capacity_us()).then_some(after)
            });
        taken.map(|_| ()).map_err(|full_at| {
            Duration::from_micros(full_at.saturating_add(self.interval_us) - now_us - self.capacity_us())
        })
    }

    /// Whether the next [`Self::take`] would fail.
    fn is_empty(&self, hash: u64, now: Duration) -> bool {
        let now_us = micros(now);
        let full_at = self.slot(hash).load(Ordering::Relaxed);
        full_at.max(now_us).saturating_add(self.interval_us) - now_us > self.capacity_us()
    }

    fn slot(&self, hash: u64) -> &AtomicU64 {
        let slots = self
            .full_at_us
            .get_or_init(|| (0..SLOTS).map(|_| AtomicU64::new(0)).collect());
        &slots[usize::try_from(hash % SLOTS as u64).unwrap_or(0)]
    }

    fn capacity_us(&self) -> u64 {
        self.interval_us.saturating_mul(self.burst)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// A fixed window of one hour.
#[derive(Debug)]
struct HourWindow {
    limit: u32,
    state: Mutex<(u64, u32)>,
}

impl HourWindow {
    fn new(limit: u32) -> Self {
        Self {
            limit,
            state: Mutex::new((0, 0)),
        }
    }

    fn take(&self, now: Duration) -> bool {
        let window = now.as_secs() / HOUR.as_secs();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 != window {
            *state = (window, 0);
        }
        let is_free = state.1 < self.limit;
        state.1 += u32::from(is_free);
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_086_thirty_at_once_then_one_per_interval() {
        let buckets = Buckets::new(Duration::from_secs(10), 30);
        let at = Duration::from_secs;

        assert!((0..30).all(|_| buckets.take(7, at(100)).is_ok()));
        assert_eq!(buckets.take(7, at(100)), Err(at(10)));
        assert!(buckets.take(8, at(100)).is_ok());
        assert!(buckets.take(7, at(110)).is_ok());
        assert!(buckets.take(7, at(110)).is_err());
    }

    #[test]
    fn a_client_without_address_is_not_limited() {
        let config = AuthConfig {
            rate_limits: RateLimitConfig {
                verify: 1,
                ..Default::default()
            },
            ..Default::default()
        };
        let limits = Limits::new(&config);

        assert!((0..100).all(|_| limits.check(Limited::Verify, None).is_ok()));
        assert_eq!(
            (0..31)
                .filter(|_| limits.check(Limited::Verify, Some("1.2.3.4")).is_err())
                .count(),
            1
        );
    }

    #[test]
    fn wrong_codes_close_an_address() {
        let limits = Limits::new(&AuthConfig::default());

        for _ in 0..GUESSES {
            assert!(limits.check_guesses("a@b.c").is_ok());
            limits.count_guess("a@b.c");
        }

        assert!(matches!(
            limits.check_guesses("a@b.c"),
            Err(AuthError::RequestRateLimit)
        ));
        assert!(limits.check_guesses("b@b.c").is_ok());
    }

    #[test]
    fn mails_are_counted_per_hour() {
        let window = HourWindow::new(2);
        let minute = |minute: u64| Duration::from_secs(minute * 60);

        assert_eq!(
            [1, 2, 3, 61].map(|at| window.take(minute(at))),
            [true, true, false, true]
        );
    }

    #[test]
    fn unknown_addresses_wait_like_known_ones() {
        let limits = Limits::new(&AuthConfig::default());

        assert!(limits.check_unknown_address(Limited::Recover, "a@b.c").is_ok());
        assert!(matches!(
            limits.check_unknown_address(Limited::Recover, "a@b.c"),
            Err(AuthError::TooSoon { seconds: 1 })
        ));
    }
}
