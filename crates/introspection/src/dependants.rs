//! What depends on an object, from `pg_depend`.

use serde::Serialize;
use tokio_postgres::Error;

use crate::{CatalogReader, ObjectKind};

/// An object that another one needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependant {
    /// PostgreSQL's words for its kind, such as `view` or `table column`.
    pub kind: String,
    /// Its qualified name.
    pub name: String,
    /// Its oid in its own catalog.
    pub oid: String,
    /// `normal`: a drop needs `cascade`. `automatic` and `internal`: it goes along silently. `owner` and `policy`: a
    /// role owns it or is named by it.
    pub how: String,
}

impl CatalogReader<'_> {
    /// The objects that depend on this one directly. Grants have none.
    ///
    /// # Errors
    /// When the query fails.
    pub async fn list_dependants(&self, kind: ObjectKind, oid: &str) -> Result<Vec<Dependant>, Error> {
        // A grant is a part of its object, and nothing can hang on it.
        let Some(catalog) = kind.catalog() else {
            return Ok(Vec::new());
        };
        let rows = self
            .transaction
            .query(include_str!("dependants.sql"), &[&catalog, &oid])
            .await?;
        Ok(rows
            .iter()
            .map(|row| Dependant {
                kind: row.get("kind"),
                name: row.get("name"),
                oid: row.get("oid"),
                how: row.get("how"),
            })
            .collect())
    }
}
