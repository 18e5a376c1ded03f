//! Lists what depends on an object, as `pg_depend` records it.

use serde::Serialize;
use tokio_postgres::Error;

use crate::{CatalogReader, ObjectKind};

/// An object that another one needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dependant {
    /// PostgreSQL's name of the kind, such as `view` or `table column`.
    pub kind: String,
    /// The qualified name of the object.
    pub name: String,
    /// The oid of the object in the catalog of its kind.
    pub oid: String,
    /// How it depends. With `normal` a drop needs `cascade`; with `automatic` and `internal` it is dropped along
    /// silently; with `owner` and `policy` the role owns it or is named by it.
    pub how: String,
}

impl CatalogReader<'_> {
    /// Lists the objects that depend on this one directly; nothing depends on a grant.
    ///
    /// # Errors
    /// When the query fails.
    pub async fn list_dependants(&self, kind: ObjectKind, oid: &str) -> Result<Vec<Dependant>, Error> {
        // A grant is a part of its object, and nothing can hang on it.
        let Some(catalog) = kind.catalog() else {
            return Ok(Vec::new());
        };
        self.list_dependants_in(catalog, oid).await
    }

    /// Lists the objects that lie in a schema, all of which `drop schema … cascade` drops.
    ///
    /// # Errors
    /// When the query fails.
    pub async fn list_schema_members(&self, oid: &str) -> Result<Vec<Dependant>, Error> {
        self.list_dependants_in("pg_namespace", oid).await
    }

    async fn list_dependants_in(&self, catalog: &str, oid: &str) -> Result<Vec<Dependant>, Error> {
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
