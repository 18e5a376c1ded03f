//! The part of the memory that PostgreSQL may take for statements with large bodies, where it is in the same control group.
//!
//! A body of 15 MB makes a session of PostgreSQL hold eight times as much, or fifty times as much if it becomes many values of a
//! `jsonb`. Statements whose bodies do not fit into the part together wait for each other. One that would not fit alone runs alone.

use std::sync::Arc;
use std::time::Duration;

use selvedge_limits::{ClientId, Turn, Turns};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long a statement waits for others.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many such statements one client may run at the same time; further ones wait behind them, and not before those of others.
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
    turns: Turns,
}

/// A client's turn, for a statement whose size is not known yet.
#[derive(Debug)]
pub struct DatabaseEntry {
    turn: Turn,
    part: Part,
}

/// A statement's part; given back when this is dropped.
#[derive(Debug)]
pub struct DatabaseTurn {
    _memory: OwnedSemaphorePermit,
    _turn: Turn,
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
            turns: Turns::new(AT_ONCE),
        }))
    }

    /// For a database whose memory is not ours to divide.
    pub fn unlimited() -> Self {
        Self(None)
    }

    /// Waits for the client's turn, before its statement is prepared: what waits for PostgreSQL takes memory here. `None` where nothing limits
    /// it.
    ///
    /// # Errors
    /// When the client's other statements take ten seconds.
    pub async fn enter(&self, client: ClientId) -> Result<Option<DatabaseEntry>, TurnTimeout> {
        let Some(part) = &self.0 else {
            return Ok(None);
        };
        let turn = timeout(PATIENCE, part.turns.wait(client)).await;
        Ok(Some(DatabaseEntry {
            turn: turn.map_err(|_| TurnTimeout)?,
            part: part.clone(),
        }))
    }
}

impl DatabaseEntry {
    /// Waits until PostgreSQL may take so many bytes.
    ///
    /// # Errors
    /// When others hold the part for ten seconds.
    pub async fn take(self, bytes: usize) -> Result<DatabaseTurn, TurnTimeout> {
        let units = u32::try_from(bytes / UNIT_BYTES)
            .unwrap_or(u32::MAX)
            .clamp(1, self.part.units);
        let memory = timeout(PATIENCE, Arc::clone(&self.part.free).acquire_many_owned(units)).await;
        // The semaphore is never closed.
        let memory = memory.ok().and_then(Result::ok).ok_or(TurnTimeout)?;
        Ok(DatabaseTurn {
            _memory: memory,
            _turn: self.turn,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn take(part: &DatabasePart, client: ClientId, units: usize) -> Result<DatabaseTurn, TurnTimeout> {
        let entry = part.enter(client).await?.expect("the part is limited");
        entry.take(units * UNIT_BYTES).await
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_statements_that_do_not_fit_together_run_one_after_the_other() {
        let part = DatabasePart::new(100 * UNIT_BYTES);
        let clients = [(); 3].map(|()| ClientId::of_connection(None));

        let first = take(&part, clients[0], 60).await.expect("free");
        let fits = take(&part, clients[1], 40).await.expect("it fits beside");
        assert_eq!(take(&part, clients[2], 1).await.err(), Some(TurnTimeout));
        drop(fits);
        assert_eq!(
            take(&part, clients[0], 1).await.err(),
            Some(TurnTimeout),
            "one for each client"
        );
        assert!(take(&part, clients[2], 1).await.is_ok());
        drop(first);

        let alone = take(&part, clients[0], 1000).await.expect("it runs alone");
        assert_eq!(take(&part, clients[1], 1).await.err(), Some(TurnTimeout));
        drop(alone);
        assert!(
            DatabasePart::unlimited()
                .enter(clients[0])
                .await
                .expect("no limit")
                .is_none()
        );
    }
}
