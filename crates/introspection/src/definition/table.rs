//! The statements that make a table again, with everything that belongs to it.

use crate::{CatalogReader, IntrospectionError};

/// The queries that write the parts of a table's definition, in the order in which the parts must run.
const PARTS: [&str; 9] = [
    include_str!("sql/table_sequences.sql"),
    include_str!("sql/table_create.sql"),
    include_str!("sql/table_sequence_owners.sql"),
    include_str!("sql/table_constraints.sql"),
    include_str!("sql/table_indexes.sql"),
    include_str!("sql/table_triggers.sql"),
    include_str!("sql/table_security.sql"),
    include_str!("sql/table_grants.sql"),
    include_str!("sql/table_comments.sql"),
];

impl CatalogReader<'_> {
    /// Returns the definition of a table, partitioned table or foreign table, or `None` when there is no such table.
    pub(super) async fn define_table(&self, oid: &str) -> Result<Option<String>, IntrospectionError> {
        let mut parts = Vec::new();
        for (index, sql) in PARTS.into_iter().enumerate() {
            let row = self.transaction.query_opt(sql, &[&oid]).await?;
            match row.and_then(|row| row.get::<_, Option<String>>(0)) {
                Some(part) => parts.push(part),
                // The first statement creates the table; without it there is no such table.
                None if index == 1 => return Ok(None),
                None => {}
            }
        }
        Ok(Some(parts.join("\n")))
    }
}
