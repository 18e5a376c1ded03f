//! What PostgreSQL takes for results that it writes in one piece, where its memory is limited: counts, CSV, rows that were written, values of
//! functions.

use std::cell::RefCell;
use std::hash::BuildHasher;
use std::num::NonZeroUsize;

use actix_web::HttpRequest;
use lru::{DefaultHasher, LruCache};
use selvedge_gateway::Caller;
use selvedge_memory::{DatabasePart, DatabaseTurn, MemoryBudget};
use selvedge_postgres::SqlStatement;

use crate::error::RestError;

/// A session holds the text of a result that it writes in one piece so many times: while it grows, as the value, and as what is sent. Measured:
/// 59 MB for 14, and 127 for one without nulls.
const COPIES: usize = 9;
/// Smaller results need no part of the memory.
const LARGE_RESULT: usize = 256 * 1024;
/// How many statements are remembered; the least recently used is forgotten first.
const REMEMBERED: usize = 4096;

/// Remembers how large the results of statements were. Belongs to one worker.
pub(crate) struct ResultSizes {
    sizes: RefCell<LruCache<u64, usize>>,
    hasher: DefaultHasher,
}

impl Default for ResultSizes {
    fn default() -> Self {
        let remembered = NonZeroUsize::new(REMEMBERED).unwrap_or(NonZeroUsize::MIN);
        Self {
            sizes: RefCell::new(LruCache::new(remembered)),
            hasher: DefaultHasher::default(),
        }
    }
}

impl ResultSizes {
    fn hash(&self, statement: &SqlStatement) -> u64 {
        self.hasher.hash_one(&statement.text)
    }

    fn find(&self, statement: &SqlStatement) -> Option<usize> {
        self.sizes.borrow_mut().get(&self.hash(statement)).copied()
    }

    /// Stores the larger of this size and 70 % of the stored one, since the size depends on values, too.
    fn record(&self, statement: &SqlStatement, bytes: usize) {
        let hash = self.hash(statement);
        let mut sizes = self.sizes.borrow_mut();
        let known = sizes.get(&hash).map_or(0, |known| known / 10 * 7);
        sizes.put(hash, bytes.max(known));
    }
}

/// The part of the memory from which a request's result takes what PostgreSQL needs to write it.
pub(crate) struct ResultMemory<'a> {
    database: &'a DatabasePart,
    sizes: &'a ResultSizes,
    /// Whose client is found out when that is needed.
    http: &'a HttpRequest,
}

impl<'a> ResultMemory<'a> {
    /// `None` where nothing is limited, and for a request that has a part already, for its large body.
    pub(crate) fn for_request(
        (memory, sizes): (&'a MemoryBudget, &'a ResultSizes),
        of_body: Option<&DatabaseTurn>,
        http: &'a HttpRequest,
    ) -> Option<Self> {
        let database = memory.database();
        (database.is_limited() && of_body.is_none()).then(|| Self {
            database,
            sizes,
            http,
        })
    }

    /// Waits until PostgreSQL may take what a statement needs. `None` for one whose results are known to be small.
    ///
    /// # Errors
    /// 503 when others take too long.
    pub(crate) async fn wait_for(&self, statement: &SqlStatement) -> Result<Option<DatabaseTurn>, RestError> {
        let known = self.sizes.find(statement);
        if known.is_some_and(|bytes| bytes < LARGE_RESULT) {
            return Ok(None);
        }
        let turn = async {
            let Some(entry) = self.database.enter(Caller::client_of(self.http)).await? else {
                return Ok(None);
            };
            let turn = match known {
                Some(bytes) => entry.take(bytes.saturating_mul(COPIES)).await,
                None => entry.take_unknown().await,
            };
            turn.map(Some)
        };
        turn.await
            .map_err(|_| RestError::OutOfMemory { is_committed: false })
    }

    /// Remembers how large the result of a statement was.
    pub(crate) fn record(&self, statement: &SqlStatement, bytes: usize) {
        self.sizes.record(statement, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_049_a_statement_with_a_large_result_counts_as_large_for_several_runs() {
        let sizes = ResultSizes::default();
        let statement = SqlStatement::plain("select");
        assert_eq!(sizes.find(&statement), None);

        sizes.record(&statement, 1_000_000);
        for _ in 0..3 {
            sizes.record(&statement, 10);
            assert!(sizes.find(&statement) > Some(LARGE_RESULT));
        }
        for _ in 0..3 {
            sizes.record(&statement, 10);
        }

        assert!(sizes.find(&statement) < Some(LARGE_RESULT));
    }
}
