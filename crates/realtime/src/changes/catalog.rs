//! The tables of the publication `supabase_realtime`: their columns and types, and the rights of roles on them.
//!
//! The replication stream gives types only as oids and marks the replica identity instead of the primary key. Type
//! names, keys and row-level security therefore come from here. A [`Catalog`] is a snapshot; the feed loads a new one
//! when DDL was announced or the stream names a table that the snapshot lacks.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use selvedge_postgres::JsonType;
use serde::Deserialize;
use tokio_postgres::types::Json;
use tokio_postgres::{Client, Error};

use super::snapshot::Snapshot;

/// The publication whose tables clients may subscribe to.
pub(crate) const PUBLICATION: &str = "supabase_realtime";

const BYTEA_OID: u32 = 17;
/// Types with `NaN` or infinities, which JSON cannot express: `float4`, `float8` and `numeric`.
const NUMBER_OIDS: [u32; 3] = [700, 701, 1700];

/// A snapshot of the published tables.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    tables: HashMap<u32, Rc<PublishedTable>>,
    /// Published tables of Citus whose changes are not in this server's stream.
    unseen: Vec<UnseenTable>,
    /// Whether the stream names the shards of Citus's tables as these tables; see [`CitusTables::captures_shards`].
    captures_shards: bool,
    /// Taken before the tables were read, which therefore show at least what it sees.
    snapshot: Snapshot,
}

/// A published table of Citus whose changes are not in this server's stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnseenTable {
    pub(crate) schema: String,
    pub(crate) name: String,
    /// Whether this server stores the rows, so that its changes would be in the stream if Citus captured them.
    pub(crate) is_here: bool,
}

/// A published table.
#[derive(Debug)]
pub(crate) struct PublishedTable {
    pub(crate) oid: u32,
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) has_row_security: bool,
    /// Whether the publication has inserts, updates and deletes of all rows, so that no change of a row is missing in the stream.
    pub(crate) is_streamed_whole: bool,
    /// Whether no policy of the table can read the claims, so that the visibility of a row depends on the role alone.
    /// Decided by the text of the policies: without a function call or subquery they see only the row.
    pub(crate) is_visible_by_role: bool,
    /// The columns, in table order.
    pub(crate) columns: Vec<TableColumn>,
}

/// A column of a published table.
#[derive(Debug)]
pub(crate) struct TableColumn {
    pub(crate) name: String,
    /// `pg_attribute.attnum`, which a column keeps when it is renamed.
    pub(crate) number: i16,
    pub(crate) type_oid: u32,
    /// `pg_type.typname`, as events show it.
    pub(crate) type_name: String,
    /// The type as SQL writes it, quoted and qualified where needed.
    pub(crate) sql_type: String,
    /// Whether the column belongs to the primary key.
    pub(crate) is_key: bool,
    /// Whether PostgreSQL computes the value; the stream may not contain it.
    pub(crate) is_generated: bool,
    /// The character that separates the elements of an array of this type: a comma for almost all types.
    pub(crate) array_delimiter: u8,
    pub(crate) rendering: Rendering,
}

/// How a value's text form becomes JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rendering {
    Json(JsonType),
    /// A number, whose `NaN` and infinities become null.
    Number(JsonType),
    /// Hexadecimal digits without the leading `\x`.
    Bytea,
    /// Only PostgreSQL can write it (`to_jsonb`): composite types, and types with a cast to json.
    Sql,
}

impl PublishedTable {
    /// The position of a column in the table.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The positions of the primary key's columns; none for a table without a primary key.
    pub(crate) fn key_columns(&self) -> impl Iterator<Item = usize> {
        self.columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.is_key)
            .map(|(index, _)| index)
    }

    /// Whether there is a primary key and the flag of each of its columns is true.
    pub(crate) fn has_selectable_key(&self, selectable: &[bool]) -> bool {
        let mut key = self.key_columns().peekable();
        key.peek().is_some() && key.all(|column| selectable.get(column).copied().unwrap_or(false))
    }
}

/// A column as `sql/published_tables.sql` describes it.
#[derive(Deserialize)]
struct ColumnRow {
    name: String,
    number: i16,
    type_oid: u32,
    type_name: String,
    sql_type: String,
    is_key: bool,
    is_generated: bool,
    array_delimiter: String,
}

impl Catalog {
    /// Reads the catalog.
    ///
    /// # Errors
    /// When the query fails.
    pub(crate) async fn load(client: &Client) -> Result<Self, Error> {
        let snapshot = Snapshot::take(client).await?;
        let rows = client
            .query(include_str!("sql/published_tables.sql"), &[&PUBLICATION])
            .await?;
        let citus = CitusTables::load(client).await?;
        let mut unseen = Vec::new();
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            let oid: u32 = row.try_get("oid")?;
            if let Some(is_here) = citus.unseen_table_is_here(oid) {
                // Kept apart, so that no subscription waits for changes that never come.
                unseen.push(UnseenTable {
                    schema: row.try_get("schema")?,
                    name: row.try_get("name")?,
                    is_here,
                });
                continue;
            }
            // One JSON value per table instead of one row per column keeps the columns of a table together and in
            // order.
            let columns: Option<Json<Vec<ColumnRow>>> = row.try_get("columns")?;
            // Null for a table without columns.
            found.push((row, columns.map(|columns| columns.0).unwrap_or_default()));
        }
        let types = TypeTable::load(client, found.iter().flat_map(|(_, columns)| columns)).await?;

        let mut tables = HashMap::with_capacity(found.len());
        for (row, columns) in found {
            let columns = columns.into_iter().map(|column| types.describe_column(column));
            let table = PublishedTable {
                oid: row.try_get("oid")?,
                schema: row.try_get("schema")?,
                name: row.try_get("name")?,
                has_row_security: row.try_get("has_row_security")?,
                is_streamed_whole: row.try_get("is_streamed_whole")?,
                is_visible_by_role: row.try_get("is_visible_by_role")?,
                columns: columns.collect(),
            };
            tables.insert(table.oid, Rc::new(table));
        }
        Ok(Self {
            tables,
            unseen,
            captures_shards: citus.captures_shards,
            snapshot,
        })
    }

    /// Whether the catalog shows the tables at least as this committed transaction left them.
    pub(crate) fn includes(&self, xid: u32) -> bool {
        self.snapshot.sees(xid)
    }

    pub(crate) fn table(&self, oid: u32) -> Option<&Rc<PublishedTable>> {
        self.tables.get(&oid)
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = &Rc<PublishedTable>> {
        self.tables.values()
    }

    /// The published tables whose changes cannot be seen.
    pub(crate) fn unseen_tables(&self) -> impl Iterator<Item = &UnseenTable> + Clone {
        self.unseen.iter()
    }

    /// Whether the stream of this server names the shards of Citus's tables as these tables.
    pub(crate) fn captures_shards(&self) -> bool {
        self.captures_shards
    }
}

/// Whether Citus captures changes of shards; no row without Citus.
const CAPTURES_SHARDS: &str = "
    select coalesce(current_setting('citus.enable_change_data_capture', true) = 'on', false)
    where to_regclass('pg_catalog.pg_dist_partition') is not null";

/// The tables of Citus. It stores their rows in shards, which are tables with other names and not published, also those of
/// local tables that it manages because reference tables are related to them.
#[derive(Default)]
struct CitusTables {
    /// Whether Citus's output plugin takes the place of PostgreSQL's, and writes changes of shards as changes of their tables.
    captures_shards: bool,
    /// By oid, whether this server stores all rows and publishes their changes.
    are_rows_here: HashMap<u32, bool>,
}

impl CitusTables {
    /// Reads the tables; none without Citus.
    async fn load(client: &Client) -> Result<Self, Error> {
        let Some(row) = client.query_typed(CAPTURES_SHARDS, &[]).await?.into_iter().next() else {
            return Ok(Self::default());
        };
        let tables = client.query_typed(include_str!("sql/citus_tables.sql"), &[]);
        let tables = tables.await?;
        let are_rows_here = tables.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
        Ok(Self {
            captures_shards: row.try_get(0)?,
            are_rows_here: are_rows_here.collect::<Result<_, Error>>()?,
        })
    }

    /// Whether this server stores the rows of a table whose changes are not in its stream; `None` when they are.
    fn unseen_table_is_here(&self, oid: u32) -> Option<bool> {
        // A local table that Citus does not know is streamed as on any PostgreSQL.
        let is_here = *self.are_rows_here.get(&oid)?;
        (!is_here || !self.captures_shards).then_some(is_here)
    }
}

/// The types of the published columns, with the base types of domains and the element types of arrays.
struct TypeTable(HashMap<u32, TypeRow>);

struct TypeRow {
    kind: String,
    /// Base type of a domain, element type of an array, else 0.
    inner_oid: u32,
    has_json_cast: bool,
}

impl TypeTable {
    async fn load(client: &Client, columns: impl Iterator<Item = &ColumnRow>) -> Result<Self, Error> {
        let mut oids: Vec<u32> = columns.map(|column| column.type_oid).collect();
        oids.sort_unstable();
        oids.dedup();
        let rows = client.query(include_str!("sql/types.sql"), &[&oids]).await?;
        let mut types = HashMap::with_capacity(rows.len());
        for row in rows {
            let entry = TypeRow {
                kind: row.try_get("kind")?,
                inner_oid: row.try_get("inner_oid")?,
                has_json_cast: row.try_get("has_json_cast")?,
            };
            types.insert(row.try_get("oid")?, entry);
        }
        Ok(Self(types))
    }

    fn describe_column(&self, column: ColumnRow) -> TableColumn {
        TableColumn {
            rendering: self.rendering_of(column.type_oid),
            name: column.name,
            number: column.number,
            type_oid: column.type_oid,
            type_name: column.type_name,
            sql_type: column.sql_type,
            is_key: column.is_key,
            is_generated: column.is_generated,
            array_delimiter: column.array_delimiter.bytes().next().unwrap_or(b','),
        }
    }

    /// How values of a type become JSON, decided as `to_jsonb` decides it.
    fn rendering_of(&self, oid: u32) -> Rendering {
        if oid == BYTEA_OID {
            return Rendering::Bytea;
        }
        if let Some(json) = JsonType::from_type_oid(oid) {
            return if NUMBER_OIDS.contains(&oid) {
                Rendering::Number(json)
            } else {
                Rendering::Json(json)
            };
        }
        // The type was dropped since the columns were read; its text form is always valid.
        let Some(row) = self.0.get(&oid) else {
            return Rendering::Json(JsonType::string());
        };
        match row.kind.as_str() {
            "c" => Rendering::Sql,
            _ if row.has_json_cast => Rendering::Sql,
            // A domain is rendered as its base type, as `to_jsonb` does.
            "d" => self.rendering_of(row.inner_oid),
            // Enums, ranges and multiranges.
            "e" | "r" | "m" => Rendering::Json(JsonType::string()),
            _ if row.inner_oid != 0 => match self.rendering_of(row.inner_oid) {
                Rendering::Json(element) | Rendering::Number(element) => Rendering::Json(element.array()),
                Rendering::Bytea | Rendering::Sql => Rendering::Sql,
            },
            _ => Rendering::Json(JsonType::string()),
        }
    }
}

/// The SELECT rights of one role on the published tables.
#[derive(Debug)]
pub(crate) struct RolePrivileges {
    /// Whether the role is a superuser or has BYPASSRLS, so that its rows need no check.
    pub(crate) bypasses_row_security: bool,
    /// By table: for each column, whether the role may select it.
    selectable: HashMap<u32, Rc<[bool]>>,
    /// Tables whose system columns the role may select.
    versions: HashSet<u32>,
}

impl RolePrivileges {
    /// Reads the privileges of one role on all tables of the catalog.
    ///
    /// # Errors
    /// When the query fails, or there is no such role.
    pub(crate) async fn load(client: &Client, catalog: &Catalog, role: &str) -> Result<Self, Error> {
        let bypasses_row_security = client
            .query_one(
                "select rolbypassrls or rolsuper from pg_catalog.pg_roles where rolname = $1::text",
                &[&role],
            )
            .await?
            .try_get(0)?;
        let oids: Vec<u32> = catalog.tables().map(|table| table.oid).collect();
        let rows = client
            .query(include_str!("sql/role_privileges.sql"), &[&role, &oids])
            .await?;
        let mut selectable = HashMap::with_capacity(rows.len());
        let mut versions = HashSet::new();
        for row in rows {
            let oid: u32 = row.try_get("oid")?;
            if row.try_get("reads_versions")? {
                versions.insert(oid);
            }
            let numbers: Vec<i16> = row.try_get("columns")?;
            if let Some(table) = catalog.table(oid) {
                let flags = table
                    .columns
                    .iter()
                    .map(|column| numbers.contains(&column.number));
                selectable.insert(oid, flags.collect());
            }
        }
        Ok(Self {
            bypasses_row_security,
            selectable,
            versions,
        })
    }

    /// Whether the role may select the table's system columns.
    pub(crate) fn reads_versions(&self, table: &PublishedTable) -> bool {
        self.versions.contains(&table.oid)
    }

    /// For each column of the table, whether the role may select it. A table that the rights do not cover counts as
    /// forbidden.
    pub(crate) fn selectable(&self, table: &PublishedTable) -> Rc<[bool]> {
        self.selectable
            .get(&table.oid)
            .cloned()
            .unwrap_or_else(|| vec![false; table.columns.len()].into())
    }
}
