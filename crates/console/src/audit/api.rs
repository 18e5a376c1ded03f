//! `GET /api/audit?before=&account=&action=&limit=`: entries, newest first.

use actix_web::{HttpResponse, web};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ConsoleError;
use crate::state::ConsoleState;

const MOST_ENTRIES: i64 = 500;

/// The filters of the list; an entry is shown when all that are given hold.
#[derive(Deserialize)]
pub(super) struct Filters {
    before: Option<i64>,
    account: Option<String>,
    action: Option<String>,
    limit: Option<i64>,
}

/// Lists entries of the audit, the newest first.
pub(super) async fn list(
    state: web::Data<ConsoleState>,
    filters: web::Query<Filters>,
) -> Result<HttpResponse, ConsoleError> {
    let limit = filters.limit.unwrap_or(100).clamp(1, MOST_ENTRIES);
    // The console's own login reads it, because an admin of `serve` must see it whatever the project does with grants.
    let client = state.database.service().await?;
    let rows = client
        .query(
            "select id, to_json(at) #>> '{}', account, level, address, action, target, statement, rows, result, request_id
             from selvedge_console.selvedge_audit
             where id < coalesce($1, 9223372036854775807)
               and ($2::text is null or account = $2) and ($3::text is null or action = $3)
             order by id desc limit $4",
            &[&filters.before, &filters.account, &filters.action, &limit],
        )
        .await?;
    let entries: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "id": row.get::<_, i64>(0).to_string(),
                "time": row.get::<_, String>(1),
                "account": row.get::<_, Option<String>>(2),
                "level": row.get::<_, String>(3),
                "address": row.get::<_, String>(4),
                "action": row.get::<_, String>(5),
                "target": row.get::<_, String>(6),
                "statement": row.get::<_, Option<String>>(7),
                "rows": row.get::<_, Option<i64>>(8),
                "result": row.get::<_, String>(9),
                "request_id": row.get::<_, String>(10),
            })
        })
        .collect();
    // A full page may be the last one; the browser then requests one more and gets an empty page.
    let is_full = i64::try_from(rows.len()).is_ok_and(|count| count == limit);
    let next = rows
        .last()
        .filter(|_| is_full)
        .map(|row| row.get::<_, i64>(0).to_string());
    Ok(HttpResponse::Ok().json(json!({ "entries": entries, "next": next })))
}
