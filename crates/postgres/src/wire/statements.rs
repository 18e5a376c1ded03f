//! Which statements a connection has prepared.
//!
//! Shapes come from strangers, so the memory is bounded here, and in PostgreSQL too: a statement that falls out is closed
//! with the next batch. A statement is prepared at its second use, in the batch that uses it; the first goes unprepared,
//! so that shapes that are used once cost no more than that.

use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;

use lru::{DefaultHasher, LruCache};

use super::Column;
use crate::json::JsonShape;

/// A statement that the server has prepared under `name`.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(super) name: String,
    pub(super) columns: Arc<[Column]>,
    /// How its rows become JSON; `None` when it has types whose JSON only PostgreSQL can write.
    pub(crate) json: Option<JsonShape>,
}

/// What to do with a statement now.
pub(super) enum Use {
    /// Execute the prepared statement.
    Prepared(Rc<Prepared>),
    /// Execute the text.
    Unprepared,
    /// Prepare it, and execute that.
    Prepare(Preparing),
}

/// A statement on its way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Preparing {
    hash: u64,
    number: u64,
}

impl Preparing {
    pub(super) fn name(self) -> String {
        format!("s{}", self.number)
    }
}

/// A statement is prepared per role and search path, because PostgreSQL plans anew when either changes.
struct Key {
    role: String,
    search_path: String,
    text: String,
}

enum Entry {
    SeenOnce,
    /// Under this number.
    Preparing(u64),
    Prepared(Rc<Prepared>),
}

pub(super) struct Statements {
    /// Whether anything is prepared at all: behind a pooler, connections change from transaction to transaction.
    enabled: bool,
    entries: LruCache<u64, (Key, Entry)>,
    /// Keyed by chance, like the standard one, and several times as fast on texts of this length.
    hasher: DefaultHasher,
    next: u64,
    /// Names that the server should forget.
    closing: Vec<String>,
}

impl Statements {
    pub(super) fn new(capacity: usize) -> Self {
        let enabled = capacity > 0;
        let capacity = NonZeroUsize::new(capacity).unwrap_or(NonZeroUsize::MIN);
        Self {
            enabled,
            entries: LruCache::new(capacity),
            hasher: DefaultHasher::default(),
            next: 0,
            closing: Vec::new(),
        }
    }

    /// Looks a statement up and counts the use. The hit, which is the rule, allocates nothing.
    pub(super) fn use_statement(&mut self, role: &str, search_path: &str, text: &str) -> Use {
        if !self.enabled {
            return Use::Unprepared;
        }
        let hash = self.hash(role, search_path, text);
        match self.entries.get_mut(&hash) {
            Some((key, entry)) if key.role == role && key.search_path == search_path && key.text == text => {
                match entry {
                    Entry::Prepared(prepared) => Use::Prepared(Rc::clone(prepared)),
                    Entry::Preparing(_) => Use::Unprepared,
                    Entry::SeenOnce => {
                        self.next += 1;
                        *entry = Entry::Preparing(self.next);
                        let number = self.next;
                        Use::Prepare(Preparing { hash, number })
                    }
                }
            }
            _ => {
                let key = Key {
                    role: role.to_owned(),
                    search_path: search_path.to_owned(),
                    text: text.to_owned(),
                };
                if let Some((_, (_, Entry::Prepared(old)))) = self.entries.push(hash, (key, Entry::SeenOnce))
                {
                    self.closing.push(old.name.clone());
                }
                Use::Unprepared
            }
        }
    }

    /// The server has prepared it.
    pub(super) fn prepared(&mut self, preparing: Preparing, columns: Arc<[Column]>) {
        let name = preparing.name();
        match self.entry_of(preparing) {
            Some(entry) => {
                *entry = Entry::Prepared(Rc::new(Prepared {
                    json: JsonShape::of(&columns),
                    columns,
                    name,
                }));
            }
            // It has fallen out meanwhile.
            None => self.closing.push(name),
        }
    }

    /// The server has not come to prepare it.
    pub(super) fn not_prepared(&mut self, preparing: Preparing) {
        if let Some(entry) = self.entry_of(preparing) {
            *entry = Entry::SeenOnce;
        }
    }

    /// Forgets everything: after DDL, old plans only cost PostgreSQL work.
    pub(super) fn clear(&mut self) {
        while let Some((_, (_, entry))) = self.entries.pop_lru() {
            if let Entry::Prepared(prepared) = entry {
                self.closing.push(prepared.name.clone());
            }
        }
    }

    /// Names that the server should forget now.
    pub(super) fn take_closing(&mut self) -> Vec<String> {
        std::mem::take(&mut self.closing)
    }

    fn entry_of(&mut self, preparing: Preparing) -> Option<&mut Entry> {
        let (_, entry) = self.entries.peek_mut(&preparing.hash)?;
        matches!(entry, Entry::Preparing(number) if *number == preparing.number).then_some(entry)
    }

    fn hash(&self, role: &str, search_path: &str, text: &str) -> u64 {
        self.hasher.hash_one((role, search_path, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(statements: &mut Statements, text: &str) -> Option<Preparing> {
        match statements.use_statement("r", "p", text) {
            Use::Prepare(preparing) => Some(preparing),
            _ => None,
        }
    }

    #[test]
    fn a_statement_is_prepared_at_its_second_use() {
        let mut statements = Statements::new(4);
        assert!(matches!(statements.use_statement("r", "p", "a"), Use::Unprepared));
        let preparing = prepare(&mut statements, "a").expect("its second use");
        assert!(matches!(statements.use_statement("r", "p", "a"), Use::Unprepared));

        statements.prepared(preparing, Arc::new([]));

        assert!(matches!(
            statements.use_statement("r", "p", "a"),
            Use::Prepared(_)
        ));
        assert!(matches!(statements.use_statement("s", "p", "a"), Use::Unprepared));
    }

    #[test]
    fn without_room_nothing_is_prepared() {
        let mut statements = Statements::new(0);
        for _ in 0..4 {
            assert!(matches!(statements.use_statement("r", "p", "a"), Use::Unprepared));
        }
    }

    #[test]
    fn what_was_not_prepared_is_tried_again() {
        let mut statements = Statements::new(4);
        statements.use_statement("r", "p", "a");
        let preparing = prepare(&mut statements, "a").expect("its second use");

        statements.not_prepared(preparing);

        assert!(prepare(&mut statements, "a").is_some());
    }

    #[test]
    fn memory_is_bounded_and_the_server_forgets_too() {
        let mut statements = Statements::new(8);
        for number in 0..1000 {
            let text = number.to_string();
            statements.use_statement("r", "p", &text);
            let preparing = prepare(&mut statements, &text).expect("its second use");
            statements.prepared(preparing, Arc::new([]));
        }
        assert_eq!(statements.entries.len(), 8);
        assert_eq!(statements.take_closing().len(), 992);

        statements.clear();

        assert_eq!(statements.take_closing().len(), 8);
    }

    #[test]
    fn a_statement_that_fell_out_while_it_was_prepared_is_closed() {
        let mut statements = Statements::new(1);
        statements.use_statement("r", "p", "a");
        let preparing = prepare(&mut statements, "a").expect("its second use");
        statements.use_statement("r", "p", "b");

        statements.prepared(preparing, Arc::new([]));

        assert_eq!(statements.take_closing(), [preparing.name()]);
    }
}
