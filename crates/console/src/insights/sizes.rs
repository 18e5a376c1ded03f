//! `GET /api/sizes`: the bytes of the database, its largest tables and the stored files.

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};

use crate::error::ConsoleError;
use crate::session::Session;
use crate::state::ConsoleState;

/// Lists the largest tables; each partition is listed separately.
const LARGEST_TABLES: &str =
    "select n.nspname::text, c.relname::text, pg_table_size(c.oid), pg_indexes_size(c.oid),
       greatest(c.reltuples, 0)::bigint
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'm') and n.nspname not in ('pg_catalog', 'information_schema')
       and not pg_is_other_temp_schema(n.oid)
     order by pg_total_relation_size(c.oid) desc, 1, 2 limit 500";

/// Sums up the sizes of all stored files by their metadata.
const STORED_FILES: &str =
    "select coalesce(sum((metadata ->> 'size')::numeric), 0)::bigint from storage.objects";

/// `GET /api/sizes` → `{database_bytes, tables: [{schema, name, bytes, index_bytes, rows}], storage_bytes}`
pub(super) async fn show(
    state: web::Data<ConsoleState>,
    session: Session,
) -> Result<HttpResponse, ConsoleError> {
    let client = state.database.connection(session.level).await?;
    let database = client
        .query_one("select pg_database_size(current_database())", &[])
        .await?;
    let rows = client.query(LARGEST_TABLES, &[]).await?;
    // A database without the platform schema has no stored files.
    let has_storage: bool = client
        .query_one("select to_regclass('storage.objects') is not null", &[])
        .await?
        .get(0);
    let storage_bytes: Option<i64> = match has_storage {
        true => Some(client.query_one(STORED_FILES, &[]).await?.get(0)),
        false => None,
    };
    let tables: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "schema": row.get::<_, String>(0),
                "name": row.get::<_, String>(1),
                "bytes": row.get::<_, i64>(2),
                "index_bytes": row.get::<_, i64>(3),
                "rows": row.get::<_, i64>(4),
            })
        })
        .collect();
    Ok(HttpResponse::Ok().json(json!({
        "database_bytes": database.get::<_, i64>(0),
        "tables": tables,
        "storage_bytes": storage_bytes,
    })))
}
