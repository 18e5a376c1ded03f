//! `GET /api/sizes`: the bytes of the database, its largest tables and the stored files.

use actix_web::{HttpResponse, web};
use selvedge_introspection::CatalogReader;
use serde_json::json;

use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// The most tables that are listed, so that the response stays small in a database of many tables.
const MAX_TABLES: usize = 500;

/// Sums up the sizes of all stored files by their metadata. Rows that were written by SQL may say anything of their size.
const STORED_FILES: &str = "select coalesce(sum(case when metadata ->> 'size' ~ '^[0-9]{1,15}$' \
     then (metadata ->> 'size')::bigint else 0 end), 0)::bigint from storage.objects";

/// `GET /api/sizes` → `{database_bytes, tables: [{schema, name, bytes, index_bytes, rows}], storage_bytes}`
///
/// The numbers of a table are null when it is one of Citus, and other nodes store rows of it.
pub(super) async fn show(
    state: web::Data<ConsoleState>,
    session: Session,
) -> Result<HttpResponse, ConsoleError> {
    let mut client = state.database.connection(session.level).await?;
    let database = client
        .query_one("select pg_database_size(current_database())", &[])
        .await?;
    // A database without the platform schema has no stored files.
    let has_storage: bool = client
        .query_one("select to_regclass('storage.objects') is not null", &[])
        .await?
        .get(0);
    let storage_bytes: Option<i64> = match has_storage {
        true => Some(client.query_one(STORED_FILES, &[]).await?.get(0)),
        false => None,
    };
    let reader = CatalogReader::begin(&mut client).await?;
    let tables = reader.list_largest_tables(MAX_TABLES).await?;
    Ok(HttpResponse::Ok().json(json!({
        "database_bytes": database.get::<_, i64>(0),
        "tables": tables,
        "storage_bytes": storage_bytes,
    })))
}
