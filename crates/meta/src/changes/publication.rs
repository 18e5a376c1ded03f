//! `POST /pg/publications` and `PATCH`, `DELETE /pg/publications/{oid}`.
//!
//! Bodies: [`NewPublication`] and [`PublicationChanges`]. Source: postgres-meta 0.99, recorded in
//! `e2e/golden/pg/publications.json`.

use selvedge_postgres::quote_identifier;
use serde::Deserialize;

use super::body::read_nullable;
use super::kind::ObjectKind;
use super::transaction::Change;
use crate::error::MetaError;
use crate::sql_text::{qualify, write_role};

/// Publications of logical replication.
pub(super) struct Publications;

/// Body of `POST /pg/publications`. Operations that are not named are not published.
#[derive(Deserialize)]
pub(super) struct NewPublication {
    name: String,
    #[serde(default)]
    publish_insert: bool,
    #[serde(default)]
    publish_update: bool,
    #[serde(default)]
    publish_delete: bool,
    #[serde(default)]
    publish_truncate: bool,
    /// Tables as `name` or `schema.name`; null or missing publishes all tables.
    tables: Option<Vec<String>>,
}

/// Body of `PATCH /pg/publications/{id}`; a missing member leaves that property unchanged.
#[derive(Deserialize)]
pub(super) struct PublicationChanges {
    name: Option<String>,
    owner: Option<String>,
    publish_insert: Option<bool>,
    publish_update: Option<bool>,
    publish_delete: Option<bool>,
    publish_truncate: Option<bool>,
    /// As in [`NewPublication`]; missing leaves the tables unchanged.
    #[serde(default, deserialize_with = "read_nullable")]
    tables: Option<Option<Vec<String>>>,
}

/// The members of a publication in `GET /pg/publications` that its statements need.
#[derive(Deserialize)]
pub(super) struct Publication {
    name: String,
    owner: String,
    publish_insert: bool,
    publish_update: bool,
    publish_delete: bool,
    publish_truncate: bool,
    tables: Option<Vec<PublishedTable>>,
}

/// A table of a publication.
#[derive(Deserialize)]
pub(super) struct PublishedTable {
    schema: String,
    name: String,
}

impl ObjectKind for Publications {
    const PATH: &'static str = "/publications";
    type New = NewPublication;
    type Changes = PublicationChanges;
    type Object = Publication;

    async fn create(change: &Change<'_>, new: NewPublication) -> Result<String, MetaError> {
        let operations = list_operations([
            new.publish_insert,
            new.publish_update,
            new.publish_delete,
            new.publish_truncate,
        ]);
        change
            .run(&create_statement(&new.name, new.tables.as_deref(), &operations))
            .await?;
        find_publication(change, &new.name).await
    }

    async fn alter(
        change: &Change<'_>,
        publication: Publication,
        changes: PublicationChanges,
    ) -> Result<String, MetaError> {
        let name = quote_identifier(&publication.name);
        let operations = list_operations([
            changes.publish_insert.unwrap_or(publication.publish_insert),
            changes.publish_update.unwrap_or(publication.publish_update),
            changes.publish_delete.unwrap_or(publication.publish_delete),
            changes.publish_truncate.unwrap_or(publication.publish_truncate),
        ]);
        if let Some(tables) = &changes.tables {
            let statements = replace_tables(&publication, tables.as_deref(), &operations);
            change.run_all(&statements).await?;
        }
        // Redundant for a publication that `replace_tables` created again, needed for the others.
        change
            .run(&format!(
                "alter publication {name} set (publish = '{operations}')"
            ))
            .await?;
        if let Some(owner) = &changes.owner {
            let owner = write_role(owner);
            change
                .run(&format!("alter publication {name} owner to {owner}"))
                .await?;
        }
        let new_name = changes.name.as_ref().unwrap_or(&publication.name);
        if *new_name != publication.name {
            let new_name = quote_identifier(new_name);
            change
                .run(&format!("alter publication {name} rename to {new_name}"))
                .await?;
        }
        // Looked up by name, because a publication that was dropped and created again has another oid.
        find_publication(change, new_name).await
    }

    fn drop_statement(publication: &Publication, _: bool) -> String {
        format!("drop publication {}", quote_identifier(&publication.name))
    }
}

async fn find_publication(change: &Change<'_>, name: &str) -> Result<String, MetaError> {
    let find = "select oid::text from pg_catalog.pg_publication where pubname = $1";
    let missing = || format!("Cannot find a publication named {name}");
    change.query_text(find, &[&name], missing).await
}

/// Writes the value of the publication parameter `publish`, such as `insert, delete`. The flags are insert, update, delete and
/// truncate.
fn list_operations(published: [bool; 4]) -> String {
    let names = ["insert", "update", "delete", "truncate"].into_iter();
    let published = names.zip(published).filter(|(_, is_published)| *is_published);
    let names: Vec<&str> = published.map(|(name, _)| name).collect();
    names.join(", ")
}

fn create_statement(name: &str, tables: Option<&[String]>, operations: &str) -> String {
    let subject = match tables {
        None => "for all tables".to_owned(),
        Some([]) => String::new(),
        Some(tables) => format!("for table {}", join_tables(tables)),
    };
    let name = quote_identifier(name);
    format!("create publication {name} {subject} with (publish = '{operations}')")
}

/// Returns the statements that replace a publication's tables.
fn replace_tables(publication: &Publication, tables: Option<&[String]>, operations: &str) -> Vec<String> {
    let name = quote_identifier(&publication.name);
    match (&publication.tables, tables) {
        (None, None) => Vec::new(),
        (Some(before), Some([])) if before.is_empty() => Vec::new(),
        // SET TABLE requires at least one table, so the last ones are removed by DROP TABLE.
        (Some(before), Some([])) => {
            let before = before.iter().map(|table| qualify(&table.schema, &table.name));
            let before = before.collect::<Vec<_>>().join(", ");
            vec![format!("alter publication {name} drop table {before}")]
        }
        (Some(_), Some(tables)) => {
            vec![format!(
                "alter publication {name} set table {}",
                join_tables(tables)
            )]
        }
        // ALTER PUBLICATION cannot switch between FOR ALL TABLES and a list of tables, so it is dropped and created again.
        (None, Some(_)) | (Some(_), None) => vec![
            format!("drop publication {name}"),
            create_statement(&publication.name, tables, operations),
            format!(
                "alter publication {name} owner to {}",
                write_role(&publication.owner)
            ),
        ],
    }
}

/// Quotes table names and joins them by commas. Text before the first dot of a name is its schema.
fn join_tables(tables: &[String]) -> String {
    let names = tables.iter().map(|table| match table.split_once('.') {
        Some((schema, name)) => qualify(schema, name),
        None => quote_identifier(table),
    });
    names.collect::<Vec<_>>().join(", ")
}
