//! Rate limits in bounded memory: per client address and endpoint, per unknown mail address, and for all mails
//! together.
//!
//! A limiter is a fixed table of slots, and a keyed hash maps a client to its slot. So memory does not grow with the
//! number of clients, and an attacker cannot choose an address that shares a slot with a victim. Nor can one network use up
//! many slots: an IPv6 client counts for its /64 and, sixteen times as generously, for its /48. Source: Auth contract §3.7.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};

use crate::config::{AuthConfig, RateLimitConfig};
use crate::error::AuthError;
use crate::state::client_networks::ClientNetworks;

/// Slots per limiter. Clients that share a slot share its limit, which is rare with so many.
const SLOTS: usize = 8192;
/// Requests that a client may send at once.
const BURST: u64 = 30;
/// How many clients may share a /48 of IPv6, which is what one customer of a provider gets, before they share a limit.
const CLIENTS_OF_WIDE_NETWORK: u32 = 16;
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
    Authorize,
}

impl LimitedEndpoint {
    const COUNT: usize = 17;
}

/// All limits of one process; several processes count separately.
#[derive(Debug)]
pub(crate) struct Limits {
    hash: RandomState,
    started: Instant,
    buckets: [Option<Buckets>; LimitedEndpoint::COUNT],
    /// For the /48 of IPv6 clients.
    wide_buckets: [Option<Buckets>; LimitedEndpoint::COUNT],
    unknown_addresses: Buckets,
    unknown_phones: Buckets,
    emails: Option<HourWindow>,
    text_messages: Option<HourWindow>,
}

impl Limits {
    pub(crate) fn new(config: &AuthConfig) -> Self {
        let rates = &config.rate_limits;
        Self {
            hash: RandomState::new(),
            started: Instant::now(),
            buckets: per_endpoint(rates, 1),
            wide_buckets: per_endpoint(rates, CLIENTS_OF_WIDE_NETWORK),
            unknown_addresses: Buckets::new(config.email.max_frequency, 1),
            unknown_phones: Buckets::new(config.phone.max_frequency, 1),
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
        client: Option<&ClientNetworks>,
    ) -> Result<(), AuthError> {
        let Some(client) = client else {
            return Ok(());
        };
        let now = self.started.elapsed();
        let take = |buckets: &Option<Buckets>, network: &str| match buckets {
            Some(buckets) => buckets.take_token(self.hash.hash_one(network), now).is_ok(),
            None => true,
        };
        // The wide network first: once it is refused, its requests take nothing from further slots.
        let wide = client.wide();
        let is_free = wide.is_none_or(|network| take(&self.wide_buckets[endpoint as usize], network))
            && take(&self.buckets[endpoint as usize], client.narrow());
        match is_free {
            true => Ok(()),
            false => Err(AuthError::RequestRateLimit),
        }
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

/// The limits per client, in the order of [`LimitedEndpoint`], for networks that `clients` share.
fn per_endpoint(rates: &RateLimitConfig, clients: u32) -> [Option<Buckets>; LimitedEndpoint::COUNT] {
    let limit = |limit: u32, period: Duration, burst: u64| {
        RateLimitConfig::non_zero_limit(limit)
            .map(|limit| Buckets::new(period / limit.get() / clients, burst * u64::from(clients)))
    };
    let per_five_minutes = |rate: u32| limit(rate, FIVE_MINUTES, BURST);
    let otp = || per_five_minutes(rates.otp);
    [
        per_five_minutes(rates.verify),
        per_five_minutes(rates.token),
        otp(),
        otp(),
        otp(),
        otp(),
        otp(),
        otp(),
        limit(rates.anonymous_users, HOUR, u64::from(rates.anonymous_users)),
        limit(rates.mfa_per_minute, MINUTE, BURST),
        limit(rates.mfa_per_minute, MINUTE, BURST),
        per_five_minutes(rates.passkeys),
        per_five_minutes(rates.web3),
        per_five_minutes(rates.client_registrations),
        per_five_minutes(rates.sso),
        per_five_minutes(rates.saml_assertions),
        per_five_minutes(rates.authorizations),
    ]
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

    fn networks(ip: &str) -> ClientNetworks {
        ClientNetworks::of(ip.parse().expect("an address"))
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
        let client = networks("192.0.2.1");
        let refused = (0..31)
            .filter(|_| {
                limits
                    .check_client(LimitedEndpoint::Verify, Some(&client))
                    .is_err()
            })
            .count();
        assert_eq!(refused, 1);
    }

    #[test]
    fn auth_086_a_wide_ipv6_network_has_sixteen_limits_and_uses_up_no_more_slots() {
        let limits = Limits::new(&AuthConfig::default());
        let check = |network: u32| {
            let client = networks(&format!("2001:db8:1:{network:x}::1"));
            limits
                .check_client(LimitedEndpoint::Verify, Some(&client))
                .is_ok()
        };

        let allowed = (0..8192).filter(|network| check(*network)).count() as u64;

        // A token may have come back while the loop ran.
        let most = BURST * u64::from(CLIENTS_OF_WIDE_NETWORK);
        assert!((most..most + 30).contains(&allowed), "{allowed}");
        let client = networks("2001:db8:2:1::1");
        assert!(
            limits
                .check_client(LimitedEndpoint::Verify, Some(&client))
                .is_ok()
        );
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
