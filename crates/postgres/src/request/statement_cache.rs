//! Which statements a connection has prepared.
//!
//! Shapes come from strangers, so the memory is bounded here, and in PostgreSQL too: a statement that falls out is closed. A
//! statement is prepared at its second use; the first goes unprepared, in the same single round trip, so that shapes
//! that are used once cost no more than that.

use std::num::NonZeroUsize;

use lru::LruCache;
use tokio_postgres::Statement;

/// A statement is prepared per role and search path, because PostgreSQL plans anew when either changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct StatementKey {
    pub(super) role: String,
    pub(super) search_path: String,
    pub(super) text: String,
}

/// What to do with a statement now.
pub(super) enum Use {
    /// Execute the prepared statement.
    Prepared(Statement),
    /// Execute the text.
    Unprepared,
    /// Execute the text, and prepare it for the next time.
    UnpreparedThenPrepare,
}

enum Entry {
    SeenOnce,
    Preparing,
    Prepared(Statement),
    /// PostgreSQL refused to prepare it; executing the text reports why, each time.
    Refused,
}

pub(super) struct StatementCache {
    entries: LruCache<u64, (StatementKey, Entry)>,
    hasher: std::hash::RandomState,
}

impl StatementCache {
    pub(super) fn new(capacity: usize) -> Self {
        let capacity = NonZeroUsize::new(capacity).unwrap_or(NonZeroUsize::MIN);
        Self {
            entries: LruCache::new(capacity),
            hasher: std::hash::RandomState::new(),
        }
    }

    /// Looks a statement up and counts the use. The hit, which is the rule, allocates nothing.
    pub(super) fn use_statement(&mut self, role: &str, search_path: &str, text: &str) -> Use {
        let hash = self.hash(role, search_path, text);
        match self.entries.get_mut(&hash) {
            Some((key, entry)) if key.role == role && key.search_path == search_path && key.text == text => {
                match entry {
                    Entry::Prepared(statement) => Use::Prepared(statement.clone()),
                    Entry::SeenOnce => {
                        *entry = Entry::Preparing;
                        Use::UnpreparedThenPrepare
                    }
                    Entry::Preparing | Entry::Refused => Use::Unprepared,
                }
            }
            _ => {
                let key = StatementKey {
                    role: role.to_owned(),
                    search_path: search_path.to_owned(),
                    text: text.to_owned(),
                };
                self.entries.put(hash, (key, Entry::SeenOnce));
                Use::Unprepared
            }
        }
    }

    /// Notes the outcome of preparing, unless the statement has fallen out meanwhile.
    pub(super) fn prepared(&mut self, key: &StatementKey, statement: Option<Statement>) {
        let hash = self.hash(&key.role, &key.search_path, &key.text);
        if let Some((known, entry)) = self.entries.peek_mut(&hash)
            && known == key
        {
            *entry = statement.map_or(Entry::Refused, Entry::Prepared);
        }
    }

    /// Forgets everything: after DDL, old plans only cost PostgreSQL work.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    fn hash(&self, role: &str, search_path: &str, text: &str) -> u64 {
        use std::hash::BuildHasher;
        self.hasher.hash_one((role, search_path, text))
    }
}
