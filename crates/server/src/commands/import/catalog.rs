//! Questions about a database that source and target are both asked.

use anyhow::Result;
use selvedge_postgres::quote_identifier;
use tokio_postgres::Client;

use crate::database::PLATFORM_SCHEMAS;

/// Schemas of Supabase's image that Selvedge does not have.
const IMAGE_SCHEMAS: [&str; 5] = ["pgsodium", "pgsodium_masks", "pgtle", "_analytics", "_supavisor"];

const PROJECT_SCHEMAS: &str = "
    select n.nspname::text from pg_namespace as n
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and n.nspname <> all ($1::text[])
      and not exists (
        select from pg_depend as d
        where d.classid = 'pg_namespace'::regclass and d.objid = n.oid and d.deptype = 'e'
      )
    order by 1";

/// A table and its columns that can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) schema: String,
    pub(super) name: String,
    pub(super) columns: Vec<String>,
}

impl Table {
    /// Its quoted name.
    pub(super) fn quoted(&self) -> String {
        quote_qualified(&self.schema, &self.name)
    }
}

pub(super) fn quote_qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", quote_identifier(schema), quote_identifier(name))
}

/// Every schema of Supabase's and of our platform.
pub(super) fn platform_schemas() -> Vec<&'static str> {
    PLATFORM_SCHEMAS.into_iter().chain(IMAGE_SCHEMAS).collect()
}

/// The schemas that the project has made, with `public` and the history of migrations.
pub(super) async fn list_project_schemas(client: &Client) -> Result<Vec<String>> {
    let rows = client.query(PROJECT_SCHEMAS, &[&platform_schemas()]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// The tables of these schemas, and further ones, named `schema.table`.
pub(super) async fn list_tables(
    client: &Client,
    schemas: &[String],
    further: &[String],
) -> Result<Vec<Table>> {
    let rows = client
        .query(include_str!("sql/tables.sql"), &[&schemas, &further])
        .await?;
    let table = |row: &tokio_postgres::Row| Table {
        schema: row.get(0),
        name: row.get(1),
        columns: row.get(2),
    };
    Ok(rows.iter().map(table).collect())
}

pub(super) async fn count_rows(client: &Client, table: &Table) -> Result<i64> {
    let query = format!("select count(*) from only {}", table.quoted());
    Ok(client.query_one(&query, &[]).await?.get(0))
}

/// A text that tells this database from every other: the cluster's number and the database's.
pub(super) async fn find_identity(client: &Client) -> Result<String> {
    let query =
        "select system_identifier || '/' || (select oid from pg_database where datname = current_database())
                 from pg_control_system()";
    Ok(client.query_one(query, &[]).await?.get(0))
}
