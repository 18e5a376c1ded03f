//! Queries on the system catalog that run on the source and on the target of an import.

use anyhow::Result;
use selvedge_database::PLATFORM_SCHEMAS;
use selvedge_postgres::quote_identifier;
use tokio_postgres::Client;

/// Schemas that Supabase's PostgreSQL image creates and Selvedge does not have.
const IMAGE_SCHEMAS: [&str; 5] = ["pgsodium", "pgsodium_masks", "pgtle", "_analytics", "_supavisor"];

/// Lists the schemas that belong neither to PostgreSQL, nor to an extension, nor to the platform (`$1`).
const PROJECT_SCHEMAS: &str = "
    select n.nspname::text from pg_namespace as n
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and n.nspname <> all ($1::text[])
      and not exists (
        select from pg_depend as d
        where d.classid = 'pg_namespace'::regclass and d.objid = n.oid and d.deptype = 'e'
      )
    order by 1";

/// A table and its columns other than generated ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
}

impl Table {
    /// Returns the quoted qualified name.
    pub(crate) fn quoted(&self) -> String {
        quote_qualified(&self.schema, &self.name)
    }
}

/// Returns the quoted name of an object in a schema.
pub(crate) fn quote_qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", quote_identifier(schema), quote_identifier(name))
}

/// Returns the schemas of Supabase's platform and of Selvedge's.
pub(crate) fn platform_schemas() -> Vec<&'static str> {
    PLATFORM_SCHEMAS.into_iter().chain(IMAGE_SCHEMAS).collect()
}

/// Lists the schemas that the project's migrations fill: `public`, its own, and the history of migrations.
pub(crate) async fn list_project_schemas(client: &Client) -> Result<Vec<String>> {
    let rows = client.query(PROJECT_SCHEMAS, &[&platform_schemas()]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Lists the tables of these schemas and further tables, which are given as `schema.table`.
pub(crate) async fn list_tables(
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

/// Counts a table's rows, without those of partitions and inheriting tables.
pub(crate) async fn count_rows(client: &Client, table: &Table) -> Result<i64> {
    let query = format!("select count(*) from only {}", table.quoted());
    Ok(client.query_one(&query, &[]).await?.get(0))
}
