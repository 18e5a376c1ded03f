//! Turns at something of which there is little, such as a few database connections: a client waits behind itself, not others behind it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::client::ClientId;

/// Lets each client do at most a few things at a time. Cheap to clone; all clones count together.
#[derive(Debug, Clone)]
pub struct Turns {
    at_once: usize,
    waiting: Arc<Mutex<HashMap<ClientId, Queue>>>,
}

#[derive(Debug)]
struct Queue {
    turns: Arc<Semaphore>,
    /// How many have a turn or wait for one.
    users: usize,
}

/// A client's turn, which ends when this is dropped.
#[derive(Debug)]
pub struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
    _user: User,
}

/// Somebody who has a turn or waits for one. A guard, because a wait can be given up at any time.
#[derive(Debug)]
struct User {
    client: ClientId,
    turns: Turns,
}

impl Turns {
    /// `at_once` is how many turns a client may have at the same time.
    pub fn new(at_once: usize) -> Self {
        Self {
            at_once: at_once.max(1),
            waiting: Arc::default(),
        }
    }

    /// Waits for a turn of the client, behind those that it asked for before.
    pub async fn wait(&self, client: ClientId) -> Turn {
        let (turns, user) = self.enter(client);
        Turn {
            // Fails only for a closed semaphore, and none is ever closed.
            _permit: turns.acquire_owned().await.ok(),
            _user: user,
        }
    }

    fn enter(&self, client: ClientId) -> (Arc<Semaphore>, User) {
        let mut waiting = self.lock();
        let queue = waiting.entry(client).or_insert_with(|| Queue {
            turns: Arc::new(Semaphore::new(self.at_once)),
            users: 0,
        });
        queue.users += 1;
        let user = User {
            client,
            turns: self.clone(),
        };
        (Arc::clone(&queue.turns), user)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClientId, Queue>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let mut waiting = self.turns.lock();
        if let Some(queue) = waiting.get_mut(&self.client) {
            queue.users -= 1;
            if queue.users == 0 {
                waiting.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn is_ready(wait: Pin<&mut impl Future>) -> bool {
        wait.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_client_waits_behind_itself_and_nobody_behind_it() {
        let turns = Turns::new(1);
        let (one, other) = (ClientId::of_connection(None), ClientId::of_connection(None));
        let mut first = Box::pin(turns.wait(one));
        let mut second = pin!(turns.wait(one));
        let mut of_other = pin!(turns.wait(other));

        let Poll::Ready(turn) = first.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("nobody is before it");
        };
        assert!(!is_ready(second.as_mut()));
        assert!(is_ready(of_other.as_mut()));
        drop(turn);

        assert!(is_ready(second.as_mut()));
    }

    #[test]
    fn a_client_that_gave_up_waiting_is_forgotten() {
        let turns = Turns::new(1);
        let client = ClientId::of_connection(None);
        let mut first = pin!(turns.wait(client));
        let Poll::Ready(turn) = first.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("nobody is before it");
        };
        {
            let mut second = pin!(turns.wait(client));
            assert!(!is_ready(second.as_mut()));
        }
        drop(turn);

        assert!(turns.lock().is_empty());
    }
}
