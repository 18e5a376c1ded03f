//! The sizes of Citus's tables. Citus stores their rows in shards, which are other tables, so PostgreSQL's statistics of the tables
//! themselves are those of empty ones.

use std::collections::HashMap;

use tokio_postgres::{Error, Transaction};

/// The size of a table of Citus. All of it is unknown when other nodes store rows of the table.
pub(crate) struct CitusTableSize {
    /// The estimated number of rows.
    pub(crate) rows: Option<i64>,
    /// The bytes of all shards with their indexes.
    pub(crate) bytes: Option<i64>,
    /// The bytes of the indexes alone.
    pub(crate) index_bytes: Option<i64>,
}

impl CitusTableSize {
    /// Returns the bytes without those of the indexes.
    pub(crate) fn row_bytes(&self) -> Option<i64> {
        Some(self.bytes? - self.index_bytes?)
    }
}

/// Reads the sizes of Citus's tables by the tables' oids; none in a database without Citus.
pub(crate) async fn load_citus_sizes(
    transaction: &Transaction<'_>,
) -> Result<HashMap<String, CitusTableSize>, Error> {
    let has_citus = "select 1 where to_regclass('pg_catalog.pg_dist_partition') is not null";
    if transaction.query_typed(has_citus, &[]).await?.is_empty() {
        return Ok(HashMap::new());
    }
    // While the setting is off, Citus lists shards among the tables.
    transaction
        .batch_execute("set local citus.override_table_visibility = off")
        .await?;
    let rows = transaction
        .query_typed(include_str!("table_sizes.sql"), &[])
        .await?;
    // The reader's other queries must not list them.
    transaction
        .batch_execute("set local citus.override_table_visibility = on")
        .await?;
    let sizes = rows.iter().map(|row| {
        let size = CitusTableSize {
            rows: row.get("rows"),
            bytes: row.get("bytes"),
            index_bytes: row.get("index_bytes"),
        };
        (row.get("oid"), size)
    });
    Ok(sizes.collect())
}
