//! How much of something each client has taken.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::client::ClientId;

/// How much one client may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareLimit {
    /// The limit of each client.
    pub most: usize,
    /// The limit applies once all clients together would have more than this. Below it a single client may exceed `most`, because
    /// enough is left for the others. With 0 it always applies.
    pub counts_from: usize,
}

/// Counts what clients have taken, each up to the same limit. Cheap to clone; all clones count together.
#[derive(Debug, Clone)]
pub struct Shares {
    limit: Option<ShareLimit>,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    by_client: HashMap<ClientId, usize>,
    total: usize,
}

/// What a client has taken; given back when this is dropped.
#[derive(Debug)]
pub struct Share {
    client: ClientId,
    amount: usize,
    shares: Shares,
}

/// The client has taken all that it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareExceeded;

impl Shares {
    /// `most` is the limit of each client; `None` for no limit.
    pub fn new(most: Option<usize>) -> Self {
        Self::limited(most.map(|most| ShareLimit { most, counts_from: 0 }))
    }

    /// `None` for no limit.
    pub fn limited(limit: Option<ShareLimit>) -> Self {
        Self {
            limit,
            taken: Arc::default(),
        }
    }

    /// Takes an amount for a client. `None` where there is no limit, because nothing needs to be counted then.
    ///
    /// # Errors
    /// When the client would have more than the limit. It then has what it had before.
    pub fn take(&self, client: ClientId, amount: usize) -> Result<Option<Share>, ShareExceeded> {
        if self.limit.is_none() {
            return Ok(None);
        }
        self.count(client, amount)?;
        Ok(Some(Share {
            client,
            amount,
            shares: self.clone(),
        }))
    }

    /// Takes an amount for a client, whatever it has. `None` where there is no limit.
    pub fn take_beyond(&self, client: ClientId, amount: usize) -> Option<Share> {
        self.limit?;
        self.lock().add(client, amount);
        Some(Share {
            client,
            amount,
            shares: self.clone(),
        })
    }

    fn count(&self, client: ClientId, amount: usize) -> Result<(), ShareExceeded> {
        let mut taken = self.lock();
        let before = taken.by_client.get(&client).copied().unwrap_or(0);
        let after = before.checked_add(amount).ok_or(ShareExceeded)?;
        let is_plenty_left = |limit: ShareLimit| taken.total.saturating_add(amount) <= limit.counts_from;
        if self
            .limit
            .is_some_and(|limit| after > limit.most && !is_plenty_left(limit))
        {
            return Err(ShareExceeded);
        }
        taken.add(client, amount);
        Ok(())
    }

    fn give_back(&self, client: ClientId, amount: usize) {
        let mut taken = self.lock();
        taken.total = taken.total.saturating_sub(amount);
        if let Some(count) = taken.by_client.get_mut(&client) {
            *count = count.saturating_sub(amount);
            // Removed at zero, so that the map does not grow with every address ever seen.
            if *count == 0 {
                taken.by_client.remove(&client);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn add(&mut self, client: ClientId, amount: usize) {
        let count = self.by_client.entry(client).or_default();
        *count = count.saturating_add(amount);
        self.total = self.total.saturating_add(amount);
    }
}

impl Share {
    /// Whose it is.
    pub fn client(&self) -> ClientId {
        self.client
    }

    /// Takes more for the same client.
    ///
    /// # Errors
    /// When the client would have more than the limit. Nothing has changed then.
    pub fn grow(&mut self, amount: usize) -> Result<(), ShareExceeded> {
        self.shares.count(self.client, amount)?;
        self.amount += amount;
        Ok(())
    }

    /// Takes more for the same client, whatever it has.
    pub fn grow_beyond(&mut self, amount: usize) {
        if let Some(mut more) = self.shares.take_beyond(self.client, amount) {
            self.amount += std::mem::take(&mut more.amount);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shares.give_back(self.client, self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(address: &str) -> ClientId {
        ClientId::of_connection(Some(address.parse().expect("an address")))
    }

    #[test]
    fn gw_049_a_client_gets_no_more_than_its_share_and_others_get_theirs() {
        let shares = Shares::new(Some(3));
        let (one, other) = (client("10.0.0.1"), client("10.0.0.2"));

        let mut first = shares.take(one, 2).expect("room").expect("counted");
        assert_eq!(shares.take(one, 2).err(), Some(ShareExceeded));
        assert_eq!(first.grow(2), Err(ShareExceeded));
        assert_eq!(first.grow(1), Ok(()));
        assert!(shares.take(other, 3).is_ok());
        drop(first);

        assert!(shares.take(one, 3).is_ok());
        assert!(
            shares.lock().by_client.is_empty(),
            "clients without a share are forgotten"
        );
    }

    #[test]
    fn gw_049_a_client_may_have_more_than_its_share_while_there_is_plenty_for_others() {
        let shares = Shares::limited(Some(ShareLimit {
            most: 3,
            counts_from: 10,
        }));
        let (one, other) = (client("10.0.0.1"), client("10.0.0.2"));

        let mut much = shares.take(one, 9).expect("plenty").expect("counted");
        assert_eq!(
            much.grow(2),
            Err(ShareExceeded),
            "it would have more than what is for all"
        );
        assert_eq!(much.grow(1), Ok(()));
        let others = shares.take(other, 3).expect("its share").expect("counted");
        assert_eq!(shares.take(other, 1).err(), Some(ShareExceeded));
        drop(much);

        assert!(shares.take(other, 7).is_ok());
        drop(others);
        assert_eq!(shares.lock().total, 0);
    }

    #[test]
    fn without_a_limit_nothing_is_counted() {
        let shares = Shares::new(None);

        assert!(
            shares
                .take(client("10.0.0.1"), usize::MAX)
                .expect("no limit")
                .is_none()
        );
        assert!(shares.lock().by_client.is_empty());
    }
}
