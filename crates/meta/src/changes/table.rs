//! `POST /pg/tables` and `PATCH`, `DELETE /pg/tables/{oid}`.
//!
//! Bodies: [`NewTable`] and [`TableChanges`]. Source: postgres-meta 0.99, recorded in `e2e/golden/pg/tables.json`.

use selvedge_postgres::{quote_identifier, quote_literal};
use serde::Deserialize;

use super::body::read_nullable;
use super::kind::ObjectKind;
use super::transaction::Change;
use crate::error::MetaError;
use crate::sql_text::{join_identifiers, qualify};

/// Returns the oid of table `$1.$2`.
const FIND_TABLE: &str = "select c.oid::text from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relname = $2";

/// Returns the name of the primary key constraint of table `$1`.
const FIND_PRIMARY_KEY: &str =
    "select conname::text from pg_catalog.pg_constraint where contype = 'p' and conrelid = $1";

/// Ordinary and partitioned tables.
pub(super) struct Tables;

/// Body of `POST /pg/tables`.
#[derive(Deserialize)]
pub(super) struct NewTable {
    name: String,
    #[serde(default = "public_schema")]
    schema: String,
    comment: Option<String>,
}

/// The schema of a new object whose request has no `schema`.
pub(super) fn public_schema() -> String {
    "public".to_owned()
}

/// Body of `PATCH /pg/tables/{id}`; a missing member leaves that property unchanged.
#[derive(Deserialize)]
pub(super) struct TableChanges {
    name: Option<String>,
    schema: Option<String>,
    rls_enabled: Option<bool>,
    rls_forced: Option<bool>,
    replica_identity: Option<ReplicaIdentity>,
    /// The index of `INDEX`, by its name.
    replica_identity_index: Option<String>,
    /// The columns of the new primary key; an empty list removes the key.
    primary_keys: Option<Vec<KeyColumn>>,
    #[serde(default, deserialize_with = "read_nullable")]
    comment: Option<Option<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum ReplicaIdentity {
    Default,
    Index,
    Full,
    Nothing,
}

#[derive(Deserialize)]
struct KeyColumn {
    name: String,
}

/// The members of a table in `GET /pg/tables` that its statements need.
#[derive(Deserialize)]
pub(super) struct Table {
    id: u32,
    schema: String,
    name: String,
}

impl ObjectKind for Tables {
    const PATH: &'static str = "/tables";
    type New = NewTable;
    type Changes = TableChanges;
    type Object = Table;

    async fn create(change: &Change<'_>, new: NewTable) -> Result<String, MetaError> {
        let table = qualify(&new.schema, &new.name);
        // The table has no columns yet: clients add each one by `POST /pg/columns`.
        change.run(&format!("create table {table} ()")).await?;
        if let Some(comment) = &new.comment {
            change.run(&comment_on(&table, Some(comment))).await?;
        }
        let missing = || format!("Cannot find a table named {} in schema {}", new.name, new.schema);
        change
            .query_text(FIND_TABLE, &[&new.schema, &new.name], missing)
            .await
    }

    async fn alter(change: &Change<'_>, table: Table, changes: TableChanges) -> Result<String, MetaError> {
        let name = qualify(&table.schema, &table.name);
        change.run_all(&list_property_changes(&name, &changes)).await?;
        if let Some(columns) = &changes.primary_keys {
            replace_primary_key(change, &table, columns).await?;
        }
        if let Some(comment) = &changes.comment {
            change.run(&comment_on(&name, comment.as_deref())).await?;
        }
        // Renamed last, because the other statements use the old name.
        change.run_all(&list_moves(&table, &changes)).await?;
        Ok(table.id.to_string())
    }

    fn drop_statement(table: &Table, cascades: bool) -> String {
        let name = qualify(&table.schema, &table.name);
        format!("drop table {name} {}", drop_behavior(cascades))
    }
}

/// CASCADE drops the objects that depend on the dropped one, RESTRICT refuses the DROP when there are any.
pub(super) fn drop_behavior(cascades: bool) -> &'static str {
    if cascades { "cascade" } else { "restrict" }
}

fn comment_on(table: &str, comment: Option<&str>) -> String {
    let text = comment.map_or("null".to_owned(), quote_literal);
    format!("comment on table {table} is {text}")
}

/// Returns the statements that change row-level security and the replica identity.
fn list_property_changes(table: &str, changes: &TableChanges) -> Vec<String> {
    let mut actions = Vec::new();
    if let Some(is_enabled) = changes.rls_enabled {
        let verb = if is_enabled { "enable" } else { "disable" };
        actions.push(format!("{verb} row level security"));
    }
    if let Some(is_forced) = changes.rls_forced {
        let verb = if is_forced { "force" } else { "no force" };
        actions.push(format!("{verb} row level security"));
    }
    if let Some(identity) = &changes.replica_identity {
        let index = changes.replica_identity_index.as_deref().unwrap_or_default();
        actions.push(match identity {
            ReplicaIdentity::Default => "replica identity default".to_owned(),
            ReplicaIdentity::Index => format!("replica identity using index {}", quote_identifier(index)),
            ReplicaIdentity::Full => "replica identity full".to_owned(),
            ReplicaIdentity::Nothing => "replica identity nothing".to_owned(),
        });
    }
    let actions = actions.iter();
    actions
        .map(|action| format!("alter table {table} {action}"))
        .collect()
}

/// Replaces the primary key by one on `columns`; without columns the table has none afterwards.
async fn replace_primary_key(
    change: &Change<'_>,
    table: &Table,
    columns: &[KeyColumn],
) -> Result<(), MetaError> {
    let name = qualify(&table.schema, &table.name);
    // `GET /pg/tables` shows the key's columns, but not the constraint's name, which DROP CONSTRAINT needs.
    for key in change.query_texts(FIND_PRIMARY_KEY, &[&table.id]).await? {
        let constraint = quote_identifier(&key);
        change
            .run(&format!("alter table {name} drop constraint {constraint}"))
            .await?;
    }
    if columns.is_empty() {
        return Ok(());
    }
    let columns = join_identifiers(columns.iter().map(|column| column.name.as_str()));
    change
        .run(&format!("alter table {name} add primary key ({columns})"))
        .await
}

/// Returns the statements that change a table's schema and name.
fn list_moves(table: &Table, changes: &TableChanges) -> Vec<String> {
    let mut statements = Vec::new();
    // The schema is changed first, under the old name; the rename then happens in the new schema.
    let schema = changes.schema.as_ref().unwrap_or(&table.schema);
    if *schema != table.schema {
        let name = qualify(&table.schema, &table.name);
        statements.push(format!(
            "alter table {name} set schema {}",
            quote_identifier(schema)
        ));
    }
    if let Some(name) = changes.name.as_ref().filter(|name| **name != table.name) {
        let table = qualify(schema, &table.name);
        statements.push(format!(
            "alter table {table} rename to {}",
            quote_identifier(name)
        ));
    }
    statements
}
