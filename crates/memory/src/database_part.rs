//! The part of the memory that PostgreSQL may take for statements with large bodies or results, where it is in the same control group.
//!
//! A body of 15 MB makes a session of PostgreSQL hold eight times as much, or fifty times as much if it becomes many values of a
//! `jsonb`; a result that PostgreSQL writes in one piece makes it hold up to nine times as much. Statements that do not fit into the part together
//! wait for each other. Of large ones a single one runs at a time, and counts as three quarters of the part at most, so that small ones go on
//! beside it. While half of the part is free, a client runs as many as fit; beyond that it runs one at a time.
//!
//! What is only guessed to be large is given back after two seconds but for a rest: a statement that computes or waits for so long would keep
//! others from the part, and has often no large result. As a guess may be far too low, one client runs only a few such statements at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selvedge_limits::{ClientId, Turn, Turns};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout_at};

/// How long a statement waits for others.
const PATIENCE: Duration = Duration::from_secs(30);
/// What a statement counts as of which nothing is known: this, or a third of the part if that is less.
const UNKNOWN_BYTES: usize = 64 * 1024 * 1024;
/// What a statement may take although less was guessed. Measured: 127 MB for a result of 14 MB whose nulls are left out.
const GUESSED_BYTES: usize = 128 * 1024 * 1024;
/// How many statements with a guessed size one client may run at a time, however much of the part is free.
const GUESSED_AT_ONCE: usize = 2;
/// How many such statements one client may run at the same time where less than half of the part is free; further ones wait behind them, and
/// not before those of others.
const AT_ONCE: usize = 1;
/// After this time a statement gives back most of what it was only guessed to need.
const GUESSED_FOR: Duration = Duration::from_secs(2);
/// What it keeps afterwards is what it had, divided by this number.
const REST: usize = 8;
/// The bytes of the part, divided by this number, are how many bytes of statements' texts a session may keep prepared.
const STATEMENTS_OF_PART: usize = 2048;
/// What a session of PostgreSQL may hold for statements that are too small to be counted. A body of 250 kB with 83 000 values makes it 16 MB.
const SESSION_BYTES: usize = 12 * 1024 * 1024;
/// How many sessions a client may use for uncounted bodies in any case.
const SESSIONS_AT_ONCE: usize = 2;
/// A client may use this part of the sessions (a quarter) for uncounted bodies, because each takes its session for long and others need one, too.
const SHARES_OF_SESSIONS: usize = 4;
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
    /// The turns of statements whose size is guessed.
    guesses: Turns,
    /// The turns of statements with bodies that are too small to be counted.
    sessions: Turns,
}

/// A statement whose size is not known yet, with its client's turn where that is needed.
#[derive(Debug)]
pub struct DatabaseEntry {
    client: ClientId,
    turn: Option<Turn>,
    part: Part,
    /// When it has waited long enough.
    deadline: Instant,
}

/// A statement's part, which is given back when all clones are dropped. Whoever sends the statement keeps one until PostgreSQL has answered, as
/// PostgreSQL goes on when the client has left.
#[derive(Debug, Clone)]
pub struct DatabaseTurn {
    held: Arc<Mutex<Held>>,
}

#[derive(Debug)]
struct Held {
    memory: OwnedSemaphorePermit,
    _large: Option<OwnedSemaphorePermit>,
    turn: Option<Turn>,
    /// Its turn among the client's statements whose size is guessed.
    guess: Option<Turn>,
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
            guesses: Turns::new((bytes / GUESSED_BYTES).max(GUESSED_AT_ONCE)),
            sessions: Turns::new((bytes / SESSION_BYTES / SHARES_OF_SESSIONS).max(SESSIONS_AT_ONCE)),
        }))
    }

    /// For a database whose memory is not ours to divide.
    pub fn unlimited() -> Self {
        Self(None)
    }

    /// Whether anything is limited.
    pub fn is_limited(&self) -> bool {
        self.0.is_some()
    }

    /// How many sessions may serve requests at the same time: so many that what all of them hold uncounted fits into the part. `None` without a limit.
    pub fn most_sessions(&self) -> Option<usize> {
        Some(self.bytes()? / SESSION_BYTES)
    }

    /// How many bytes of statements a session may keep prepared: PostgreSQL takes up to 45 times as much for their plans, which is a quarter of what
    /// a session holds uncounted. `None` without a limit.
    pub fn most_statement_bytes(&self) -> Option<usize> {
        Some(self.bytes()? / STATEMENTS_OF_PART)
    }

    fn bytes(&self) -> Option<usize> {
        let units = usize::try_from(self.0.as_ref()?.units).unwrap_or(usize::MAX);
        Some(units.saturating_mul(UNIT_BYTES))
    }

    /// Waits until the client may use one more session for a body of 64 KiB and more, which takes its session for long. `None` without a limit.
    ///
    /// # Errors
    /// When the client's other statements take thirty seconds.
    pub async fn wait_for_session(&self, client: ClientId) -> Result<Option<Turn>, TurnTimeout> {
        let Some(part) = &self.0 else { return Ok(None) };
        let turn = timeout_at(Instant::now() + PATIENCE, part.sessions.wait(client)).await;
        turn.map(Some).map_err(|_| TurnTimeout)
    }

    /// Waits for the client's turn, before its statement is prepared: what waits for PostgreSQL takes memory here. Without waiting while half of
    /// the part is free; `None` where nothing limits it.
    ///
    /// # Errors
    /// When the client's other statements take thirty seconds.
    pub async fn enter(&self, client: ClientId) -> Result<Option<DatabaseEntry>, TurnTimeout> {
        let Some(mut entry) = self.enter_at_once(client) else {
            return Ok(None);
        };
        if !entry.part.has_half_left(0) {
            entry.turn = Some(entry.part.wait_for_turn(client, entry.deadline).await?);
        }
        Ok(Some(entry))
    }

    /// As [`Self::enter`] for a statement that takes no memory here while it waits: it waits for the client's turn only where its size says so.
    pub fn enter_at_once(&self, client: ClientId) -> Option<DatabaseEntry> {
        self.0.as_ref().map(|part| DatabaseEntry {
            client,
            turn: None,
            part: part.clone(),
            deadline: Instant::now() + PATIENCE,
        })
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
        units > self.units / 8 * 3
    }

    async fn wait_for_turn(&self, client: ClientId, deadline: Instant) -> Result<Turn, TurnTimeout> {
        let turn = timeout_at(deadline, self.turns.wait(client)).await;
        turn.map_err(|_| TurnTimeout)
    }
}

impl DatabaseEntry {
    /// Waits until PostgreSQL may take what a statement is taken to need of which nothing is known.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub async fn take_unknown(self) -> Result<DatabaseTurn, TurnTimeout> {
        let bytes = self.guess_unknown();
        self.take_guessed(bytes).await
    }

    /// Waits until PostgreSQL may take what a statement is taken to need whose results were small, so far, with other values.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub async fn take_unproven(self) -> Result<DatabaseTurn, TurnTimeout> {
        let bytes = self.guess_unknown() / 2;
        self.take_guessed(bytes).await
    }

    /// Waits until PostgreSQL may take the memory for rows with lists in lists whose size is unknown: half of the part, at most 128 MiB. On a small part
    /// such a statement counts as large, so that one runs at a time, because a process may take more than this.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub async fn take_unknown_row(self) -> Result<DatabaseTurn, TurnTimeout> {
        let half = usize::try_from(self.part.units / 2).unwrap_or(usize::MAX);
        let bytes = half.saturating_mul(UNIT_BYTES).min(GUESSED_BYTES);
        self.take_guessed(bytes).await
    }

    fn guess_unknown(&self) -> usize {
        let third = usize::try_from(self.part.units / 3).unwrap_or(usize::MAX);
        third.saturating_mul(UNIT_BYTES).min(UNKNOWN_BYTES)
    }

    /// Takes bytes of which most are given back after a while.
    async fn take_guessed(self, bytes: usize) -> Result<DatabaseTurn, TurnTimeout> {
        let part = self.part.clone();
        let guess = timeout_at(self.deadline, part.guesses.wait(self.client)).await;
        let guess = guess.map_err(|_| TurnTimeout)?;
        let taken = self.take(bytes).await?;
        taken.lock().guess = Some(guess);
        let rest = bytes / UNIT_BYTES / REST;
        let held = Arc::downgrade(&taken.held);
        tokio::spawn(async move {
            loop {
                sleep(GUESSED_FOR).await;
                let Some(held) = held.upgrade() else { return };
                let is_done = DatabaseTurn { held }.lock().shrink(&part, rest);
                if is_done {
                    return;
                }
            }
        });
        Ok(taken)
    }

    /// Waits until PostgreSQL may take so many bytes.
    ///
    /// # Errors
    /// When it and [`DatabasePart::enter`] together have waited for thirty seconds.
    pub async fn take(self, bytes: usize) -> Result<DatabaseTurn, TurnTimeout> {
        let (part, deadline) = (self.part, self.deadline);
        let most = (part.units - part.units / 4).max(1);
        let units = u32::try_from(bytes / UNIT_BYTES)
            .unwrap_or(u32::MAX)
            .clamp(1, most);
        let turn = match self.turn {
            None if !part.has_half_left(units) => Some(part.wait_for_turn(self.client, deadline).await?),
            turn => turn,
        };
        let large = match part.is_large(units) {
            true => Some(acquire(&part.large, 1, deadline).await?),
            false => None,
        };
        let held = Held {
            memory: acquire(&part.free, units, deadline).await?,
            _large: large,
            turn,
            guess: None,
        };
        Ok(DatabaseTurn {
            held: Arc::new(Mutex::new(held)),
        })
    }
}

impl DatabaseTurn {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Gives back all but a rest, and the client's turn while half of the part is free. Returns whether it has no turn.
    fn shrink(&mut self, part: &Part, rest: usize) -> bool {
        let given = self.memory.num_permits().saturating_sub(rest);
        drop(self.memory.split(given));
        self.guess = None;
        if part.has_half_left(0) {
            self.turn = None;
        }
        self.turn.is_none()
    }
}

async fn acquire(
    semaphore: &Arc<Semaphore>,
    permits: u32,
    deadline: Instant,
) -> Result<OwnedSemaphorePermit, TurnTimeout> {
    let permit = timeout_at(deadline, Arc::clone(semaphore).acquire_many_owned(permits)).await;
    // The semaphores are never closed.
    permit.ok().and_then(Result::ok).ok_or(TurnTimeout)
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

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
        drop(fits);
        assert!(take(&part, clients[2], 20).await.is_ok());
        drop(first);

        assert!(
            DatabasePart::unlimited()
                .enter(clients[0])
                .await
                .expect("no limit")
                .is_none()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_a_client_uses_a_quarter_of_the_sessions_for_bodies_that_are_not_counted() {
        for (bytes, most) in [(64 << 20, 2), (128 << 20, 2), (256 << 20, 5)] {
            let part = DatabasePart::new(bytes);
            let [client, other, _] = clients();
            let mut turns = Vec::new();
            for _ in 0..most {
                turns.push(part.wait_for_session(client).await.expect("free"));
            }
            assert_eq!(part.wait_for_session(client).await.err(), Some(TurnTimeout));
            assert!(
                part.wait_for_session(other)
                    .await
                    .is_ok_and(|turn| turn.is_some())
            );
            turns.pop();
            assert!(part.wait_for_session(client).await.is_ok(), "{bytes}");
        }
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
    async fn gw_049_a_part_is_taken_until_the_last_of_those_who_hold_it_gives_it_back() {
        let part = DatabasePart::new(100 * UNIT_BYTES);
        let [client, other, _] = clients();
        let of_request = take(&part, client, 60).await.expect("free");
        let of_statement = of_request.clone();

        drop(of_request);
        assert_eq!(
            take(&part, other, 60).await.err(),
            Some(TurnTimeout),
            "it runs on"
        );
        drop(of_statement);

        assert!(take(&part, other, 60).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_all_waits_of_a_statement_together_take_thirty_seconds() {
        let part = DatabasePart::new(100 * UNIT_BYTES);
        let [one, other, _] = clients();
        let _large = take(&part, one, 1000).await.expect("free");
        let turn = part.enter(other).await.expect("its turn");
        let began = Instant::now();

        let end_turn = async {
            sleep(Duration::from_secs(20)).await;
            drop(turn);
        };
        let (waited, ()) = tokio::join!(take(&part, other, 1000), end_turn);

        assert!(waited.is_err());
        assert_eq!(began.elapsed().as_secs(), 30);
    }

    /// How many statements by different clients run at once.
    async fn count_at_once(
        part: &DatabasePart,
        take: impl AsyncFn(DatabaseEntry) -> Result<DatabaseTurn, TurnTimeout>,
    ) -> usize {
        let mut running = Vec::new();
        loop {
            let client = ClientId::of_connection(None);
            let entry = part.enter_at_once(client).expect("the part is limited");
            match timeout(Duration::from_millis(1), take(entry)).await {
                Ok(taken) => running.push(taken.expect("it fits")),
                Err(_) => return running.len(),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_few_statements_of_which_little_is_known_fill_a_small_part() {
        for (bytes, unknown, unproven, rows) in
            [(128 << 20, 3, 6, 1), (256 << 20, 4, 8, 1), (1 << 30, 16, 32, 8)]
        {
            let part = DatabasePart::new(bytes);
            let counted = count_at_once(&part, DatabaseEntry::take_unknown).await;
            assert_eq!(counted, unknown, "{bytes}");
            let counted = count_at_once(&part, DatabaseEntry::take_unproven).await;
            assert_eq!(counted, unproven, "{bytes}");
            let counted = count_at_once(&part, DatabaseEntry::take_unknown_row).await;
            assert_eq!(counted, rows, "{bytes}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_slow_statements_of_which_nothing_is_known_stop_neither_others_nor_their_client() {
        let part = DatabasePart::new(64 << 20);
        let [client, other, _] = clients();
        let take_unknown = async |client: ClientId| {
            let entry = part.enter_at_once(client).expect("the part is limited");
            let began = Instant::now();
            let taken = entry.take_unknown().await;
            (taken.expect("its part"), began.elapsed())
        };
        let mut slow = Vec::new();
        for _ in 0..6 {
            slow.push(take_unknown(client).await.0);
        }
        let (_third, waited) = take_unknown(other).await;
        assert!(waited < 2 * GUESSED_FOR, "{waited:?}");

        sleep(3 * GUESSED_FOR).await;

        for client in [client, other] {
            let (_taken, waited) = take_unknown(client).await;
            assert_eq!(waited, Duration::ZERO);
        }
        // One client cannot take all of the part by slow ones either.
        for _ in 0..40 {
            let entry = part.enter_at_once(client).expect("the part is limited");
            slow.extend(entry.take_unknown().await.ok());
        }
        let (_taken, waited) = take_unknown(other).await;
        assert!(waited < 2 * GUESSED_FOR, "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn gw_049_a_client_runs_few_statements_whose_size_is_guessed_at_a_time() {
        for (bytes, most) in [(64 << 20, 2), (256 << 20, 2), (1 << 30, 8)] {
            let part = DatabasePart::new(bytes);
            let [client, other, _] = clients();
            let take_unproven = async |client: ClientId| {
                let entry = part.enter_at_once(client).expect("the part is limited");
                timeout(Duration::from_millis(1), entry.take_unproven()).await
            };
            let mut running = Vec::new();
            while let Ok(taken) = take_unproven(client).await {
                running.push(taken.expect("it fits"));
            }
            assert_eq!(running.len(), most, "{bytes}");
            assert!(take_unproven(other).await.is_ok(), "another client");
            running.pop();
            assert!(take_unproven(client).await.is_ok(), "one has ended");
        }
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
        drop(runs);

        assert!(waits.await.is_ok());
    }
}
