//! `POST /pg/columns` and `PATCH`, `DELETE /pg/columns/{table oid}.{column number}`.
//!
//! Bodies: [`NewColumn`] and [`ColumnChanges`]. Source: postgres-meta 0.99, recorded in `e2e/golden/pg/columns.json`.

use selvedge_postgres::{quote_identifier, quote_literal};
use serde::Deserialize;
use serde_json::Value;

use super::body::{read_any, read_nullable, read_oid};
use super::kind::ObjectKind;
use super::table::drop_behavior;
use super::transaction::Change;
use crate::error::MetaError;
use crate::sql_text::{qualify, write_literal, write_type};

/// Returns the quoted qualified name of the table with oid `$1`.
const FIND_TABLE_NAME: &str = "select format('%I.%I', n.nspname, c.relname) from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = $1 and c.relkind in ('r', 'p')";
/// Returns the id of column `$2` of table `$1`, such as `16402.3`.
const FIND_COLUMN: &str = "select attrelid || '.' || attnum from pg_catalog.pg_attribute
    where attrelid = $1 and attname = $2";

/// Names of the constraints of type `$1` (`u` unique, `c` check) whose only column is number `$3` of table `$2`, oldest first.
const LIST_COLUMN_CONSTRAINTS: &str = "select conname::text from pg_catalog.pg_constraint
    where contype::text = $1 and conrelid = $2 and conkey = array[$3::int2] order by oid";

/// Numbers of the columns that constraint `$2` of table `$1` refers to.
const LIST_CONSTRAINT_COLUMNS: &str = "select unnest(conkey)::text from pg_catalog.pg_constraint
    where conrelid = $1 and conname = $2";

/// Columns of ordinary and partitioned tables.
pub(super) struct Columns;

/// Body of `POST /pg/columns`.
#[derive(Deserialize)]
pub(super) struct NewColumn {
    /// Oid of the table.
    #[serde(deserialize_with = "read_oid")]
    table_id: u32,
    name: String,
    /// A type's name or SQL, such as `int8`, `Mood[]` or `numeric(10,2)`.
    r#type: String,
    /// The value, or SQL when `default_value_format` is `expression`. The request is refused when `is_identity` is set, too.
    #[serde(default, deserialize_with = "read_any")]
    default_value: Option<Value>,
    #[serde(default)]
    default_value_format: DefaultFormat,
    is_identity: Option<bool>,
    /// `BY DEFAULT` unless given.
    identity_generation: Option<IdentityGeneration>,
    is_nullable: Option<bool>,
    is_primary_key: Option<bool>,
    is_unique: Option<bool>,
    comment: Option<String>,
    /// SQL of a check constraint.
    check: Option<String>,
}

/// Body of `PATCH /pg/columns/{id}`; a missing member leaves that property unchanged.
#[derive(Deserialize)]
pub(super) struct ColumnChanges {
    name: Option<String>,
    r#type: Option<String>,
    drop_default: Option<bool>,
    #[serde(default, deserialize_with = "read_any")]
    default_value: Option<Value>,
    #[serde(default)]
    default_value_format: DefaultFormat,
    is_identity: Option<bool>,
    identity_generation: Option<IdentityGeneration>,
    is_nullable: Option<bool>,
    is_unique: Option<bool>,
    #[serde(default, deserialize_with = "read_nullable")]
    comment: Option<Option<String>>,
    #[serde(default, deserialize_with = "read_nullable")]
    check: Option<Option<String>>,
}

/// How `default_value` is meant: as a value that is quoted, or as SQL such as `now()`.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DefaultFormat {
    Expression,
    #[default]
    Literal,
}

#[derive(Clone, Copy, Default, Deserialize)]
enum IdentityGeneration {
    #[serde(rename = "ALWAYS")]
    Always,
    #[default]
    #[serde(rename = "BY DEFAULT")]
    ByDefault,
}

/// The members of a column in `GET /pg/columns` that its statements need.
#[derive(Deserialize)]
pub(super) struct Column {
    id: String,
    table_id: u32,
    schema: String,
    table: String,
    name: String,
    ordinal_position: i16,
    is_identity: bool,
    is_unique: bool,
}

impl ObjectKind for Columns {
    const PATH: &'static str = "/columns";
    type New = NewColumn;
    type Changes = ColumnChanges;
    type Object = Column;

    async fn create(change: &Change<'_>, new: NewColumn) -> Result<String, MetaError> {
        let missing = || format!("Cannot find a table with ID {}", new.table_id);
        let table = change
            .query_text(FIND_TABLE_NAME, &[&new.table_id], missing)
            .await?;
        let column = write_column_definition(&new)?;
        change
            .run(&format!("alter table {table} add column {column}"))
            .await?;
        if let Some(comment) = &new.comment {
            change.run(&comment_on(&table, &new.name, Some(comment))).await?;
        }
        let missing = || format!("Cannot find a column named {} in table {table}", new.name);
        change
            .query_text(FIND_COLUMN, &[&new.table_id, &new.name], missing)
            .await
    }

    async fn alter(change: &Change<'_>, column: Column, changes: ColumnChanges) -> Result<String, MetaError> {
        let table = qualify(&column.schema, &column.table);
        let name = quote_identifier(&column.name);
        // One statement per action, because PostgreSQL reorders the actions of a single ALTER TABLE.
        for action in list_actions(&column, &changes) {
            change
                .run(&format!("alter table {table} alter column {name} {action}"))
                .await?;
        }
        if let Some(is_unique) = changes.is_unique
            && is_unique != column.is_unique
        {
            set_unique(change, &column, is_unique).await?;
        }
        if let Some(comment) = &changes.comment {
            let statement = comment_on(&table, &column.name, comment.as_deref());
            change.run(&statement).await?;
        }
        if let Some(check) = &changes.check {
            replace_check(change, &column, check.as_deref()).await?;
        }
        if let Some(new_name) = changes.name.as_ref().filter(|name| **name != column.name) {
            let names = format!("{name} to {}", quote_identifier(new_name));
            change
                .run(&format!("alter table {table} rename column {names}"))
                .await?;
        }
        Ok(column.id)
    }

    fn drop_statement(column: &Column, cascades: bool) -> String {
        let table = qualify(&column.schema, &column.table);
        let name = quote_identifier(&column.name);
        format!(
            "alter table {table} drop column {name} {}",
            drop_behavior(cascades)
        )
    }
}

impl IdentityGeneration {
    fn keyword(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::ByDefault => "by default",
        }
    }
}

/// Writes the column definition of `ALTER TABLE … ADD COLUMN`.
///
/// # Errors
/// 400 for an identity column with a default.
fn write_column_definition(new: &NewColumn) -> Result<String, MetaError> {
    let mut parts = vec![quote_identifier(&new.name), write_type(&new.r#type)];
    if new.is_identity == Some(true) {
        if new.default_value.is_some() {
            let message = "Columns cannot both be identity and have a default value";
            return Err(MetaError::Request(message.to_owned()));
        }
        let generation = new.identity_generation.unwrap_or_default().keyword();
        parts.push(format!("generated {generation} as identity"));
    } else if let Some(value) = &new.default_value {
        parts.push(format!(
            "default {}",
            write_default(value, new.default_value_format)
        ));
    }
    // Nothing is written when the request does not say, because NULL would contradict PRIMARY KEY.
    if let Some(is_nullable) = new.is_nullable {
        parts.push(if is_nullable { "null" } else { "not null" }.to_owned());
    }
    if new.is_primary_key == Some(true) {
        parts.push("primary key".to_owned());
    }
    if new.is_unique == Some(true) {
        parts.push("unique".to_owned());
    }
    if let Some(check) = &new.check {
        parts.push(format!("check ({check})"));
    }
    Ok(parts.join(" "))
}

fn write_default(value: &Value, format: DefaultFormat) -> String {
    match (format, value) {
        (DefaultFormat::Expression, Value::String(expression)) => expression.clone(),
        (DefaultFormat::Expression, other) => other.to_string(),
        (DefaultFormat::Literal, value) => write_literal(value),
    }
}

fn comment_on(table: &str, column: &str, comment: Option<&str>) -> String {
    let text = comment.map_or("null".to_owned(), quote_literal);
    format!("comment on column {table}.{} is {text}", quote_identifier(column))
}

/// Returns the actions of `ALTER COLUMN` in an order in which none fails because of a later one: NOT NULL, type, default,
/// identity.
fn list_actions(column: &Column, changes: &ColumnChanges) -> Vec<String> {
    let mut actions = Vec::new();
    if let Some(is_nullable) = changes.is_nullable {
        let verb = if is_nullable { "drop" } else { "set" };
        actions.push(format!("{verb} not null"));
    }
    if let Some(name) = &changes.r#type {
        let new_type = write_type(name);
        // The explicit cast allows types without an assignment cast, such as text to integer.
        let value = quote_identifier(&column.name);
        actions.push(format!("set data type {new_type} using {value}::{new_type}"));
    }
    if changes.drop_default == Some(true) {
        actions.push("drop default".to_owned());
    } else if let Some(value) = &changes.default_value {
        let default = write_default(value, changes.default_value_format);
        actions.push(format!("set default {default}"));
    }
    let generation = changes.identity_generation;
    // ADD GENERATED AS IDENTITY requires NOT NULL, which the first action may have set.
    match (changes.is_identity, column.is_identity) {
        (Some(false), _) => actions.push("drop identity if exists".to_owned()),
        (_, true) => {
            actions.extend(generation.map(|generation| format!("set generated {}", generation.keyword())));
        }
        (Some(true), false) => {
            let generation = generation.unwrap_or_default().keyword();
            actions.push(format!("add generated {generation} as identity"));
        }
        (None, false) => {}
    }
    actions
}

/// Adds a unique constraint on the column, or drops every unique constraint whose only column it is.
async fn set_unique(change: &Change<'_>, column: &Column, is_unique: bool) -> Result<(), MetaError> {
    let table = qualify(&column.schema, &column.table);
    if is_unique {
        let name = quote_identifier(&column.name);
        return change
            .run(&format!("alter table {table} add unique ({name})"))
            .await;
    }
    // Unique constraints over several columns stay: they do not make this column unique.
    for constraint in list_constraints(change, column, "u").await? {
        drop_constraint(change, &table, &constraint).await?;
    }
    Ok(())
}

/// Drops the oldest check constraint whose only column this is, and adds one named `<table>_<column>_check` if an expression is
/// given.
///
/// # Errors
/// 400 when the expression refers to no column, or to another one.
async fn replace_check(
    change: &Change<'_>,
    column: &Column,
    expression: Option<&str>,
) -> Result<(), MetaError> {
    let table = qualify(&column.schema, &column.table);
    if let Some(constraint) = list_constraints(change, column, "c").await?.first() {
        drop_constraint(change, &table, constraint).await?;
    }
    let Some(expression) = expression else {
        return Ok(());
    };
    let constraint = format!("{}_{}_check", column.table, column.name);
    let quoted = quote_identifier(&constraint);
    change
        .run(&format!(
            "alter table {table} add constraint {quoted} check ({expression})"
        ))
        .await?;
    // Only PostgreSQL can tell which columns an expression refers to, and does so once the constraint exists. An error rolls
    // the transaction back.
    let columns = change
        .query_texts(LIST_CONSTRAINT_COLUMNS, &[&column.table_id, &constraint])
        .await?;
    check_columns(&columns, column).map_err(|what| {
        MetaError::Request(format!(
            "error creating column constraint: check condition {what}"
        ))
    })
}

/// Refuses a check constraint that refers to other columns than `column`: the column's entry in the list would not show it.
fn check_columns(columns: &[String], column: &Column) -> Result<(), &'static str> {
    match columns {
        [] => Err("must refer to this column"),
        [one] if *one == column.ordinal_position.to_string() => Ok(()),
        [_] => Err("cannot refer to other columns"),
        _ => Err("cannot refer to multiple columns"),
    }
}

async fn list_constraints(
    change: &Change<'_>,
    column: &Column,
    kind: &str,
) -> Result<Vec<String>, MetaError> {
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
        [&kind, &column.table_id, &column.ordinal_position];
    change.query_texts(LIST_COLUMN_CONSTRAINTS, &values).await
}

async fn drop_constraint(change: &Change<'_>, table: &str, name: &str) -> Result<(), MetaError> {
    let name = quote_identifier(name);
    change
        .run(&format!("alter table {table} drop constraint {name}"))
        .await
}
