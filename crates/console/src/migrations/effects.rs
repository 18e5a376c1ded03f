//! Finds the effects of a change while it is being tried in another session.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Object;
use selvedge_introspection::{CatalogReader, Dependant, ObjectKind};
use serde::Serialize;
use tokio_postgres::{Client, Row};

use crate::error::ConsoleError;

/// Tables with more rows are estimated, because counting them would take longer than a person waits.
const LARGEST_COUNT: i64 = 50_000;

/// The most objects that one list of the answer names.
const LONGEST_LIST: usize = 200;

/// The effects of a change, with the members of the answer.
#[derive(Debug, Serialize)]
pub(super) struct Effects {
    sql: String,
    locks: Vec<TableLock>,
    /// Whether the change writes a table anew; null when the try was not finished.
    rewrites: Option<bool>,
    /// The number of rows that the change writes anew, or reads if it writes none.
    rows: Option<i64>,
    dropped: Vec<NamedObject>,
    dependants: Vec<Dependant>,
    notes: Vec<String>,
}

/// A lock that the change takes on a table.
#[derive(Debug, Serialize)]
struct TableLock {
    #[serde(skip)]
    oid: String,
    relation: String,
    /// The lock mode, such as `AccessExclusiveLock`.
    mode: String,
    /// A sentence that says which statements wait while the lock is held.
    blocks: &'static str,
    /// The number of rows in the table, which is an estimate when there are many.
    rows: Option<i64>,
    rewritten: bool,
    rows_read: i64,
    #[serde(skip)]
    filenode: Option<String>,
    #[serde(skip)]
    has_rows: bool,
    #[serde(skip)]
    is_dropped: bool,
}

/// An object with its kind and name as PostgreSQL describes it.
#[derive(Debug, Serialize)]
struct NamedObject {
    kind: String,
    name: String,
}

/// An object that existed before the trial run and may be dropped by it.
struct Candidate {
    key: String,
    object: NamedObject,
    parents: Vec<String>,
}

/// Looks at the session of the try from a session that sees the database as it is committed.
pub(super) struct Observer<'c> {
    client: &'c mut Object,
    pid: i32,
    locks: Vec<TableLock>,
    candidates: Vec<Candidate>,
    dropped: Vec<NamedObject>,
    notes: Vec<String>,
}

impl<'c> Observer<'c> {
    pub(super) fn new(client: &'c mut Object, pid: i32, notes: Vec<String>) -> Self {
        Self {
            client,
            pid,
            locks: Vec::new(),
            candidates: Vec::new(),
            dropped: Vec::new(),
            notes,
        }
    }

    pub(super) fn client(&self) -> &Client {
        self.client
    }

    /// Reads the locks that the try holds now.
    pub(super) async fn read_locks(&mut self) -> Result<(), ConsoleError> {
        let tables = include_str!("sql/locked_tables.sql");
        let tables = self.client.query(tables, &[&self.pid]).await?;
        self.locks = tables.iter().map(TableLock::from_row).collect();
        let objects = include_str!("sql/locked_objects.sql");
        let objects = self.client.query(objects, &[&self.pid]).await?;
        self.candidates = objects.iter().map(Candidate::from_row).collect();
        Ok(())
    }

    /// Compares the tables and objects with what the try has made of them. `trial` is in its transaction.
    pub(super) async fn compare(
        &mut self,
        trial: &Client,
        exposed_schemas: &[String],
    ) -> Result<(), ConsoleError> {
        self.compare_tables(trial).await?;
        self.find_dropped(trial).await?;
        let open = include_str!("sql/open_tables.sql");
        for row in trial.query(open, &[&exposed_schemas]).await? {
            let name: String = row.get(0);
            self.notes.push(format!(
                "{name} has no row-level security: the API gives all of its rows to every role that has a grant"
            ));
        }
        Ok(())
    }

    async fn compare_tables(&mut self, trial: &Client) -> Result<(), ConsoleError> {
        let oids: Vec<&str> = self.locks.iter().map(|lock| lock.oid.as_str()).collect();
        let rows = trial
            .query(include_str!("sql/tried_tables.sql"), &[&oids])
            .await?;
        let tried: BTreeMap<String, &Row> = rows.iter().map(|row| (row.get("oid"), row)).collect();
        for lock in &mut self.locks {
            let Some(row) = tried.get(&lock.oid) else {
                lock.is_dropped = true;
                continue;
            };
            let filenode: Option<String> = row.get("filenode");
            lock.rewritten = filenode != lock.filenode;
            lock.rows_read = row.get::<_, Option<i64>>("rows_read").unwrap_or_default();
        }
        Ok(())
    }

    /// Finds the candidates that were dropped, without those that belong to another dropped object.
    async fn find_dropped(&mut self, trial: &Client) -> Result<(), ConsoleError> {
        let keys: Vec<&str> = self.candidates.iter().map(|each| each.key.as_str()).collect();
        let gone = "select k from unnest($1::text[]) k
             where (pg_identify_object(split_part(k, ':', 1)::oid, split_part(k, ':', 2)::oid, 0)).identity is null";
        let gone: BTreeSet<String> = trial
            .query(gone, &[&keys])
            .await?
            .iter()
            .map(|row| row.get(0))
            .collect();
        self.dropped = std::mem::take(&mut self.candidates)
            .into_iter()
            .filter(|each| gone.contains(&each.key))
            .filter(|each| !each.parents.iter().any(|parent| gone.contains(parent)))
            .map(|each| each.object)
            .take(LONGEST_LIST)
            .collect();
        Ok(())
    }

    /// Counts the rows of tables that are locked against writing. `trial` is back outside of its transaction, because before
    /// that its locks would keep the count waiting, and dropped tables would be missing.
    pub(super) async fn count_rows(&mut self, trial: &Client) -> Result<(), ConsoleError> {
        trial
            .batch_execute("set lock_timeout = '1s'; set statement_timeout = '2s'")
            .await?;
        for lock in &mut self.locks {
            let blocks_writing = !matches!(&*lock.mode, "RowExclusiveLock" | "ShareUpdateExclusiveLock");
            let is_estimated = lock.rows.is_some_and(|rows| rows > LARGEST_COUNT);
            if !lock.has_rows || !blocks_writing || is_estimated {
                continue;
            }
            let most = LARGEST_COUNT + 1;
            let count = format!(
                "select count(*) from (select 1 from {} limit {most}) counted",
                lock.relation
            );
            // Counting may fail because another session holds a lock; the size stays unknown then.
            let counted = trial.query_one(&count, &[]).await.ok();
            lock.rows = counted.map(|row| row.get(0));
        }
        Ok(())
    }

    /// Puts what was found together as the answer.
    pub(super) async fn into_effects(
        mut self,
        sql: &str,
        is_complete: bool,
    ) -> Result<Effects, ConsoleError> {
        let dependants = self.list_dependants().await?;
        if !is_complete {
            self.notes.push(
                "It was tried for 5 s and not finished. Its locks are held for longer than that, and it is not known \
                 whether it succeeds."
                    .to_owned(),
            );
        }
        let rewritten = self.locks.iter().filter(|lock| lock.rewritten);
        let rewritten: Vec<i64> = rewritten.map(|lock| lock.rows.unwrap_or_default()).collect();
        let rewrites = !rewritten.is_empty();
        let rows = if rewrites {
            rewritten.iter().sum()
        } else {
            self.locks.iter().map(|lock| lock.rows_read).sum()
        };
        Ok(Effects {
            sql: sql.to_owned(),
            locks: self.locks,
            rewrites: is_complete.then_some(rewrites),
            rows: is_complete.then_some(rows),
            dropped: self.dropped,
            dependants,
            notes: self.notes,
        })
    }

    /// Finds the views, functions and foreign keys that use the changed tables. They stay, but may fail or answer differently.
    async fn list_dependants(&mut self) -> Result<Vec<Dependant>, ConsoleError> {
        let reader = CatalogReader::begin(self.client).await?;
        let mut found: Vec<Dependant> = Vec::new();
        let changed = |lock: &&TableLock| lock.mode == "AccessExclusiveLock" && !lock.is_dropped;
        for lock in self.locks.iter().filter(changed) {
            for dependant in reader.list_dependants(ObjectKind::Tables, &lock.oid).await? {
                let is_dropped = self.dropped.iter().any(|gone| gone.name == dependant.name);
                if dependant.how == "normal" && !is_dropped && found.len() < LONGEST_LIST {
                    found.push(dependant);
                }
            }
        }
        Ok(found)
    }
}

impl TableLock {
    fn from_row(row: &Row) -> Self {
        let mode: String = row.get("mode");
        let estimate: f64 = row.get("estimate");
        Self {
            oid: row.get("oid"),
            relation: row.get("name"),
            blocks: describe_mode(&mode),
            mode,
            // PostgreSQL writes -1 for a table that was never analysed.
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a table has fewer rows than an i64 counts"
            )]
            rows: (estimate >= 0.0).then_some(estimate as i64),
            rewritten: false,
            rows_read: 0,
            filenode: row.get("filenode"),
            has_rows: row.get("has_rows"),
            is_dropped: false,
        }
    }
}

impl Candidate {
    fn from_row(row: &Row) -> Self {
        let (catalog, oid): (String, String) = (row.get("catalog"), row.get("oid"));
        Self {
            key: format!("{catalog}:{oid}"),
            object: NamedObject {
                kind: row.get("kind"),
                name: row.get("name"),
            },
            parents: row.get("parents"),
        }
    }
}

/// Says which statements wait while a lock of this mode is held.
fn describe_mode(mode: &str) -> &'static str {
    match mode {
        "AccessExclusiveLock" => "reading and writing wait",
        "ExclusiveLock" | "ShareRowExclusiveLock" | "ShareLock" => "writing waits",
        _ => "other changes of the schema wait",
    }
}
