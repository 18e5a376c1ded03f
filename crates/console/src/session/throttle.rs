//! Limits password guessing (CONSOLE-014). Failures are counted per account and IP address, so that an attacker cannot lock
//! an account's owner out, and per IP address, so that one cannot keep the queue of passwords busy with names of its own invention.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use moka::sync::Cache;

/// The number of failures after which the delay begins: of an account, and of an address with all names together, behind which there may
/// be many people.
const FREE_FAILURES: u32 = 5;
const FREE_FAILURES_OF_ADDRESS: u32 = 30;
/// Bytes of names and addresses that are kept, with what belongs to them.
const MOST_BYTES: u64 = 8 * 1024 * 1024;
const BYTES_OF_ENTRY: usize = 160;
/// The time without a failure after which the earlier ones are forgotten.
const FAILURE_MEMORY: Duration = Duration::from_secs(15 * 60);
/// The delay does not grow beyond this.
const LONGEST_DELAY: Duration = Duration::from_secs(5 * 60);
/// How many segments of an IPv6 address are compared: the first 64 bits, because one client has all addresses of its
/// network.
const V6_NETWORK_SEGMENTS: usize = 4;

/// An account, `None` for all of an address, and the address or its network.
type Key = (Option<String>, String);

/// The recent failures to sign in, by account and address.
pub(super) struct Throttle {
    failures: Cache<Key, Arc<Mutex<Failures>>>,
}

struct Failures {
    count: u32,
    last: Instant,
}

impl Default for Throttle {
    fn default() -> Self {
        let failures = Cache::builder()
            .max_capacity(MOST_BYTES)
            .weigher(|(account, network): &Key, _: &Arc<Mutex<Failures>>| {
                let names = account.as_ref().map_or(0, String::len) + network.len();
                u32::try_from(names + BYTES_OF_ENTRY).unwrap_or(u32::MAX)
            })
            .time_to_idle(FAILURE_MEMORY)
            .build();
        Self { failures }
    }
}

impl Throttle {
    /// Counts an attempt as failed before its password is verified, so that many concurrent attempts do not all pass.
    /// [`Self::forgive`] undoes it. The error is the time to wait, during which attempts are refused.
    pub(super) fn begin(&self, account: &str, address: &str) -> Result<(), Duration> {
        // An attempt that is refused counts for neither: a waiting person would never get in again, and those at one address would make
        // each other wait.
        let of_address = self.find(key(None, address));
        let mut of_address = lock(&of_address);
        of_address.check(FREE_FAILURES_OF_ADDRESS)?;
        let of_account = self.find(key(Some(account), address));
        let mut of_account = lock(&of_account);
        of_account.check(FREE_FAILURES)?;
        of_address.count();
        of_account.count();
        Ok(())
    }

    fn find(&self, key: Key) -> Arc<Mutex<Failures>> {
        self.failures.get_with(key, || {
            Arc::new(Mutex::new(Failures {
                count: 0,
                last: Instant::now(),
            }))
        })
    }

    /// Removes the failures after a successful sign-in: those of the account, and one of the address, which may have many people.
    pub(super) fn forgive(&self, account: &str, address: &str) {
        self.failures.invalidate(&key(Some(account), address));
        if let Some(failures) = self.failures.get(&key(None, address)) {
            let mut failures = lock(&failures);
            failures.count = failures.count.saturating_sub(1);
        }
    }
}

impl Failures {
    /// The error is the time to wait.
    fn check(&self, free: u32) -> Result<(), Duration> {
        let left = (self.last + delay_after(self.count, free)).saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Ok(()),
            false => Err(left),
        }
    }

    fn count(&mut self) {
        self.count += 1;
        self.last = Instant::now();
    }
}

fn lock(failures: &Mutex<Failures>) -> MutexGuard<'_, Failures> {
    failures.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the delay after this many failures, of which the first ones are free. It begins with one second and doubles with each further
/// failure.
fn delay_after(failures: u32, free: u32) -> Duration {
    match failures.checked_sub(free) {
        None => Duration::ZERO,
        Some(more) => Duration::from_secs(1 << more.min(16)).min(LONGEST_DELAY),
    }
}

fn key(account: Option<&str>, address: &str) -> Key {
    let network = match address.parse() {
        Ok(IpAddr::V6(address)) => format!("{:?}", &address.segments()[..V6_NETWORK_SEGMENTS]),
        _ => address.to_owned(),
    };
    (account.map(str::to_owned), network)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_174_the_sixth_guess_waits_and_other_addresses_do_not() {
        let throttle = Throttle::default();
        for _ in 0..5 {
            assert_eq!(throttle.begin("ana", "10.0.0.1"), Ok(()));
        }
        assert!(throttle.begin("ana", "10.0.0.1").is_err());
        assert_eq!(throttle.begin("ana", "10.0.0.2"), Ok(()));
        assert_eq!(throttle.begin("bo", "10.0.0.1"), Ok(()));
        throttle.forgive("ana", "10.0.0.1");
        assert_eq!(throttle.begin("ana", "10.0.0.1"), Ok(()));
    }

    #[test]
    fn console_014_an_address_waits_after_thirty_failures_of_any_names_and_others_do_not() {
        let throttle = Throttle::default();
        throttle.begin("owner", "10.0.0.1").expect("the first");
        throttle.forgive("owner", "10.0.0.1");

        let guesses = (0..100).filter(|number| throttle.begin(&number.to_string(), "10.0.0.1").is_ok());

        assert_eq!(guesses.count(), 30);
        assert_eq!(throttle.begin("owner", "10.0.0.2"), Ok(()));
    }

    #[test]
    fn console_014_attempts_that_an_account_refuses_do_not_count_for_the_address() {
        let throttle = Throttle::default();
        let passed = (0..45).filter(|_| throttle.begin("ana", "10.0.0.1").is_ok());
        assert_eq!(passed.count(), 5);

        assert_eq!(throttle.begin("owner", "10.0.0.1"), Ok(()));
    }

    #[test]
    fn console_014_the_delay_doubles_and_has_an_end() {
        let seconds = |failures| delay_after(failures, FREE_FAILURES).as_secs();
        assert_eq!([4, 5, 6, 7].map(seconds), [0, 1, 2, 4]);
        assert_eq!(seconds(500), LONGEST_DELAY.as_secs());
    }

    #[test]
    fn console_014_addresses_of_one_ipv6_network_count_together() {
        assert_eq!(key(None, "2001:db8::1"), key(None, "2001:db8::2"));
        assert_ne!(key(None, "2001:db8::1"), key(None, "2001:db8:0:1::1"));
    }
}
