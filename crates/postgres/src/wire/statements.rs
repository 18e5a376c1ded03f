//! The prepared statements of one connection.
//!
//! Clients choose the shapes of statements, so an unbounded cache would let anyone fill the memory of this process and
//! of PostgreSQL. It is an LRU cache, bounded in number and in bytes, and a statement that falls out is closed with the next batch. Long
//! ones are never prepared: the plan of a filter of 64 KB takes megabytes in PostgreSQL, and is hardly used again. A statement is
//! prepared at its second use, in the batch that uses it, so that shapes that occur once cost nothing extra.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;

use lru::{DefaultHasher, LruCache};

use super::Column;
use crate::SqlStatement;
use crate::json::JsonShape;

/// Longest text of a statement that is prepared, in bytes.
const LONGEST_TEXT: usize = 8 * 1024;
/// Most parameters of one.
const MOST_PARAMETERS: usize = 100;
/// Most bytes of all texts of a connection, with their roles and search paths. PostgreSQL takes 45 times as much for the plans of statements
/// with many columns.
const MOST_BYTES: usize = 256 * 1024;

/// A statement that the server has prepared under `name`.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Empty for a long statement, which is sent each time.
    pub(super) name: String,
    pub(super) columns: Arc<[Column]>,
    /// How its rows become JSON; `None` when it has types whose JSON only PostgreSQL can write.
    pub(crate) json: Option<JsonShape>,
}

impl Prepared {
    /// Whether a statement is executed by its name: PostgreSQL refuses it when its columns have changed.
    pub(super) fn is_sent_by_name(&self, statement: &SqlStatement) -> bool {
        !statement.force_custom_plan && !self.name.is_empty()
    }

    /// How its rows become JSON here. `None` also where it would be too late to see that the columns have changed: when a statement has run that
    /// writes.
    pub(super) fn shape_for(&self, statement: &SqlStatement, is_read: bool) -> Option<&JsonShape> {
        let is_safe = is_read || self.is_sent_by_name(statement);
        self.json.as_ref().filter(|_| is_safe)
    }
}

/// How a statement is sent next.
pub(super) enum Usage {
    /// Execute the prepared statement.
    Prepared(Rc<Prepared>),
    /// Execute the text without preparing it.
    Unprepared,
    /// Prepare the statement, then execute it.
    Prepare(Preparing),
}

/// A statement whose `Parse` has been written and not yet confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Preparing {
    hash: u64,
    number: u64,
    /// Whether it is kept under a name, or only its columns are.
    is_named: bool,
}

/// A statement is prepared per role and search path, because PostgreSQL plans anew when either changes.
struct Key {
    role: String,
    search_path: String,
    /// Empty for a long statement: whether its columns are those that are kept is seen when it is sent.
    text: String,
    bytes: usize,
}

impl Key {
    fn new(role: &str, search_path: &str, text: &str, is_named: bool) -> Self {
        let kept = if is_named { text } else { "" };
        Self {
            role: role.to_owned(),
            search_path: search_path.to_owned(),
            text: kept.to_owned(),
            bytes: role.len() + search_path.len() + text.len(),
        }
    }
}

enum Entry {
    SeenOnce,
    /// `Parse` was sent, with a name made of this number.
    Preparing(u64),
    Prepared(Rc<Prepared>),
}

pub(super) struct Statements {
    /// False behind a transaction pooler, which gives each transaction another server connection.
    enabled: bool,
    entries: LruCache<u64, (Key, Entry)>,
    /// Bytes of the keys of `entries`.
    bytes: usize,
    most_bytes: usize,
    /// foldhash with a random seed: as safe against chosen collisions as std's hasher, and several times as fast on
    /// long texts.
    hasher: DefaultHasher,
    /// The prefix of this connection's statement names. It is random, because a function of the project may prepare
    /// statements in the same session, and a name that it can guess could collide with ours.
    prefix: String,
    next: u64,
    /// Names of statements to close with the next batch.
    closing: Vec<String>,
}

impl Statements {
    /// Keeps at most `capacity` statements, and none with 0. Their texts have at most `most_bytes` together, or [`MOST_BYTES`] if that is less.
    pub(super) fn new(capacity: usize, most_bytes: Option<usize>) -> Self {
        let enabled = capacity > 0;
        let capacity = NonZeroUsize::new(capacity).unwrap_or(NonZeroUsize::MIN);
        Self {
            enabled,
            entries: LruCache::new(capacity),
            bytes: 0,
            most_bytes: most_bytes.map_or(MOST_BYTES, |bytes| bytes.min(MOST_BYTES)),
            hasher: DefaultHasher::default(),
            prefix: format!("s{:016x}_", RandomState::new().hash_one(())),
            next: 0,
            closing: Vec::new(),
        }
    }

    /// Looks a statement up and counts the use. A hit allocates nothing.
    pub(super) fn use_statement(
        &mut self,
        role: &str,
        search_path: &str,
        text: &str,
        parameters: usize,
    ) -> Usage {
        match is_long(text, parameters) {
            true => Usage::Unprepared,
            false => self.look_up(role, search_path, text, true),
        }
    }

    /// Looks a statement up whose columns are needed, and counts the use. A long one is sent each time; from its second use on its columns are
    /// remembered without a name.
    pub(super) fn use_columns(
        &mut self,
        role: &str,
        search_path: &str,
        text: &str,
        parameters: usize,
    ) -> Usage {
        self.look_up(role, search_path, text, !is_long(text, parameters))
    }

    fn look_up(&mut self, role: &str, search_path: &str, text: &str, is_named: bool) -> Usage {
        if !self.enabled {
            return Usage::Unprepared;
        }
        let hash = self.hash(role, search_path, text);
        let kept = if is_named { text } else { "" };
        match self.entries.get_mut(&hash) {
            Some((key, entry)) if key.role == role && key.search_path == search_path && key.text == kept => {
                match entry {
                    Entry::Prepared(prepared) => Usage::Prepared(Rc::clone(prepared)),
                    // Another batch in flight prepares it. Whether that succeeds is not known yet, so its name cannot
                    // be used.
                    Entry::Preparing(_) => Usage::Unprepared,
                    Entry::SeenOnce => {
                        self.next += 1;
                        *entry = Entry::Preparing(self.next);
                        Usage::Prepare(Preparing {
                            hash,
                            number: self.next,
                            is_named,
                        })
                    }
                }
            }
            _ => {
                self.remember(hash, Key::new(role, search_path, text, is_named));
                Usage::Unprepared
            }
        }
    }

    /// Remembers a statement that was seen for the first time.
    fn remember(&mut self, hash: u64, key: Key) {
        self.bytes += key.bytes;
        if let Some((_, evicted)) = self.entries.push(hash, (key, Entry::SeenOnce)) {
            self.drop_entry(evicted);
        }
        while self.bytes > self.most_bytes
            && let Some((_, evicted)) = self.entries.pop_lru()
        {
            self.drop_entry(evicted);
        }
    }

    /// The name under which a statement is prepared. Empty for a long one, which the next statement without a name replaces.
    pub(super) fn name_of(&self, preparing: Preparing) -> String {
        match preparing.is_named {
            true => format!("{}{}", self.prefix, preparing.number),
            false => String::new(),
        }
    }

    /// Records that the server has prepared the statement.
    pub(super) fn prepared(&mut self, preparing: Preparing, columns: Arc<[Column]>) {
        let name = self.name_of(preparing);
        match self.entry_of(preparing) {
            Some(entry) => {
                *entry = Entry::Prepared(Rc::new(Prepared {
                    json: JsonShape::from_columns(&columns),
                    columns,
                    name,
                }));
            }
            // The cache evicted it while it was being prepared, so nothing will use it: close it on the server.
            None => self.close(name),
        }
    }

    /// Records that the server did not prepare the statement, because an earlier one failed.
    pub(super) fn not_prepared(&mut self, preparing: Preparing) {
        if let Some(entry) = self.entry_of(preparing) {
            *entry = Entry::SeenOnce;
        }
    }

    /// Forgets all statements: after DDL their plans are out of date.
    pub(super) fn clear(&mut self) {
        while let Some((_, entry)) = self.entries.pop_lru() {
            self.drop_entry(entry);
        }
    }

    /// Closes a statement that is no longer kept.
    fn drop_entry(&mut self, (key, entry): (Key, Entry)) {
        self.bytes -= key.bytes;
        if let Entry::Prepared(prepared) = entry {
            self.close(prepared.name.clone());
        }
    }

    fn close(&mut self, name: String) {
        if !name.is_empty() {
            self.closing.push(name);
        }
    }

    /// Takes the names of statements to close.
    pub(super) fn take_closing(&mut self) -> Vec<String> {
        std::mem::take(&mut self.closing)
    }

    /// Puts names back that were taken and not sent.
    pub(super) fn close_later(&mut self, names: Vec<String>) {
        self.closing.extend(names);
    }

    fn entry_of(&mut self, preparing: Preparing) -> Option<&mut Entry> {
        let (_, entry) = self.entries.peek_mut(&preparing.hash)?;
        matches!(entry, Entry::Preparing(number) if *number == preparing.number).then_some(entry)
    }

    fn hash(&self, role: &str, search_path: &str, text: &str) -> u64 {
        self.hasher.hash_one((role, search_path, text))
    }
}

/// Whether a statement is too long to be prepared.
fn is_long(text: &str, parameters: usize) -> bool {
    text.len() > LONGEST_TEXT || parameters > MOST_PARAMETERS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(statements: &mut Statements, text: &str) -> Option<Preparing> {
        match statements.use_statement("r", "p", text, 0) {
            Usage::Prepare(preparing) => Some(preparing),
            _ => None,
        }
    }

    #[test]
    fn gw_049_long_statements_and_those_with_many_parameters_are_never_prepared() {
        let mut statements = Statements::new(4, None);
        let mut is_prepared = |text: &str, parameters| {
            statements.use_statement("r", "p", text, parameters);
            matches!(
                statements.use_statement("r", "p", text, parameters),
                Usage::Prepare(_)
            )
        };

        assert!(is_prepared(&"a".repeat(LONGEST_TEXT), MOST_PARAMETERS));
        assert!(!is_prepared(&"b".repeat(LONGEST_TEXT + 1), 0));
        assert!(!is_prepared("c", MOST_PARAMETERS + 1));
    }

    #[test]
    fn gw_049_the_texts_of_a_connection_are_bounded_in_bytes() {
        for (limit, most, least_kept) in [
            (None, MOST_BYTES, 30),
            (Some(10 * MOST_BYTES), MOST_BYTES, 30),
            (Some(64 * 1024), 64 * 1024, 6),
        ] {
            let mut statements = Statements::new(1000, limit);
            for number in 0..500 {
                let text = format!("{number:8000}");
                let preparing = {
                    statements.use_statement("r", "p", &text, 0);
                    prepare(&mut statements, &text).expect("its second use")
                };
                statements.prepared(preparing, Arc::new([]));
            }

            let kept = statements.entries.len();
            assert!(
                statements.bytes <= most && least_kept < kept && kept < 2 * least_kept,
                "{kept}"
            );
            assert_eq!(statements.take_closing().len(), 500 - kept);
            statements.clear();
            assert_eq!((statements.bytes, statements.take_closing().len()), (0, kept));
        }
    }

    #[test]
    fn gw_049_of_a_long_statement_the_columns_are_kept_and_nothing_on_the_server() {
        let mut statements = Statements::new(1, None);
        let text = "a".repeat(LONGEST_TEXT + 1);
        let look_up = |statements: &mut Statements| statements.use_columns("r", "p", &text, 0);
        assert!(matches!(look_up(&mut statements), Usage::Unprepared));
        let Usage::Prepare(preparing) = look_up(&mut statements) else {
            panic!("its second use");
        };
        assert_eq!(statements.name_of(preparing), "");

        statements.prepared(preparing, Arc::new([]));

        let Usage::Prepared(described) = look_up(&mut statements) else {
            panic!("its columns are known");
        };
        assert_eq!(described.name, "");
        statements.clear();
        assert_eq!(statements.take_closing(), [""; 0]);
    }

    #[test]
    fn a_statement_is_prepared_at_its_second_use() {
        let mut statements = Statements::new(4, None);
        assert!(matches!(
            statements.use_statement("r", "p", "a", 0),
            Usage::Unprepared
        ));
        let preparing = prepare(&mut statements, "a").expect("its second use");
        assert!(matches!(
            statements.use_statement("r", "p", "a", 0),
            Usage::Unprepared
        ));

        statements.prepared(preparing, Arc::new([]));

        assert!(matches!(
            statements.use_statement("r", "p", "a", 0),
            Usage::Prepared(_)
        ));
        assert!(matches!(
            statements.use_statement("s", "p", "a", 0),
            Usage::Unprepared
        ));
    }

    #[test]
    fn a_capacity_of_zero_prepares_nothing() {
        let mut statements = Statements::new(0, None);
        for _ in 0..4 {
            assert!(matches!(
                statements.use_statement("r", "p", "a", 0),
                Usage::Unprepared
            ));
        }
    }

    #[test]
    fn a_failed_preparation_is_tried_again() {
        let mut statements = Statements::new(4, None);
        statements.use_statement("r", "p", "a", 0);
        let preparing = prepare(&mut statements, "a").expect("its second use");

        statements.not_prepared(preparing);

        assert!(prepare(&mut statements, "a").is_some());
    }

    #[test]
    fn the_cache_is_bounded_and_evicted_statements_are_closed() {
        let mut statements = Statements::new(8, None);
        for number in 0..1000 {
            let text = number.to_string();
            statements.use_statement("r", "p", &text, 0);
            let preparing = prepare(&mut statements, &text).expect("its second use");
            statements.prepared(preparing, Arc::new([]));
        }
        assert_eq!(statements.entries.len(), 8);
        assert_eq!(statements.take_closing().len(), 992);

        statements.clear();

        assert_eq!(statements.take_closing().len(), 8);
    }

    #[test]
    fn a_statement_evicted_while_being_prepared_is_closed() {
        let mut statements = Statements::new(1, None);
        statements.use_statement("r", "p", "a", 0);
        let preparing = prepare(&mut statements, "a").expect("its second use");
        statements.use_statement("r", "p", "b", 0);

        statements.prepared(preparing, Arc::new([]));

        let name = statements.name_of(preparing);
        assert_eq!(statements.take_closing(), [name]);
    }

    #[test]
    fn the_names_of_one_connection_do_not_tell_those_of_another() {
        let name = || {
            let mut statements = Statements::new(1, None);
            statements.use_statement("r", "p", "a", 0);
            let preparing = prepare(&mut statements, "a").expect("its second use");
            statements.name_of(preparing)
        };

        assert_ne!(name(), name());
    }
}
