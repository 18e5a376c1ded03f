//! What PostgreSQL takes for results that it writes in one piece, where its memory is limited: counts, rows that were written, values of
//! functions, and single rows with lists in lists.

use std::hash::{BuildHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix_web::HttpRequest;
use lru::{DefaultHasher, LruCache};
use selvedge_gateway::Caller;
use selvedge_memory::{DatabasePart, DatabaseTurn, MemoryBudget};
use selvedge_postgres::{JsonReadResult, Param, SqlStatement, TransactionResult};

use crate::error::RestError;
use crate::identity::Identity;
use crate::plan::QueryPlan;
use crate::sql::BODY_COLUMN;

/// How many copies of a result a session of PostgreSQL holds at once when it writes it in one piece: the buffer while it grows, the value, and
/// the message. Measured with a result of 14 MB: 59 MB, and 127 MB for one without nulls.
const COPIES: usize = 9;
/// Smaller results need no part of the memory.
const LARGE_RESULT: usize = 256 * 1024;
/// A row is taken to be at least this part of its response (a sixteenth), because one row may be much larger than the others.
const COUNTED_ROWS: usize = 16;
/// How many statements are remembered; the least recently used is forgotten first.
const REMEMBERED: usize = 4096;
/// A statement's result is taken to be as large as the largest of this time.
const LARGEST_OF: Duration = Duration::from_secs(600);
/// The class of errors about memory and disks.
const OUT_OF_RESOURCES: &str = "53";

/// Remembers how large the results of statements were. All workers share it.
pub(crate) struct ResultSizes {
    sizes: Mutex<Sizes>,
    hasher: DefaultHasher,
}

/// The sizes of results by the hashes of a [`StatementKey`].
struct Sizes {
    by_text: LruCache<u64, Size>,
    by_run: LruCache<u64, Size>,
}

struct Size {
    bytes: usize,
    measured: Instant,
}

/// Which statement it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatementKey {
    /// A hash of its text.
    text: u64,
    /// A hash of its text, its values and its caller, on all of which the size of the result depends.
    run: u64,
}

/// How large the result of a statement is taken to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Estimate {
    /// It was small for the same values and the same caller.
    Small,
    /// It was small for other values, or nothing was sent yet because it failed.
    Unproven,
    Unknown,
    Bytes(usize),
}

impl Default for ResultSizes {
    fn default() -> Self {
        let remembered = NonZeroUsize::new(REMEMBERED).unwrap_or(NonZeroUsize::MIN);
        Self {
            sizes: Mutex::new(Sizes {
                by_text: LruCache::new(remembered),
                by_run: LruCache::new(remembered),
            }),
            hasher: DefaultHasher::default(),
        }
    }
}

impl ResultSizes {
    /// The key of a statement for a caller with this role and these claims.
    fn key_of(&self, statement: &SqlStatement, caller: (&str, &str)) -> StatementKey {
        let text = self.hasher.hash_one(&statement.text);
        let mut run = self.hasher.build_hasher();
        (text, caller).hash(&mut run);
        for param in &statement.params {
            let value = match param {
                Param::Null => None,
                Param::Text(value) | Param::Binary(value) => Some(value),
            };
            value.hash(&mut run);
        }
        StatementKey {
            text,
            run: run.finish(),
        }
    }

    fn estimate(&self, key: StatementKey) -> Estimate {
        let mut sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        let of_text = sizes.by_text.get(&key.text).map(|size| size.bytes);
        match (sizes.by_run.get(&key.run), of_text) {
            (Some(size), _) if size.bytes < LARGE_RESULT => Estimate::Small,
            (Some(size), _) => Estimate::Bytes(size.bytes),
            (None, Some(bytes)) if bytes < LARGE_RESULT => Estimate::Unproven,
            (None, Some(bytes)) => Estimate::Bytes(bytes),
            (None, None) => Estimate::Unknown,
        }
    }

    /// Stores the size of a result; none for a statement that has failed, of which only its text is remembered.
    fn record(&self, key: StatementKey, bytes: Option<usize>, now: Instant) {
        let mut sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        keep_largest(&mut sizes.by_text, key.text, bytes.unwrap_or(0), now);
        if let Some(bytes) = bytes {
            keep_largest(&mut sizes.by_run, key.run, bytes, now);
        }
    }
}

/// Stores a size, unless a larger one was measured lately.
fn keep_largest(sizes: &mut LruCache<u64, Size>, key: u64, bytes: usize, now: Instant) {
    let is_larger =
        |known: &Size| known.bytes > bytes && now.saturating_duration_since(known.measured) < LARGEST_OF;
    if !sizes.get(&key).is_some_and(is_larger) {
        let measured = now;
        sizes.put(key, Size { bytes, measured });
    }
}

/// The part of the memory from which a request's result takes what PostgreSQL needs to write it.
pub(crate) struct ResultMemory<'a> {
    database: &'a DatabasePart,
    sizes: &'a ResultSizes,
    identity: &'a Identity,
    /// Whose client is found out when that is needed.
    http: &'a HttpRequest,
}

impl<'a> ResultMemory<'a> {
    /// `None` where nothing is limited, and for a request that has a part already, for its large body.
    pub(crate) fn for_request(
        (memory, sizes): (&'a MemoryBudget, &'a ResultSizes),
        of_body: Option<&DatabaseTurn>,
        identity: &'a Identity,
        http: &'a HttpRequest,
    ) -> Option<Self> {
        let database = memory.database();
        (database.is_limited() && of_body.is_none()).then_some(Self {
            database,
            sizes,
            identity,
            http,
        })
    }

    /// The key under which the size of a statement's result is remembered.
    pub(crate) fn key_of(&self, statement: &SqlStatement) -> StatementKey {
        let caller = (self.identity.role(), self.identity.claims());
        self.sizes.key_of(statement, caller)
    }

    /// Waits until PostgreSQL may take what a statement needs. `None` for one whose result is small.
    ///
    /// # Errors
    /// 503 when others take too long.
    pub(crate) async fn wait_for(
        &self,
        key: StatementKey,
        plan: &QueryPlan,
    ) -> Result<Option<DatabaseTurn>, RestError> {
        let estimate = self.sizes.estimate(key);
        let is_small = match estimate {
            Estimate::Small => true,
            Estimate::Unproven | Estimate::Unknown => plan.has_one_row(),
            Estimate::Bytes(_) => false,
        };
        if is_small {
            return Ok(None);
        }
        let Some(entry) = self.database.enter_at_once(Caller::client_of(self.http)) else {
            return Ok(None);
        };
        let taken = match estimate {
            Estimate::Bytes(bytes) => entry.take(bytes.saturating_mul(COPIES)).await,
            Estimate::Unproven => entry.take_unproven().await,
            Estimate::Small | Estimate::Unknown => entry.take_unknown().await,
        };
        taken
            .map(Some)
            .map_err(|_| RestError::OutOfMemory { is_committed: false })
    }

    /// Waits until PostgreSQL may take the memory for rows with lists in lists. `None` for a statement whose rows were small so far, also with other
    /// values, because most statements of this shape stay small.
    ///
    /// # Errors
    /// 503 when others take too long.
    pub(crate) async fn wait_for_rows(&self, key: StatementKey) -> Result<Option<DatabaseTurn>, RestError> {
        let bytes = match self.sizes.estimate(key) {
            Estimate::Small | Estimate::Unproven => return Ok(None),
            Estimate::Unknown => None,
            Estimate::Bytes(bytes) => Some(bytes),
        };
        let Some(entry) = self.database.enter_at_once(Caller::client_of(self.http)) else {
            return Ok(None);
        };
        let taken = match bytes {
            Some(bytes) => entry.take(bytes.saturating_mul(COPIES)).await,
            None => entry.take_unknown_row().await,
        };
        taken
            .map(Some)
            .map_err(|_| RestError::OutOfMemory { is_committed: false })
    }

    /// Remembers how large the result of a statement was, or that it has failed for another reason than a lack of memory.
    pub(crate) fn record(&self, key: StatementKey, result: &Result<TransactionResult, RestError>) {
        let body = |result: &TransactionResult| {
            result
                .rows
                .first()
                .and_then(|row| row.bytes(BODY_COLUMN))
                .map_or(0, |body| body.len())
        };
        self.record_size(key, result.as_ref().map(body));
    }

    /// Remembers the size of a statement's rows: the response divided by their number, by at most [`COUNTED_ROWS`].
    pub(crate) fn record_rows(&self, key: StatementKey, result: &Result<JsonReadResult, RestError>) {
        let row = |result: &JsonReadResult| {
            result.body.len()
                / usize::try_from(result.rows)
                    .unwrap_or(usize::MAX)
                    .clamp(1, COUNTED_ROWS)
        };
        self.record_size(key, result.as_ref().map(row));
    }

    fn record_size(&self, key: StatementKey, result: Result<usize, &RestError>) {
        let bytes = match result {
            Ok(bytes) => Some(bytes),
            Err(RestError::Database(fault)) if !fault.sqlstate.starts_with(OUT_OF_RESOURCES) => None,
            Err(_) => return,
        };
        self.sizes.record(key, bytes, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(value: &str) -> SqlStatement {
        SqlStatement {
            params: vec![Param::text(value)],
            ..SqlStatement::plain("select $1")
        }
    }

    #[test]
    fn gw_049_a_small_result_says_nothing_of_other_values_or_callers() {
        let sizes = ResultSizes::default();
        let now = Instant::now();
        let key = |value, claims| sizes.key_of(&statement(value), ("anon", claims));
        assert_eq!(sizes.estimate(key("1", "{}")), Estimate::Unknown);

        sizes.record(key("1", "{}"), Some(100), now);

        assert_eq!(sizes.estimate(key("1", "{}")), Estimate::Small);
        assert_eq!(sizes.estimate(key("2", "{}")), Estimate::Unproven);
        assert_eq!(sizes.estimate(key("1", "{\"sub\":1}")), Estimate::Unproven);
        sizes.record(key("2", "{}"), Some(1_000_000), now);
        assert_eq!(sizes.estimate(key("3", "{}")), Estimate::Bytes(1_000_000));
        assert_eq!(sizes.estimate(key("1", "{}")), Estimate::Small);
    }

    #[test]
    fn gw_049_a_large_result_is_remembered_for_ten_minutes_however_many_small_ones_follow() {
        let sizes = ResultSizes::default();
        let now = Instant::now();
        let key = |value: usize| sizes.key_of(&statement(&value.to_string()), ("anon", "{}"));
        sizes.record(key(0), Some(1_000_000), now);

        for value in 1..1000 {
            sizes.record(key(value), Some(10), now + LARGEST_OF / 2);
        }
        assert_eq!(sizes.estimate(key(1000)), Estimate::Bytes(1_000_000));
        sizes.record(key(1000), Some(10), now + LARGEST_OF);

        assert_eq!(sizes.estimate(key(1001)), Estimate::Unproven);
    }

    #[test]
    fn gw_049_a_statement_that_always_fails_does_not_stay_unknown() {
        let sizes = ResultSizes::default();
        let key = sizes.key_of(&statement("1"), ("anon", "{}"));

        sizes.record(key, None, Instant::now());

        assert_eq!(sizes.estimate(key), Estimate::Unproven);
    }
}
