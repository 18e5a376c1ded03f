//! The tables with the disk space that they take.

use std::cmp::Reverse;

use serde::Serialize;
use tokio_postgres::Error;

use crate::CatalogReader;
use crate::citus::load_citus_sizes;

/// A table, a partition or a materialized view. Of a table of Citus that other nodes store rows of, the numbers are unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableSize {
    /// The schema's name.
    pub schema: String,
    /// The name without its schema.
    pub name: String,
    /// The bytes of the rows, including long values, which PostgreSQL stores apart from them.
    pub bytes: Option<i64>,
    /// The bytes of all indexes.
    pub index_bytes: Option<i64>,
    /// The estimated number of rows.
    pub rows: Option<i64>,
}

impl TableSize {
    /// Returns the bytes of rows and indexes together. Unknown ones count as none, so that such a table is listed last.
    fn total_bytes(&self) -> i64 {
        self.bytes.unwrap_or(0) + self.index_bytes.unwrap_or(0)
    }
}

impl CatalogReader<'_> {
    /// Lists the largest tables, the largest first. Each partition is listed separately.
    ///
    /// # Errors
    /// When a query fails.
    pub async fn list_largest_tables(&self, limit: usize) -> Result<Vec<TableSize>, Error> {
        let rows = self.transaction.query(include_str!("tables.sql"), &[]).await?;
        let citus = load_citus_sizes(&self.transaction).await?;
        let mut tables: Vec<TableSize> = rows
            .iter()
            .map(|row| {
                let citus = citus.get(row.get::<_, &str>("oid"));
                TableSize {
                    schema: row.get("schema"),
                    name: row.get("name"),
                    bytes: citus.map_or_else(|| row.get("bytes"), |size| size.row_bytes()),
                    index_bytes: citus.map_or_else(|| row.get("index_bytes"), |size| size.index_bytes),
                    rows: citus.map_or_else(|| row.get("rows"), |size| size.rows),
                }
            })
            .collect();
        // Tables of the same size are sorted by name, so that the list does not change from one request to the next. The query itself has
        // no limit, because it sees tables of Citus as empty and would leave out large ones.
        tables.sort_by_cached_key(|table| {
            (
                Reverse(table.total_bytes()),
                table.schema.clone(),
                table.name.clone(),
            )
        });
        tables.truncate(limit);
        Ok(tables)
    }
}
