//! GET below `/pg`: lists of database objects and single ones. Each list is one query, whose rows PostgreSQL renders as JSON.

mod filter;
mod listing;
mod types;

use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, web};
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::types::ToSql;

pub(crate) use filter::{Filter, parse_pairs};
pub(crate) use listing::{LISTINGS, Listing, find_listing};
pub(crate) use types::get_types;

use crate::error::MetaError;
use crate::state::Meta;

/// `GET /pg/{objects}?included_schemas=&excluded_schemas=&limit=&offset=&…` → `[object, …]`; 400 for a malformed parameter.
pub(crate) async fn list_objects(
    request: HttpRequest,
    meta: web::Data<Meta>,
    listing: web::Data<&'static Listing>,
) -> Result<HttpResponse, MetaError> {
    let filter = Filter::parse(request.query_string(), &listing)?;
    let objects = read_objects(&meta, &listing, &filter).await?;
    Ok(json_response(format!("[{}]", objects.join(","))))
}

/// `GET /pg/{objects}/{id}` → the object, or 404. The id is an oid; of a column `<table oid>.<number>`, of an extension its name.
pub(crate) async fn get_object(
    path: web::Path<String>,
    meta: web::Data<Meta>,
    listing: web::Data<&'static Listing>,
) -> Result<HttpResponse, MetaError> {
    let id = path.into_inner();
    let objects = read_objects(&meta, &listing, &Filter::with_ids(vec![id.clone()])).await?;
    match objects.into_iter().next() {
        Some(object) => Ok(json_response(object)),
        None => Err(listing.not_found(&id)),
    }
}

/// `GET /pg/config/version` → `{version, version_number, active_connections, max_connections}`
pub(crate) async fn get_version(meta: web::Data<Meta>) -> Result<HttpResponse, MetaError> {
    let mut client = meta.catalog.get().await?;
    let transaction = begin_reading(&mut client, &meta).await?;
    let row = transaction
        .query_one(include_str!("sql/version.sql"), &[])
        .await?;
    Ok(json_response(row.get(0)))
}

/// Reads objects on a pooled connection, each as JSON.
async fn read_objects(meta: &Meta, listing: &Listing, filter: &Filter) -> Result<Vec<String>, MetaError> {
    let mut client = meta.catalog.get().await?;
    let transaction = begin_reading(&mut client, meta).await?;
    read_listed(&transaction, listing, filter).await
}

/// Reads objects in the caller's transaction, so that its own changes are visible; each as JSON.
pub(crate) async fn read_listed(
    transaction: &tokio_postgres::Transaction<'_>,
    listing: &Listing,
    filter: &Filter,
) -> Result<Vec<String>, MetaError> {
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![
        &filter.included_schemas,
        &filter.excluded_schemas,
        &filter.ids,
        &filter.includes_system,
        &filter.limit,
        &filter.offset,
    ];
    if listing.has_type_flags {
        values.push(&filter.includes_table_types);
        values.push(&filter.includes_array_types);
    }
    let sql = match (listing.sql_with_columns, filter.includes_columns) {
        (Some(sql), true) => sql,
        _ => listing.sql,
    };
    let rows = transaction.query(sql, &values).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Begins a read-only transaction, which ends when it is dropped.
async fn begin_reading<'c>(client: &'c mut Object, meta: &Meta) -> Result<Transaction<'c>, MetaError> {
    let transaction = client.build_transaction().read_only(true).start().await?;
    // Reading a table's size waits for the lock of an ALTER TABLE that runs on it, so the wait needs a limit.
    limit_statement_time(&transaction, meta.config.statement_timeout).await?;
    Ok(transaction)
}

/// Sets `statement_timeout` for the rest of a transaction.
pub(crate) async fn limit_statement_time(
    transaction: &tokio_postgres::Transaction<'_>,
    limit: Duration,
) -> Result<(), MetaError> {
    let limit = format!("set local statement_timeout = {}", limit.as_millis());
    Ok(transaction.batch_execute(&limit).await?)
}

/// Returns 200 with JSON that PostgreSQL rendered.
pub(crate) fn json_response(body: String) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json; charset=utf-8")
        .body(body)
}
