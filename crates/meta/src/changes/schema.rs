//! `POST /pg/schemas` and `PATCH`, `DELETE /pg/schemas/{oid}`.
//!
//! Bodies: [`NewSchema`] and [`SchemaChanges`]. Source: postgres-meta 0.99, recorded in `e2e/golden/pg/schemas.json`.

use selvedge_postgres::quote_identifier;
use serde::Deserialize;

use super::kind::ObjectKind;
use super::table::drop_behavior;
use super::transaction::Change;
use crate::error::MetaError;
use crate::sql_text::write_role;

/// Schemas of the database.
pub(super) struct Schemas;

/// Body of `POST /pg/schemas`. The default owner is `postgres`.
#[derive(Deserialize)]
pub(super) struct NewSchema {
    name: String,
    owner: Option<String>,
}

/// Body of `PATCH /pg/schemas/{id}`; a missing member leaves that property unchanged.
#[derive(Deserialize)]
pub(super) struct SchemaChanges {
    name: Option<String>,
    owner: Option<String>,
}

/// The members of a schema in `GET /pg/schemas` that its statements need.
#[derive(Deserialize)]
pub(super) struct Schema {
    id: u32,
    name: String,
}

impl ObjectKind for Schemas {
    const PATH: &'static str = "/schemas";
    type New = NewSchema;
    type Changes = SchemaChanges;
    type Object = Schema;

    async fn create(change: &Change<'_>, new: NewSchema) -> Result<String, MetaError> {
        // Named explicitly, because an external database may be reached by another login than `postgres`.
        let owner = write_role(new.owner.as_deref().unwrap_or("postgres"));
        let name = quote_identifier(&new.name);
        change
            .run(&format!("create schema {name} authorization {owner}"))
            .await?;
        let find = "select oid::text from pg_catalog.pg_namespace where nspname = $1";
        let missing = || format!("Cannot find a schema named {}", new.name);
        change.query_text(find, &[&new.name], missing).await
    }

    async fn alter(change: &Change<'_>, schema: Schema, changes: SchemaChanges) -> Result<String, MetaError> {
        let name = quote_identifier(&schema.name);
        if let Some(owner) = &changes.owner {
            let owner = write_role(owner);
            change
                .run(&format!("alter schema {name} owner to {owner}"))
                .await?;
        }
        if let Some(new_name) = changes.name.filter(|name| *name != schema.name) {
            let new_name = quote_identifier(&new_name);
            change
                .run(&format!("alter schema {name} rename to {new_name}"))
                .await?;
        }
        Ok(schema.id.to_string())
    }

    fn drop_statement(schema: &Schema, cascades: bool) -> String {
        let name = quote_identifier(&schema.name);
        format!("drop schema {name} {}", drop_behavior(cascades))
    }
}
