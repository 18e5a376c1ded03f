//! `GET /bucket`: the buckets that the caller may see.

use actix_web::HttpResponse;

use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::response::json::rendered_json_response;

const COLUMNS: [&str; 4] = ["id", "name", "created_at", "updated_at"];

const LIST: &str = include_str!("../sql/list_buckets.sql");

/// An array of rows, without those that a policy hides. Query: `limit`, `offset`, `sortColumn`, `sortOrder`, `search`.
/// Source: STORE-031, STORE-075.
///
/// # Errors
/// `Schema`.
pub(crate) async fn list_buckets(context: &RequestContext) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let limit = context.query.integer("limit", 1)?;
    let offset = context.query.integer("offset", 0)?;
    let column = context.query.one_of("sortColumn", &COLUMNS)?;
    let order = context
        .query
        .one_of("sortOrder", &["asc", "desc"])?
        .unwrap_or("asc");
    let search = context.query.text("search")?.filter(|search| !search.is_empty());
    let statement = Statement::new(LIST)
        .bind_optional(search)
        .bind(column.unwrap_or(""))
        .bind(order)
        .bind_optional(limit.map(|limit| limit.to_string()))
        .bind(offset.unwrap_or(0).to_string())
        .bind((!is_old_python_client(context)).to_string());
    rendered_json_response(caller.read(statement).await?)
}

/// Compat: supabase-py before 2.18.0 (storage3 before 0.12.1) fails on fields that it does not know, so it does not get them.
pub(super) fn is_old_python_client(context: &RequestContext) -> bool {
    let older = |header: &str, mark: &str, first_good: [u32; 3]| {
        let version = context
            .header(header)
            .and_then(|text| text.split_once(mark))
            .map(|(_, rest)| rest);
        version
            .and_then(parse_version)
            .is_some_and(|version| version < first_good)
    };
    older("x-client-info", "supabase-py/", [2, 18, 0])
        || older("user-agent", "supabase-py/storage3 v", [0, 12, 1])
}

fn parse_version(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some([
        numbers.next()?.ok()?,
        numbers.next()?.ok()?,
        numbers.next()?.ok()?,
    ])
}
