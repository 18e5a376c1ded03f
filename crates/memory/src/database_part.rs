//! The part of the memory that PostgreSQL may take for statements with large bodies, where it is in the same control group.
//!
//! A body of 15 MB makes a session of PostgreSQL hold eight times as much, or fifty times as much if it becomes many values of a
//! `jsonb`. Statements whose bodies do not fit into the part together wait for each other. Of large ones a single one runs at a time, and counts as
//! three quarters of the part at most, so that small ones go on beside it. While half of the part is free, a client runs as many as fit; beyond
//! that it runs one at a time.

use std::sync::Arc;
use std::time::Duration;

use selvedge_limits::{ClientId, Turn, Turns};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// How long a statement waits for others.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a statement may run on whose client has left: the longest that the API's roles have (`statement_timeout` of `authenticated`).
const RUNS_ON: Duration = Duration::from_secs(8);
/// How many such statements one client may run at the same time where less than half of the part is free; further ones wait behind them, and
/// not before those of others.
const AT_ONCE: usize = 1;
/// The unit in which the part is divided.
const UNIT_BYTES: usize = 1024;

/// The part, of which statements with large bodies take theirs. Cheap to clone; all clones share it.
#[derive(Debug, Clone)]
pub struct DatabasePart(Option<Part>);

#[derive(Debug, Clone)]
struct Part {
    units: u32,
    free: Arc<Semaphore>,
    /// Taken by the large statement that runs or is the next one: others do not wait behind several of them.
    large: Arc<Semaphore>,
    turns: Turns,
}

/// A statement whose size is not known yet, with its client's turn where that is needed.
#[derive(Debug)]
pub struct DatabaseEntry {
    client: ClientId,
    turn: Option<Turn>,
    part: Part,
}

/// A statement's part; given back by [`Self::finish`]. When it is dropped without that, because the client has left, it is kept for as long as the
/// statement may still run: PostgreSQL goes on with it.
#[derive(Debug)]
pub struct DatabaseTurn(Option<Held>);

#[derive(Debug)]
struct Held {
    _memory: OwnedSemaphorePermit,
    _large: Option<OwnedSemaphorePermit>,
    _turn: Option<Turn>,
}

/// Other statements took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnTimeout;

impl DatabasePart {
    /// A part of so many bytes.
    pub fn new(bytes: usize) -> Self {
        let units = u32::try_from(bytes / UNIT_BYTES).unwrap_or(u32::MAX).max(1);
        // A semaphore has a largest number of permits.
        let permits = usize::try_from(units)
            .unwrap_or(usize::MAX)
            .min(Semaphore::MAX_PERMITS);
        Self(Some(Part {
            units,
            free: Arc::new(Semaphore::new(permits)),
            large: Arc::new(Semaphore::new(1)),
            turns: Turns::new(AT_ONCE),
        }))
    }

    /// For a database whose memory is not ours to divide.
    pub fn unlimited() -> Self {
        Self(None)
    }

    /// Waits for the client's turn, before its statement is prepared: what waits for PostgreSQL takes memory here. Without waiting while half of
    /// the part is free; `None` where nothing limits it.
    ///
    /// # Errors
    /// When the client's other statements take thirty seconds.
    pub async fn enter(&self, client: ClientId) -> Result<Option<DatabaseEntry>, TurnTimeout> {
        let Some(part) = &self.0 else {
            return Ok(None);
        };
        let turn = match part.has_half_left(0) {
            true => None,
            false => Some(part.wait_for_turn(client).await?),
        };
        Ok(Some(DatabaseEntry {
            client,
            turn,
            part: part.clone(),
        }))
    }
}

impl Part {
    /// Whether half of the part would be free beside a statement of so many units.
    fn has_half_left(&self, units: u32) -> bool {
        let free = u32::try_from(self.free.available_permits()).unwrap_or(u32::MAX);
        free.saturating_sub(units) >= self.units / 2
    }

    /// Whether a statement of so many units is one of those that run one at a time.
    fn is_large(&self, units: u32) -> bool {
        units > self.units / 4
    }

    async fn wait_for_turn(&self, client: ClientId) -> Result<Turn, TurnTimeout> {
        let turn = timeout(PATIENCE, self.turns.wait(client)).await;
        turn.map_err(|_| TurnTimeout)
    }
}

impl DatabaseEntry {
    /// Waits until PostgreSQL may take so many bytes.
    ///
    /// # Errors
    /// When others hold the part for thirty seconds.
    pub async fn take(self, bytes: usize) -> Result<DatabaseTurn, TurnTimeout> {
        let part = self.part;
        let most = (part.units - part.units / 4).max(1);
        let units = u32::try_from(bytes / UNIT_BYTES)
            .unwrap_or(u32::MAX)
            .clamp(1, most);
        let turn = match self.turn {
            None if !part.has_half_left(units) => Some(part.wait_for_turn(self.client).await?),
            turn => turn,
        };
        let large = match part.is_large(units) {
            true => Some(acquire(&part.large, 1).await?),
            false => None,
        };
        Ok(DatabaseTurn(Some(Held {
            _memory: acquire(&part.free, units).await?,
            _large: large,
            _turn: turn,
        })))
    }
}

impl DatabaseTurn {
    /// Gives the part back, once PostgreSQL has answered.
    pub fn finish(mut self) {
        self.0 = None;
    }
}

impl Drop for DatabaseTurn {
    fn drop(&mut self) {
        if let Some(held) = self.0.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(async move {
                sleep(RUNS_ON).await;
                drop(held);
            });
        }
    }
}

async fn acquire(semaphore: &Arc<Semaphore>, permits: u32) -> Result<OwnedSemaphorePermit, TurnTimeout> {
    let permit = timeout(PATIENCE, Arc::clone(semaphore).acquire_many_owned(permits)).await;
    // The semaphores are never closed.
    permit.ok().and_then(Result::ok).ok_or(TurnTimeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn take(part: &DatabasePart, client: ClientId, units: usize) -> Result<DatabaseTurn, TurnTimeout> {
        let entry = part.enter(client).await?.expect("the part is limited");
        entry.take(units * UNIT_BYTES).await
    }

    fn clients() -> [ClientId; 3] {
        [(); 3].map(|()| ClientId::of_connection(None))
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_statements_that_do_not_fit_together_run_one_after_the_other() {
        let part = DatabasePart::new(100 * UNIT_BYTES);
        let clients = clients();

        let first = take(&part, clients[0], 60).await.expect("free");
        let fits = take(&part, clients[1], 25).await.expect("it fits beside");
        assert_eq!(take(&part, clients[2], 20).await.err(), Some(TurnTimeout));
        fits.finish();
        assert!(take(&part, clients[2], 20).await.is_ok());
        first.finish();

        assert!(
            DatabasePart::unlimited()
                .enter(clients[0])
                .await
                .expect("no limit")
                .is_none()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_a_client_runs_several_statements_while_half_of_the_part_is_free() {
        let part = DatabasePart::new(100 * UNIT_BYTES);
        let [client, other, _] = clients();

        let mut running = Vec::new();
        for _ in 0..5 {
            running.push(take(&part, client, 10).await.expect("half is free"));
        }
        running.push(take(&part, client, 10).await.expect("its turn"));
        assert_eq!(
            take(&part, client, 10).await.err(),
            Some(TurnTimeout),
            "it waits behind itself"
        );
        assert!(take(&part, other, 10).await.is_ok(), "and nobody behind it");
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_a_client_that_leaves_does_not_give_back_what_its_statement_takes() {
        let part = DatabasePart::new(100 * UNIT_BYTES);
        let [client, other, _] = clients();

        drop(take(&part, client, 60).await.expect("free"));

        let early = timeout(Duration::from_secs(7), take(&part, other, 60)).await;
        assert!(early.is_err(), "the statement may still run");
        assert!(take(&part, other, 60).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_small_statements_pass_large_ones_that_wait() {
        let part = DatabasePart::new(100 * UNIT_BYTES);
        let [one, other, third] = clients();

        let runs = take(&part, one, 1000).await.expect("free");
        let mut waits = std::pin::pin!(take(&part, other, 1000));
        let passes = async {
            tokio::task::yield_now().await;
            take(&part, third, 25).await
        };
        tokio::select! {
            biased;
            _ = &mut waits => panic!("two large ones do not run together"),
            passed = passes => assert!(passed.is_ok()),
        }
        runs.finish();

        assert!(waits.await.is_ok());
    }
}
