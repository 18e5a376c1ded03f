//! Rate limits in bounded memory: per client address and endpoint, per unknown mail address, and for all mails
//! together.
//!
//! A limiter is a fixed table of slots, and a keyed hash maps a client to its slot. So memory does not grow with the
//! number of clients, and an attacker cannot choose an address that shares a slot with a victim. Source: Auth contract
//! §3.7.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use crate::config::{AuthConfig, RateLimitConfig};
use crate::error::AuthError;

/// Slots per limiter. Clients that share a slot share its limit, which is rare with so many.
const SLOTS: usize = 8192;
/// Requests that a client may send at once.
const BURST: u64 = 30;
/// Wrong codes for one address until clients are counted one by one; then a hundred per hour, while a code has a
/// million values. Whoever sends wrong codes for somebody's address must not be able to lock them out with that.
const MAX_WRONG_CODES: u64 = 100;
/// Wrong codes of one client for an address that has had [`MAX_WRONG_CODES`]; then as many per hour.
const MAX_WRONG_CODES_OF_CLIENT: u64 = 5;
/// Wrong codes for one address until every attempt is refused; then as many per hour. Only many clients together can
/// send so many, and still they find a code with a chance of one in a thousand.
const MAX_WRONG_CODES_OF_ALL: u64 = 1000;
/// Wrong codes for one second factor until further attempts are refused; then twenty per hour.
const MAX_WRONG_FACTOR_CODES: u64 = 20;
const MINUTE: Duration = Duration::from_secs(60);
const FIVE_MINUTES: Duration = Duration::from_secs(300);
const HOUR: Duration = Duration::from_secs(3600);

/// An endpoint with a rate limit; each has its own buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitedEndpoint {
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
    Sso,
    SamlAssertion,
}

impl LimitedEndpoint {
    const COUNT: usize = 16;
}

/// All limits of one process; several processes count separately.
#[derive(Debug)]
pub(crate) struct Limits {
    hash: RandomState,
    started: Instant,
    buckets: [Option<Buckets>; LimitedEndpoint::COUNT],
    unknown_addresses: Buckets,
    unknown_phones: Buckets,
    wrong_codes: Buckets,
    wrong_codes_of_client: Buckets,
    wrong_codes_of_all: Buckets,
    wrong_factor_codes: Buckets,
    emails: Option<HourWindow>,
    text_messages: Option<HourWindow>,
}

impl Limits {
    pub(crate) fn new(config: &AuthConfig) -> Self {
        let rates = &config.rate_limits;
        let per_address = |limit: u32, period: Duration, burst: u64| {
            RateLimitConfig::non_zero_limit(limit).map(|limit| Buckets::new(period / limit.get(), burst))
        };
        let otp = || per_address(rates.otp, FIVE_MINUTES, BURST);
        Self {
            hash: RandomState::new(),
            started: Instant::now(),
            // In the order of `LimitedEndpoint`.
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
                per_address(rates.sso, FIVE_MINUTES, BURST),
                per_address(rates.saml_assertions, FIVE_MINUTES, BURST),
            ],
            unknown_addresses: Buckets::new(config.email.max_frequency, 1),
            unknown_phones: Buckets::new(config.phone.max_frequency, 1),
            wrong_codes: Buckets::new(HOUR / 100, MAX_WRONG_CODES),
            wrong_codes_of_client: Buckets::new(HOUR / 5, MAX_WRONG_CODES_OF_CLIENT),
            wrong_codes_of_all: Buckets::new(HOUR / 1000, MAX_WRONG_CODES_OF_ALL),
            wrong_factor_codes: Buckets::new(HOUR / 20, MAX_WRONG_FACTOR_CODES),
            // Compat: under autoconfirm upstream counts no mails, unless the limit is 0.
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
    pub(crate) fn check_client(
        &self,
        endpoint: LimitedEndpoint,
        client: Option<&str>,
    ) -> Result<(), AuthError> {
        let (Some(client), Some(buckets)) = (client, &self.buckets[endpoint as usize]) else {
            return Ok(());
        };
        buckets
            .take_token(self.hash.hash_one(client), self.started.elapsed())
            .map_err(|_| AuthError::RequestRateLimit)
    }

    /// Counts a request for a mail to an unregistered address, so that it is limited like one to a registered address.
    ///
    /// # Errors
    /// 429 `over_email_send_rate_limit` with the seconds left.
    pub(crate) fn check_unknown_address(
        &self,
        purpose: LimitedEndpoint,
        email: &str,
    ) -> Result<(), AuthError> {
        let taken = self.unknown_addresses.take_token(
            self.hash.hash_one((purpose as usize, email)),
            self.started.elapsed(),
        );
        taken.map_err(|wait| AuthError::TooSoon {
            seconds: ceil_seconds(wait),
        })
    }

    /// Counts a request for a text message to an unregistered number, like [`Self::check_unknown_address`].
    ///
    /// # Errors
    /// 429 `over_sms_send_rate_limit` with the seconds left.
    pub(crate) fn check_unknown_phone(&self, purpose: LimitedEndpoint, phone: &str) -> Result<(), AuthError> {
        let hash = self.hash.hash_one((purpose as usize, phone));
        let taken = self.unknown_phones.take_token(hash, self.started.elapsed());
        taken.map_err(|wait| AuthError::TooSoonSms {
            seconds: ceil_seconds(wait),
        })
    }

    /// Refuses a client that tried too many wrong codes for an address, once many were tried for it, from whichever
    /// client. The address's owner, whose client has tried none, still gets in.
    ///
    /// # Errors
    /// 429 `over_request_rate_limit`.
    pub(crate) fn check_wrong_codes(&self, address: &str, client: &str) -> Result<(), AuthError> {
        let now = self.started.elapsed();
        let address_hash = self.hash.hash_one(address);
        let client_hash = self.hash.hash_one((address, client));
        let is_client_refused = self.wrong_codes.is_exhausted(address_hash, now)
            && self.wrong_codes_of_client.is_exhausted(client_hash, now);
        if is_client_refused || self.wrong_codes_of_all.is_exhausted(address_hash, now) {
            return Err(AuthError::RequestRateLimit);
        }
        Ok(())
    }

    /// Counts a wrong code.
    pub(crate) fn count_wrong_code(&self, address: &str, client: &str) {
        let now = self.started.elapsed();
        let address_hash = self.hash.hash_one(address);
        // An empty bucket already refuses; the attempt need not be counted.
        let _ = self.wrong_codes.take_token(address_hash, now);
        let _ = self.wrong_codes_of_all.take_token(address_hash, now);
        let client_hash = self.hash.hash_one((address, client));
        let _ = self.wrong_codes_of_client.take_token(client_hash, now);
    }

    /// Refuses a second factor for which too many wrong codes were tried, from whichever client.
    ///
    /// # Errors
    /// 429 `over_request_rate_limit`.
    pub(crate) fn check_wrong_factor_codes(&self, factor: Uuid) -> Result<(), AuthError> {
        match self
            .wrong_factor_codes
            .is_exhausted(self.hash.hash_one(factor), self.started.elapsed())
        {
            true => Err(AuthError::RequestRateLimit),
            false => Ok(()),
        }
    }

    /// Counts a wrong code of a second factor.
    pub(crate) fn count_wrong_factor_code(&self, factor: Uuid) {
        let _ = self
            .wrong_factor_codes
            .take_token(self.hash.hash_one(factor), self.started.elapsed());
    }

    /// Counts a text message of the whole instance.
    ///
    /// # Errors
    /// 429 `over_sms_send_rate_limit`.
    pub(crate) fn check_sms(&self) -> Result<(), AuthError> {
        match &self.text_messages {
            Some(window) if !window.count_message(self.started.elapsed()) => Err(AuthError::SmsRateLimit),
            _ => Ok(()),
        }
    }

    /// Counts a mail of the whole instance.
    ///
    /// # Errors
    /// 429 `over_email_send_rate_limit`.
    pub(crate) fn check_email(&self) -> Result<(), AuthError> {
        match &self.emails {
            Some(window) if !window.count_message(self.started.elapsed()) => Err(AuthError::EmailRateLimit),
            _ => Ok(()),
        }
    }
}

/// Seconds until the next message may be sent; `None` when it may be sent now.
pub(crate) fn seconds_left(
    sent_at: Option<DateTime<Utc>>,
    pause: Duration,
    now: DateTime<Utc>,
) -> Option<i64> {
    let pause = TimeDelta::from_std(pause).unwrap_or(TimeDelta::MAX);
    let wait = (sent_at? + pause - now).to_std().ok()?;
    (!wait.is_zero()).then(|| ceil_seconds(wait))
}

/// Whole seconds, rounded up, so that the message never says "after 0 seconds".
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
    fn take_token(&self, hash: u64, now: Duration) -> Result<(), Duration> {
        let now_us = to_micros(now);
        let taken = self
            .slot(hash)
            // Relaxed suffices: the slot is one number, and no other data depends on the order.
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at| {
                let after = full_at.max(now_us).saturating_add(self.interval_us);
                (after - now_us <= self.capacity_us()).then_some(after)
            });
        taken.map(|_| ()).map_err(|full_at| {
            Duration::from_micros(full_at.saturating_add(self.interval_us) - now_us - self.capacity_us())
        })
    }

    /// Whether the next [`Self::take_token`] would fail.
    fn is_exhausted(&self, hash: u64, now: Duration) -> bool {
        let now_us = to_micros(now);
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

fn to_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// A counter that restarts every hour, counted from the start of the process. `state` holds the number of the hour
/// and its count.
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

    fn count_message(&self, now: Duration) -> bool {
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
    fn auth_086_a_client_may_send_thirty_requests_at_once_then_one_per_interval() {
        let buckets = Buckets::new(Duration::from_secs(10), 30);
        let at = Duration::from_secs;

        assert!((0..30).all(|_| buckets.take_token(7, at(100)).is_ok()));
        assert_eq!(buckets.take_token(7, at(100)), Err(at(10)));
        assert!(buckets.take_token(8, at(100)).is_ok());
        assert!(buckets.take_token(7, at(110)).is_ok());
        assert!(buckets.take_token(7, at(110)).is_err());
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

        assert!((0..100).all(|_| limits.check_client(LimitedEndpoint::Verify, None).is_ok()));
        assert_eq!(
            (0..31)
                .filter(|_| limits
                    .check_client(LimitedEndpoint::Verify, Some("1.2.3.4"))
                    .is_err())
                .count(),
            1
        );
    }

    #[test]
    fn too_many_wrong_codes_block_the_clients_that_sent_them_and_not_the_owner() {
        let limits = Limits::new(&AuthConfig::default());

        for _ in 0..MAX_WRONG_CODES {
            assert!(limits.check_wrong_codes("a@b.c", "1.2.3.4").is_ok());
            limits.count_wrong_code("a@b.c", "1.2.3.4");
        }

        assert!(matches!(
            limits.check_wrong_codes("a@b.c", "1.2.3.4"),
            Err(AuthError::RequestRateLimit)
        ));
        assert!(limits.check_wrong_codes("a@b.c", "5.6.7.8").is_ok());
        assert!(limits.check_wrong_codes("b@b.c", "1.2.3.4").is_ok());
        for _ in 0..MAX_WRONG_CODES_OF_CLIENT {
            limits.count_wrong_code("a@b.c", "5.6.7.8");
        }
        assert!(limits.check_wrong_codes("a@b.c", "5.6.7.8").is_err());
    }

    #[test]
    fn wrong_codes_of_many_clients_together_block_the_address() {
        let limits = Limits::new(&AuthConfig::default());

        for client in 0..MAX_WRONG_CODES_OF_ALL {
            limits.count_wrong_code("a@b.c", &client.to_string());
        }

        assert!(limits.check_wrong_codes("a@b.c", "5.6.7.8").is_err());
    }

    #[test]
    fn the_mail_limit_restarts_every_hour() {
        let window = HourWindow::new(2);
        let minute = |minute: u64| Duration::from_secs(minute * 60);

        assert_eq!(
            [1, 2, 3, 61].map(|at| window.count_message(minute(at))),
            [true, true, false, true]
        );
    }

    #[test]
    fn unregistered_addresses_are_limited_like_registered_ones() {
        let limits = Limits::new(&AuthConfig::default());

        assert!(
            limits
                .check_unknown_address(LimitedEndpoint::Recover, "a@b.c")
                .is_ok()
        );
        assert!(matches!(
            limits.check_unknown_address(LimitedEndpoint::Recover, "a@b.c"),
            Err(AuthError::TooSoon { seconds: 1 })
        ));
    }
}
