//! A resource of one worker that its clients share: requests in progress, or bytes of responses that wait to be read.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::rc::Rc;

use selvedge_limits::network_of;
use smallvec::SmallVec;

use super::caller::Bearer;

/// Once half of a quota is in use, one client may hold at most the quota divided by this number.
const SHARES_PER_QUOTA: usize = 8;

/// A limit on something that is in use at the same time.
///
/// While less than half of it is in use, nothing is counted per client, so that normal traffic pays only for two additions.
/// Above that each client may use an eighth of the whole: neither one address nor one signed-in user, whose requests may
/// come from many addresses, can use it up.
#[derive(Debug)]
pub(super) struct Quota {
    most: usize,
    used: Cell<usize>,
    by_client: RefCell<HashMap<u64, usize>>,
    /// Clients are kept as hashes, with a random seed, so that chosen addresses cannot collide.
    hasher: RandomState,
}

/// The client of a request: its network, and its user if signed in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Client<'a> {
    pub(super) address: IpAddr,
    pub(super) bearer: &'a Bearer,
}

/// Why a quota refuses more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exceeded {
    /// The quota is used up.
    Quota,
    /// The client has as much as one client may have while others wait.
    Share,
}

/// A used amount; returned when it is dropped.
#[derive(Debug)]
pub(super) struct Usage {
    quota: Rc<Quota>,
    amount: usize,
    /// The clients for whom it is counted; none if it was taken while there was enough.
    counted_for: SmallVec<[u64; 2]>,
}

impl Quota {
    pub(super) fn new(most: usize) -> Rc<Self> {
        Rc::new(Self {
            most,
            used: Cell::new(0),
            by_client: RefCell::default(),
            hasher: RandomState::new(),
        })
    }

    /// Whether any of it is in use.
    pub(super) fn is_in_use(&self) -> bool {
        self.used.get() > 0
    }

    /// Takes an amount. One that is larger than the whole quota is granted while nothing else is in use.
    pub(super) fn take(self: &Rc<Self>, amount: usize, client: Client<'_>) -> Result<Usage, Exceeded> {
        let used = self.used.get();
        let after = used.saturating_add(amount);
        if after > self.most && used > 0 {
            return Err(Exceeded::Quota);
        }
        if after > self.most / 2 && used > 0 {
            self.check_share(amount, client)?;
        }
        Ok(self.take_unchecked(amount, client))
    }

    /// Takes an amount that is in use already, whatever the limits are.
    pub(super) fn take_unchecked(self: &Rc<Self>, amount: usize, client: Client<'_>) -> Usage {
        let used = self.used.get();
        let after = used.saturating_add(amount);
        self.used.set(after);
        let mut counted_for = SmallVec::new();
        if after > self.most / 2 && used > 0 {
            counted_for = self.keys(client);
            let mut by_client = self.by_client.borrow_mut();
            for key in &counted_for {
                *by_client.entry(*key).or_default() += amount;
            }
        }
        Usage {
            quota: Rc::clone(self),
            amount,
            counted_for,
        }
    }

    /// Refuses a client that would have more than its share with this amount. Half of the quota is free for all.
    pub(super) fn check_share(&self, amount: usize, client: Client<'_>) -> Result<(), Exceeded> {
        if self.used.get() <= self.most / 2 - (self.most / 2).min(amount) {
            return Ok(());
        }
        let by_client = self.by_client.borrow();
        let share = self.most / SHARES_PER_QUOTA;
        let has_room = |key: &u64| {
            let held = by_client.get(key).copied().unwrap_or(0);
            held == 0 || held.saturating_add(amount) <= share
        };
        if self.keys(client).iter().all(has_room) {
            Ok(())
        } else {
            Err(Exceeded::Share)
        }
    }

    fn keys(&self, client: Client<'_>) -> SmallVec<[u64; 2]> {
        let mut keys = SmallVec::new();
        keys.push(self.hasher.hash_one(network_of(client.address)));
        if let Bearer::Valid(claims) = client.bearer
            && let Some(user) = claims.subject()
        {
            keys.push(self.hasher.hash_one(user));
        }
        keys
    }
}

impl Usage {
    /// Returns a part of the amount.
    pub(super) fn give_back(&mut self, amount: usize) {
        let amount = amount.min(self.amount);
        self.amount -= amount;
        self.quota.used.set(self.quota.used.get() - amount);
        if self.counted_for.is_empty() {
            return;
        }
        let mut by_client = self.quota.by_client.borrow_mut();
        for key in &self.counted_for {
            if let Some(held) = by_client.get_mut(key) {
                *held -= amount;
                // Removed at zero, so that the map does not grow with every client ever seen.
                if *held == 0 {
                    by_client.remove(key);
                }
            }
        }
    }
}

impl Drop for Usage {
    fn drop(&mut self) {
        self.give_back(self.amount);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use selvedge_token::Claims;
    use serde_json::json;

    use super::*;

    const NO_CLIENT: Bearer = Bearer::None;

    fn from(address: &str) -> Client<'static> {
        Client {
            address: address.parse().expect("an address"),
            bearer: &NO_CLIENT,
        }
    }

    fn take(quota: &Rc<Quota>, count: usize, client: Client<'_>) -> (Vec<Usage>, Option<Exceeded>) {
        let mut taken = Vec::new();
        for _ in 0..count {
            match quota.take(1, client) {
                Ok(usage) => taken.push(usage),
                Err(exceeded) => return (taken, Some(exceeded)),
            }
        }
        (taken, None)
    }

    #[test]
    fn gw_049_one_address_cannot_use_up_a_quota() {
        let quota = Quota::new(80);

        let (greedy, refused) = take(&quota, 80, from("10.0.0.1"));
        assert_eq!((greedy.len(), refused), (50, Some(Exceeded::Share)));
        let (others, refused) = take(&quota, 10, from("10.0.0.2"));
        assert_eq!((others.len(), refused), (10, None));

        let (rest, refused) = take(&quota, 11, from("10.0.0.2"));
        assert_eq!((rest.len(), refused), (0, Some(Exceeded::Share)));
        let filled: Vec<_> = (3..5)
            .map(|last| take(&quota, 10, from(&format!("10.0.0.{last}"))))
            .collect();
        assert!(
            filled
                .iter()
                .all(|(taken, refused)| taken.len() == 10 && refused.is_none())
        );
        assert_eq!(take(&quota, 1, from("10.0.0.9")).1, Some(Exceeded::Quota));

        drop((greedy, others, filled));
        assert_eq!(quota.used.get(), 0);
        assert!(quota.by_client.borrow().is_empty(), "clients are forgotten");
    }

    #[test]
    fn gw_049_a_user_has_one_share_from_all_addresses() {
        let quota = Quota::new(80);
        let _half = take(&quota, 40, from("10.0.0.1"));
        let claims = serde_json::from_value(json!({ "sub": "a", "role": "authenticated" })).expect("claims");
        let bearer = Bearer::Valid(Arc::new(Claims::new(claims)));
        let user = |last: usize| Client {
            address: format!("10.0.1.{last}").parse().expect("an address"),
            bearer: &bearer,
        };

        let taken: Vec<_> = (0..20).map(|last| quota.take(1, user(last))).collect();

        assert_eq!(taken.iter().filter(|taken| taken.is_ok()).count(), 10);
    }

    #[test]
    fn gw_049_an_amount_above_the_quota_is_granted_alone_and_returned_in_parts() {
        let quota = Quota::new(100);

        let mut large = quota.take(500, from("10.0.0.1")).expect("alone");
        assert_eq!(quota.take(1, from("10.0.0.2")).err(), Some(Exceeded::Quota));
        large.give_back(420);
        assert!(quota.take(10, from("10.0.0.2")).is_ok());
        drop(large);

        assert_eq!(quota.used.get(), 0);
    }
}
