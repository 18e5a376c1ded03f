//! The question whether an identity sees changed rows now, and whether they are still as the change left them.
//!
//! The feed may get to a change long after its commit: in a large transaction, or when it was held up. Row-level security
//! can be asked only about the row as it is then, so a policy may show a row whose earlier values it never showed. A value
//! of a change is therefore sent only if the row, as the identity sees it now, still has it. One statement tells most of
//! it: a row whose version (`xmin`) was written by the transaction of the change, and which the rest of that transaction
//! left alone, has the values of the change. Only for other rows the values themselves are compared, by a second
//! statement: rows changed by later transactions, by a subtransaction, or several times by one transaction, and rows of
//! tables on which the role may select single columns only, to which `xmin` does not belong.

use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;

use bytes::Bytes;
use selvedge_postgres::{Param, SqlStatement, quote_identifier};
use sha2::{Digest, Sha256};

use super::catalog::{PublishedTable, TableColumn};
use super::row_change::{Cell, MAX_RECORD_BYTES, RowChange};
use super::subscriptions::Identity;

/// Types whose equal values have equal texts: `int8`, `int2`, `int4`, `uuid`.
const EXACT_OIDS: [u32; 4] = [20, 21, 23, 2950];

/// Changed rows of one table whose visibility to one identity is to be checked.
#[derive(Debug)]
pub(crate) struct VisibilityQuestion {
    pub(crate) identity: Rc<Identity>,
    pub(crate) table: Rc<PublishedTable>,
    /// For each column of the table, whether the identity's role may select it.
    pub(crate) selectable: Rc<[bool]>,
    /// Whether the role may select `xmin`.
    pub(crate) reads_versions: bool,
    /// Positions of the changes in their batch, parallel to `keys`.
    pub(crate) changes: Vec<usize>,
    /// The texts of each row's primary key.
    pub(crate) keys: Vec<Vec<Bytes>>,
}

/// A changed row that the identity sees now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VisibleRow {
    /// All values of the change are those that the identity can select now.
    Unchanged,
    /// The row was changed again. For each column of the table, whether its value is still that of the change.
    ChangedSince(Vec<bool>),
}

/// The visible rows by the positions of their changes.
pub(crate) type VisibleRows = HashMap<usize, VisibleRow>;

/// The parts of a statement that look rows up by their keys.
struct KeyLookup {
    /// `$1::int4[], …`: one array of texts for each key column.
    arrays: String,
    /// `k1, …`: their names.
    names: String,
    /// `t."id" = k.k1 and …`
    conditions: String,
    /// Whether each key has the same text as the row's: an equal key may be written in another way, as `1.0` and `1.00`.
    has_same_text: String,
    params: Vec<Param>,
}

impl VisibilityQuestion {
    fn lookup(&self) -> KeyLookup {
        let mut lookup = KeyLookup {
            arrays: String::new(),
            names: String::new(),
            conditions: String::new(),
            has_same_text: "true".to_owned(),
            params: Vec::new(),
        };
        for (position, column) in self.table.key_columns().enumerate() {
            let Some(column) = self.table.columns.get(column) else {
                continue;
            };
            let number = position + 1;
            let separator = if position == 0 { "" } else { ", " };
            let and = if position == 0 { "" } else { " and " };
            let name = quote_identifier(&column.name);
            push(
                &mut lookup.arrays,
                format_args!("{separator}${number}::{}[]", column.sql_type),
            );
            push(&mut lookup.names, format_args!("{separator}k{number}"));
            push(
                &mut lookup.conditions,
                format_args!("{and}t.{name} = k.k{number}"),
            );
            if !EXACT_OIDS.contains(&column.type_oid) {
                push(
                    &mut lookup.has_same_text,
                    format_args!(r#" and t.{name}::text collate "C" = k.k{number}::text collate "C""#),
                );
            }
            let values = self.keys.iter().filter_map(|key| key.get(position));
            lookup.params.push(array_param(column.array_delimiter, values));
        }
        lookup
    }

    /// A statement that returns the visible rows as one text such as `1:745,3:0`: their numbers, counted from 1, and the
    /// transactions that wrote their versions; 0 for a row whose key is written differently, which is another version.
    ///
    /// Its text depends on the table alone, so it is prepared once per connection; the keys are passed as one array
    /// parameter per key column, and never become part of the text.
    pub(crate) fn version_statement(&self) -> SqlStatement {
        let KeyLookup {
            arrays,
            names,
            conditions,
            has_same_text,
            params,
        } = self.lookup();
        SqlStatement {
            text: format!(
                "select string_agg(k.n::text || ':' || case when {has_same_text} then t.xmin::text else '0' end, ',') \
                 from unnest({arrays}) with ordinality as k ({names}, n) join {} as t on {conditions}",
                self.table_name(),
            ),
            params,
            force_custom_plan: false,
        }
    }

    /// A statement that compares the values of the changes at `places` of this question with those that the identity can
    /// select now. It returns the visible rows as one text such as `1:0110,2:1111`: their numbers in `places`, counted from
    /// 1, and for each of [`VisibilityQuestion::compared_columns`] whether its value is still that of the change.
    ///
    /// Its text depends on the table and the rights of the role, so it is prepared once per connection and role.
    pub(crate) fn value_statement(&self, places: &[usize], batch: &[RowChange]) -> SqlStatement {
        let chosen = Self {
            identity: Rc::clone(&self.identity),
            table: Rc::clone(&self.table),
            selectable: Rc::clone(&self.selectable),
            reads_versions: self.reads_versions,
            changes: pick(&self.changes, places),
            keys: pick(&self.keys, places),
        };
        let KeyLookup {
            mut arrays,
            mut names,
            conditions,
            mut params,
            ..
        } = chosen.lookup();
        let mut tests = String::new();
        for (position, column) in chosen.compared_columns() {
            let number = params.len() + 1;
            push(&mut arrays, format_args!(", ${number}::text[]"));
            push(&mut names, format_args!(", k{number}"));
            let separator = if tests.is_empty() { "" } else { ", " };
            push(&mut tests, format_args!("{separator}"));
            push_comparison(&mut tests, column, number);
            let values: Vec<Bytes> = chosen
                .changes
                .iter()
                .map(|change| marked_value(batch.get(*change).map(|change| change.filter_cell(position))))
                .collect();
            params.push(array_param(b',', values.iter()));
        }
        SqlStatement {
            text: format!(
                "select string_agg(k.n::text || ':' || array_to_string(array[{tests}]::bool[]::int[], ''), ',') \
                 from unnest({arrays}) with ordinality as k ({names}, n) join {} as t on {conditions}",
                chosen.table_name(),
            ),
            params,
            force_custom_plan: false,
        }
    }

    /// What a role without claims reads in the rows with these keys.
    pub(crate) fn of_reader(
        role: &str,
        table: &Rc<PublishedTable>,
        changes: Vec<usize>,
        keys: Vec<Vec<Bytes>>,
    ) -> Self {
        Self {
            identity: Rc::new(Identity {
                role: role.to_owned(),
                claims: format!(r#"{{"role":"{role}"}}"#),
            }),
            table: Rc::clone(table),
            selectable: Rc::from([]),
            reads_versions: false,
            changes,
            keys,
        }
    }

    /// A statement that reads the values of these columns: for each row that exists its number, counted from 1, and the texts.
    pub(crate) fn column_statement(&self, columns: &[usize]) -> SqlStatement {
        let KeyLookup {
            arrays,
            names,
            conditions,
            params,
            ..
        } = self.lookup();
        let mut values = String::new();
        for column in columns
            .iter()
            .filter_map(|column| self.table.columns.get(*column))
        {
            // One character more than is ever sent, by which a value is known to be too long.
            let name = quote_identifier(&column.name);
            push(
                &mut values,
                format_args!(", left(t.{name}::text, {})", MAX_RECORD_BYTES + 1),
            );
        }
        SqlStatement {
            text: format!(
                "select k.n::int8{values} from unnest({arrays}) with ordinality as k ({names}, n) join {} as t on {conditions}",
                self.table_name(),
            ),
            params,
            force_custom_plan: false,
        }
    }

    /// The columns whose values are compared, with their positions: those that the role may select. The key is what the row was
    /// found by.
    fn compared_columns(&self) -> impl Iterator<Item = (usize, &TableColumn)> {
        let columns = self.table.columns.iter().enumerate().zip(self.selectable.iter());
        columns
            .filter(|((_, column), selectable)| **selectable && !column.is_key)
            .map(|(column, _)| column)
    }

    /// Reads an answer of [`VisibilityQuestion::value_statement`] for one row.
    pub(crate) fn read_comparison(&self, flags: &str) -> VisibleRow {
        let mut flags = flags.bytes();
        // Columns that the role may not select are never sent, and the key is known to be that of the row.
        let mut is_current: Vec<bool> = self.table.columns.iter().map(|column| column.is_key).collect();
        let mut are_all = true;
        for (position, _) in self.compared_columns() {
            let is_same = flags.next() == Some(b'1');
            are_all &= is_same;
            if let Some(flag) = is_current.get_mut(position) {
                *flag = is_same;
            }
        }
        match are_all {
            true => VisibleRow::Unchanged,
            false => VisibleRow::ChangedSince(is_current),
        }
    }

    fn table_name(&self) -> String {
        format!(
            "{}.{}",
            quote_identifier(&self.table.schema),
            quote_identifier(&self.table.name)
        )
    }
}

/// Splits an answer such as `1:745,3:0` into places, counted from 0, and what is said about each. `None`, the aggregate of no
/// rows, has none.
pub(crate) fn read_answer(answer: Option<&str>) -> impl Iterator<Item = (usize, &str)> {
    answer.unwrap_or_default().split(',').filter_map(|row| {
        let (number, rest) = row.split_once(':')?;
        // `with ordinality` counts from 1.
        Some((number.parse::<usize>().ok()?.checked_sub(1)?, rest))
    })
}

/// Writes the comparison of a column with the parameter `k<number>` ([`marked_value`]).
fn push_comparison(tests: &mut String, column: &TableColumn, number: usize) {
    let (name, sql_type) = (quote_identifier(&column.name), &column.sql_type);
    push(
        tests,
        format_args!(
            "case left(k.k{number}, 1) \
               when 'v' then t.{name}::text collate \"C\" is not distinct from \
                 substr(k.k{number}, 2)::{sql_type}::text collate \"C\" \
               when 'h' then encode(sha256(convert_to(t.{name}::text, 'UTF8')), 'hex') \
                 is not distinct from substr(k.k{number}, 2) \
               when 'n' then t.{name}::text is null \
               else true \
             end"
        ),
    );
}

/// A value for the comparison: `v` and its text, `h` and a hash of one that is too long to be sent, `n` for null, and `a` for one
/// that the stream does not contain.
fn marked_value(cell: Option<&Cell>) -> Bytes {
    match cell {
        Some(Cell::Text(text)) if text.len() <= MAX_RECORD_BYTES => [b"v", text.as_ref()].concat().into(),
        Some(Cell::Text(text)) => format!("h{}", hex::encode(Sha256::digest(text))).into(),
        Some(Cell::Null) => Bytes::from_static(b"n"),
        Some(Cell::Absent | Cell::Unknown) | None => Bytes::from_static(b"a"),
    }
}

fn pick<T: Clone>(list: &[T], places: &[usize]) -> Vec<T> {
    places
        .iter()
        .filter_map(|place| list.get(*place).cloned())
        .collect()
}

fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    text.write_fmt(more).expect("writing to a string cannot fail");
}

/// A PostgreSQL array literal with every element quoted, so that commas, braces and the word `NULL` in a key stay
/// data. `delimiter` is that of the type: `box`, and types that a project defines, have another one than the comma.
fn array_param<'a>(delimiter: u8, values: impl Iterator<Item = &'a Bytes>) -> Param {
    let mut literal = vec![b'{'];
    for value in values {
        if literal.len() > 1 {
            literal.push(delimiter);
        }
        literal.push(b'"');
        for byte in value.iter() {
            if matches!(byte, b'"' | b'\\') {
                literal.push(b'\\');
            }
            literal.push(*byte);
        }
        literal.push(b'"');
    }
    literal.push(b'}');
    Param::Text(literal.into())
}
