//! Runs staged changes one after the other in a transaction that the caller commits or rolls back.

use std::collections::{BTreeSet, HashMap};

use selvedge_introspection::TableShape;
use serde_json::{Value, json};
use tokio_postgres::{Row, Transaction};

use super::outcome::{Conflict, Moves, Outcome};
use crate::error::ConsoleError;
use crate::rows::request::{Cell, Cells, Change, Filter, RowId, Texts};
use crate::rows::sql::{
    CELL_BYTES, Statement, delete_statement, insert_statement, lock_statement, update_matching_statement,
    update_statement,
};
use crate::rows::table::find_table;

/// A change of more rows cannot be undone: their old values would fill the memory of browser and server.
const UNDONE_ROWS: i64 = 10_000;

/// Tells whether a table has triggers, and whether other tables change along with its rows, because an undo takes
/// neither back.
const LASTING_EFFECTS: &str = "select
    exists (select from pg_catalog.pg_trigger where tgrelid = $1::text::oid and not tgisinternal),
    exists (select from pg_catalog.pg_constraint
      where confrelid = $1::text::oid and contype = 'f' and confdeltype in ('c', 'n', 'd'))";

/// The staged changes of one request while they run in its transaction.
pub(super) struct Run<'t> {
    transaction: &'t Transaction<'t>,
    /// The `xmin` that every row gets which this transaction writes.
    version: String,
    tables: HashMap<String, TableShape>,
    moves: Moves,
    outcome: Outcome,
}

/// A row that this transaction has locked, as it is now.
struct Locked {
    place: Vec<String>,
    version: Option<String>,
    values: Texts,
    cut: CutColumns,
}

/// The columns of a row whose values were too long to be read whole, so that an undo could not restore them.
type CutColumns = BTreeSet<String>;

/// Returns the statements of staged changes for people to read, without running them.
pub(super) async fn preview(
    transaction: &Transaction<'_>,
    changes: &[Change],
) -> Result<Vec<String>, ConsoleError> {
    let mut statements = Vec::with_capacity(changes.len());
    for (index, change) in changes.iter().enumerate() {
        let table = find_table(transaction, change.table()).await?;
        let statement = match change {
            Change::Insert { values, .. } => insert_statement(&table, values),
            Change::Update {
                row, base, values, ..
            } => update_statement(&table, row, base, values),
            Change::Delete { row, base, .. } => delete_statement(&table, row, base),
            Change::UpdateMatching { filters, values, .. } => {
                update_matching_statement(&table, filters, values, false)
            }
        };
        let statement = statement.map_err(|error| error.with("change", json!(index)))?;
        statements.push(statement.readable().to_owned());
    }
    Ok(statements)
}

impl<'t> Run<'t> {
    pub(super) async fn begin(transaction: &'t Transaction<'t>) -> Result<Self, ConsoleError> {
        let row = transaction
            .query_one(
                "select pg_catalog.pg_current_xact_id()::pg_catalog.xid::text",
                &[],
            )
            .await?;
        Ok(Self {
            transaction,
            version: row.get(0),
            tables: HashMap::new(),
            moves: Moves::default(),
            outcome: Outcome::default(),
        })
    }

    /// Returns the tables that were looked up; the explanation of an error needs them.
    pub(super) fn into_tables(self) -> HashMap<String, TableShape> {
        self.tables
    }

    /// Applies one change. A conflict is recorded and does not end the run, so that all conflicts are reported together.
    pub(super) async fn apply(&mut self, index: usize, change: &Change) -> Result<(), ConsoleError> {
        let oid = change.table().to_owned();
        if !self.tables.contains_key(&oid) {
            let table = find_table(self.transaction, &oid).await?;
            self.tables.insert(oid.clone(), table);
        }
        // A copy, because the methods below need the run itself to be mutable.
        let table = self.tables[&oid].clone();
        match change {
            Change::Insert { values, .. } => self.insert(&table, values).await,
            Change::Update {
                row, base, values, ..
            } => self.update(index, &table, row, base, values).await,
            Change::Delete { row, base, .. } => self.delete(index, &table, row, base).await,
            Change::UpdateMatching {
                filters,
                values,
                expected,
                ..
            } => self.update_matching(&table, filters, values, *expected).await,
        }
    }

    /// Returns the result. The undo is turned round, and its rows are named by the identities that they have now.
    pub(super) async fn finish(mut self) -> Result<Outcome, ConsoleError> {
        self.outcome.undo.reverse();
        for change in &mut self.outcome.undo {
            if let Change::Update { table, row, .. } | Change::Delete { table, row, .. } = change {
                *row = self.moves.resolve(table, row);
            }
        }
        Ok(self.outcome)
    }

    async fn query(&self, statement: &Statement) -> Result<Vec<Row>, ConsoleError> {
        Ok(self
            .transaction
            .query_typed(statement.text(), &statement.parameters())
            .await?)
    }

    async fn insert(&mut self, table: &TableShape, values: &Cells) -> Result<(), ConsoleError> {
        let statement = insert_statement(table, values)?;
        let rows = self.query(&statement).await?;
        self.record("rows.insert", table, &statement, 1);
        self.note_effects(table, false).await?;
        let row = rows.first();
        let id = row.map(|row| self.identity(table, row.get("place")));
        // A row of a view has no id, so its insert cannot be undone.
        if let Some(id) = id.clone().filter(|id| *id != (RowId::Values {})) {
            self.outcome.undo.push(Change::Delete {
                table: table.oid.clone(),
                row: id,
                base: Texts::new(),
            });
        }
        self.outcome.rows.push(render_row(table, id, row));
        Ok(())
    }

    async fn update(
        &mut self,
        index: usize,
        table: &TableShape,
        row: &RowId,
        base: &Texts,
        values: &Cells,
    ) -> Result<(), ConsoleError> {
        // An earlier change of this run may have given the row another key or place.
        let row = self.moves.resolve(&table.oid, row);
        let statement = update_statement(table, &row, base, values)?;
        let Some(old) = self.lock(index, table, &row, base, json!(values)).await? else {
            return Ok(());
        };
        let rows = self.query(&statement).await?;
        self.record("rows.update", table, &statement, 1);
        self.note_effects(table, false).await?;
        let new = rows.first();
        let place: Vec<String> = new.map(|row| row.get("place")).unwrap_or_default();
        self.moves.record(&table.oid, &old.place, &place);
        let id = self.identity(table, place);
        if id != (RowId::Values {}) {
            let new_values = new.map(|row| read_values(table, row).0).unwrap_or_default();
            let of = |texts: &Texts| -> Texts {
                values
                    .keys()
                    .map(|name| (name.clone(), texts.get(name).cloned().flatten()))
                    .collect()
            };
            let is_cut = values.keys().any(|name| old.cut.contains(name));
            self.push_undo(table, id.clone(), of(&new_values), of(&old.values), is_cut);
        }
        self.outcome.rows.push(render_row(table, Some(id), new));
        Ok(())
    }

    async fn delete(
        &mut self,
        index: usize,
        table: &TableShape,
        row: &RowId,
        base: &Texts,
    ) -> Result<(), ConsoleError> {
        let row = self.moves.resolve(&table.oid, row);
        let statement = delete_statement(table, &row, base)?;
        let Some(old) = self.lock(index, table, &row, base, Value::Null).await? else {
            return Ok(());
        };
        // The row is locked, so this deletes exactly what was compared above.
        self.query(&statement).await?;
        self.record("rows.delete", table, &statement, 1);
        self.note_effects(table, true).await?;
        self.outcome.rows.push(Value::Null);
        if !old.cut.is_empty() {
            self.outcome.note(too_long(table));
            return Ok(());
        }
        // Generated columns refuse a value, and get the same one again from the others.
        let writable = table.columns.iter().filter(|column| !column.generated);
        let values = writable
            .map(|column| {
                let value = old.values.get(&column.name).cloned().flatten();
                (column.name.clone(), Cell::Value { value })
            })
            .collect();
        self.outcome.undo.push(Change::Insert {
            table: table.oid.clone(),
            values,
        });
        Ok(())
    }

    async fn update_matching(
        &mut self,
        table: &TableShape,
        filters: &[Filter],
        values: &Cells,
        expected: i64,
    ) -> Result<(), ConsoleError> {
        let for_undo = table.has_system_columns() && expected <= UNDONE_ROWS;
        let statement = update_matching_statement(table, filters, values, for_undo)?;
        let changed = if for_undo {
            let rows = self.query(&statement).await?;
            for row in &rows {
                let id = self.identity(table, row.get("place"));
                let (old, cut) = read_values(table, row);
                let is_cut = values.keys().any(|name| cut.contains(name));
                let of_old = values
                    .keys()
                    .map(|name| (name.clone(), old.get(name).cloned().flatten()));
                self.push_undo(table, id, Texts::new(), of_old.collect(), is_cut);
            }
            rows.len() as i64
        } else {
            self.outcome
                .note(format!("The change of {} cannot be undone", table.name));
            let parameters = statement.parameters();
            let count = self
                .transaction
                .execute_typed(statement.text(), &parameters)
                .await?;
            i64::try_from(count).unwrap_or(i64::MAX)
        };
        // An error here rolls the transaction back, so nothing of a surprising number of rows stays changed.
        if changed != expected {
            return Err(ConsoleError::conflict(format!(
                "{changed} rows match now, and {expected} did before"
            ))
            .with("expected", json!(expected))
            .with("found", json!(changed)));
        }
        self.record("rows.update", table, &statement, changed);
        self.note_effects(table, false).await?;
        self.outcome.rows.push(Value::Null);
        Ok(())
    }

    /// Locks a row and compares its version with the one that was read. If they differ, it records a conflict and
    /// returns `None`.
    async fn lock(
        &mut self,
        index: usize,
        table: &TableShape,
        row: &RowId,
        base: &Texts,
        mine: Value,
    ) -> Result<Option<Locked>, ConsoleError> {
        let rows = self.query(&lock_statement(table, row, base)?).await?;
        if rows.len() > 1 {
            return Err(ConsoleError::invalid(
                "Several rows have these values, so a single one cannot be changed",
            ));
        }
        let locked = rows.first().map(|row| {
            let (values, cut) = read_values(table, row);
            Locked {
                place: row.get("place"),
                version: row.get("xmin"),
                values,
                cut,
            }
        });
        let is_same = |locked: &Locked| match (&locked.version, row) {
            // A row that this transaction has changed itself is not a conflict.
            (Some(version), _) if *version == self.version => true,
            (Some(version), RowId::Key { xmin, .. } | RowId::Place { xmin, .. }) => version == xmin,
            _ => matches!(row, RowId::Values {}),
        };
        match locked {
            Some(locked) if is_same(&locked) => Ok(Some(locked)),
            changed => {
                let id = changed.as_ref().map(|locked| {
                    with_version(
                        table,
                        locked.place.clone(),
                        locked.version.clone().unwrap_or_default(),
                    )
                });
                self.outcome.conflicts.push(Conflict {
                    change: index,
                    base: base.clone(),
                    theirs: changed.map(|locked| locked.values),
                    mine,
                    id,
                });
                Ok(None)
            }
        }
    }

    fn push_undo(&mut self, table: &TableShape, row: RowId, base: Texts, old: Texts, is_cut: bool) {
        if is_cut {
            self.outcome.note(too_long(table));
            return;
        }
        let values = old
            .into_iter()
            .map(|(name, value)| (name, Cell::Value { value }))
            .collect();
        self.outcome.undo.push(Change::Update {
            table: table.oid.clone(),
            row,
            base,
            values,
        });
    }

    fn identity(&self, table: &TableShape, place: Vec<String>) -> RowId {
        with_version(table, place, self.version.clone())
    }

    fn record(&mut self, action: &'static str, table: &TableShape, statement: &Statement, rows: i64) {
        let target = format!("{}.{}", table.schema, table.name);
        self.outcome.statements.push(statement.readable().to_owned());
        self.outcome.count(action, &target, statement.text(), rows);
    }

    async fn note_effects(&mut self, table: &TableShape, deletes: bool) -> Result<(), ConsoleError> {
        let row = self.transaction.query_one(LASTING_EFFECTS, &[&table.oid]).await?;
        if row.get(0) {
            self.outcome.note(format!(
                "An undo does not take back what the triggers of {} did",
                table.name
            ));
        }
        if deletes && row.get(1) {
            self.outcome.note(format!(
                "An undo does not bring back rows that were deleted or changed along with those of {}",
                table.name
            ));
        }
        Ok(())
    }
}

fn too_long(table: &TableShape) -> String {
    format!("A row of {} is too long to be kept for an undo", table.name)
}

fn with_version(table: &TableShape, mut place: Vec<String>, xmin: String) -> RowId {
    if place.is_empty() {
        return RowId::Values {};
    }
    if !table.key.is_empty() {
        return RowId::Key { key: place, xmin };
    }
    let ctid = place.pop().unwrap_or_default();
    let tableoid = place.pop().unwrap_or_default();
    RowId::Place { tableoid, ctid, xmin }
}

/// Reads the values of a row by column, and the columns whose values are truncated.
fn read_values(table: &TableShape, row: &Row) -> (Texts, CutColumns) {
    let cells: Vec<Option<String>> = row.get("cells");
    let sizes: Vec<Option<i64>> = row.get("sizes");
    let names = || table.columns.iter().map(|column| column.name.clone());
    let cut = names().zip(sizes).filter_map(|(name, size)| size.map(|_| name));
    (names().zip(cells).collect(), cut.collect())
}

/// Returns a row as the grid shows it after the change, with long values cut.
fn render_row(table: &TableShape, id: Option<RowId>, row: Option<&Row>) -> Value {
    let Some(row) = row else {
        return Value::Null;
    };
    let (mut values, _) = read_values(table, row);
    for value in values.values_mut().flatten() {
        value.truncate(value.floor_char_boundary(CELL_BYTES));
    }
    json!({ "id": id, "values": values })
}
