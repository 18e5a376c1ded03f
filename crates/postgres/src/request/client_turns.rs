//! Keeps the requests of one client from filling the connections that all clients share.
//!
//! What is sent to PostgreSQL is executed in order, so a request waits for everything that was sent before it on its connection. A client
//! that sends more than others therefore waits behind itself, and not others behind it.

use std::cell::Cell;
use std::time::{Duration, Instant};

use selvedge_limits::{ClientId, Turn, Turns};

/// How many transactions of one client may be in flight on the shared connections of a worker while there are other clients. They keep all
/// of its connections busy; more would only wait in PostgreSQL's sockets.
const AT_ONCE: usize = 8;

/// How long a client is remembered. A client that asks every few seconds finds the turns of the others limited, too.
const MEMORY: Duration = Duration::from_secs(10);

/// The turns of the clients of one worker.
#[derive(Debug)]
pub(super) struct ClientTurns {
    turns: Turns,
    /// Who has sent the last request, and when.
    last: Cell<Option<(ClientId, Instant)>>,
    /// Until when there is more than one client.
    several_until: Cell<Option<Instant>>,
}

impl Default for ClientTurns {
    fn default() -> Self {
        Self {
            turns: Turns::new(AT_ONCE),
            last: Cell::default(),
            several_until: Cell::default(),
        }
    }
}

impl ClientTurns {
    /// Waits until the client has fewer than [`AT_ONCE`] transactions in flight.
    pub(super) async fn wait(&self, client: ClientId) -> Turn {
        self.turns.wait(client).await
    }

    /// Notes a request of a client, and returns whether there are others beside it. A client that is alone needs no turn.
    pub(super) fn has_others(&self, client: ClientId, now: Instant) -> bool {
        let last = self.last.replace(Some((client, now)));
        if last.is_some_and(|(last, at)| last != client && now < at + MEMORY) {
            self.several_until.set(Some(now + MEMORY));
            return true;
        }
        self.several_until.get().is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn gw_049_a_client_waits_behind_itself_while_there_are_others() {
        let clients = ClientTurns::default();
        let (one, other) = (ClientId::of_connection(None), ClientId::of_connection(None));
        let now = Instant::now();
        let take = |client| {
            assert!(clients.has_others(client, now));
            clients.wait(client).now_or_never()
        };

        assert!((0..100).all(|_| !clients.has_others(one, now)), "it is alone");
        let of_other = take(other).expect("a turn");
        let mut taken: Vec<_> = (0..AT_ONCE).map(|_| take(one).expect("a turn")).collect();
        assert!(take(one).is_none(), "it waits");
        let second_of_other = take(other).expect("another turn");
        taken.pop();
        assert!(take(one).is_some());

        drop((of_other, second_of_other, taken));
        let later = now + MEMORY * 2;
        assert!(!clients.has_others(other, later), "it is alone again");
    }
}
