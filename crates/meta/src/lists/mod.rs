//! Lists of database objects, one query each, whose rows PostgreSQL renders as JSON.

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

/// `GET /pg/{objects}`: every object of a kind that the query string does not leave out.
pub(crate) async fn list_objects(
    request: HttpRequest,
    meta: web::Data<Meta>,
    listing: web::Data<&'static Listing>,
) -> Result<HttpResponse, MetaError> {
    let filter = Filter::parse(request.query_string(), &listing)?;
    let objects = read_objects(&meta, &listing, &filter).await?;
    Ok(json_response(format!("[{}]", objects.join(","))))
}

/// `GET /pg/{objects}/{id}`: one object by its oid, or by its name where the kind has no oid that clients use.
pub(crate) async fn get_object(
    path: web::Path<String>,
    meta: web::Data<Meta>,
    listing: web::Data<&'static Listing>,
) -> Result<HttpResponse, MetaError> {
    let id = path.into_inner();
    let objects = read_objects(&meta, &listing, &Filter::with_ids(vec![id.clone()])).await?;
    match objects.into_iter().next() {
        Some(object) => Ok(json_response(object)),
        None => Err(listing.describe_missing(&id)),
    }
}

/// `GET /pg/config/version`: the version of PostgreSQL and the number of its connections.
pub(crate) async fn get_version(meta: web::Data<Meta>) -> Result<HttpResponse, MetaError> {
    let mut client = meta.catalog.get().await?;
    let transaction = begin_reading(&mut client, &meta).await?;
    let row = transaction
        .query_one(include_str!("sql/version.sql"), &[])
        .await?;
    Ok(json_response(row.get(0)))
}

/// Reads the objects of a kind, each rendered as JSON.
async fn read_objects(meta: &Meta, listing: &Listing, filter: &Filter) -> Result<Vec<String>, MetaError> {
    let mut client = meta.catalog.get().await?;
    let transaction = begin_reading(&mut client, meta).await?;
    read_listed(&transaction, listing, filter).await
}

/// As [`read_objects`], in a transaction that may have changed them.
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

/// Begins a transaction on the catalog that can change nothing. It ends when it is dropped.
async fn begin_reading<'c>(client: &'c mut Object, meta: &Meta) -> Result<Transaction<'c>, MetaError> {
    let transaction = client.build_transaction().read_only(true).start().await?;
    // The size of a table waits for whoever alters that table, and must not wait forever.
    limit_statement_time(&transaction, meta.config.statement_timeout).await?;
    Ok(transaction)
}

/// Limits the time of each statement of a transaction.
pub(crate) async fn limit_statement_time(
    transaction: &tokio_postgres::Transaction<'_>,
    limit: Duration,
) -> Result<(), MetaError> {
    let limit = format!("set local statement_timeout = {}", limit.as_millis());
    Ok(transaction.batch_execute(&limit).await?)
}

/// The response whose body is the JSON that PostgreSQL has rendered.
pub(crate) fn json_response(body: String) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json; charset=utf-8")
        .body(body)
}
