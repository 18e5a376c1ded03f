//! `POST /object/list/{bucket}`: the files and folders directly below a prefix.

use actix_web::{HttpResponse, web};

use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::read_object;
use crate::response::json::rendered_json_response;
use crate::validation::names::check_bucket_name;

/// Entries of a page when the request names no limit, and at most.
const DEFAULT_LIMIT: i64 = 100;
const MAX_LIMIT: i64 = 1500;
const COLUMNS: [&str; 4] = ["name", "updated_at", "created_at", "last_accessed_at"];

const BY_NAME: &str = include_str!("../sql/list_by_name.sql");
const BY_TIME: &str = include_str!("../sql/list_by_time.sql");

/// An array of files and folders (rows without id) below `prefix`, names relative to it.
/// Source: STORE-021 to STORE-023, STORE-075 to STORE-077.
///
/// # Errors
/// `Schema`, `InvalidBucketName`. An unknown bucket has an empty list.
pub(crate) async fn list_objects(
    context: &RequestContext,
    bucket: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let body = read_object(&context.request, payload).await?;
    let mut prefix = body.required_text("prefix")?;
    let limit = body.integer("limit", 1)?.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
    let offset = body.integer("offset", 0)?.unwrap_or(0);
    let search = body.text("search")?.unwrap_or_default();
    let (column, order) = match body.object("sortBy")? {
        None => ("name", "asc"),
        Some(sort) => {
            sort.required("column")?;
            let column = sort.one_of("column", &COLUMNS)?.unwrap_or("name");
            (column, sort.one_of("order", &["asc", "desc"])?.unwrap_or("asc"))
        }
    };
    check_bucket_name(bucket)?;
    if !prefix.is_empty() && !prefix.ends_with('/') {
        prefix.push('/');
    }
    // Compat: the offset is a 32-bit integer; a larger one is after the end of every list.
    let offset = offset.min(i64::from(i32::MAX));
    let statement = if column == "name" {
        Statement::new(BY_NAME)
            .bind(bucket)
            .bind(&prefix)
            .bind(&search)
            .bind(limit.to_string())
            .bind(offset.to_string())
            .bind(order)
    } else {
        // A search that contains slashes spells out folders: an entry is named by those segments and the next one.
        let segments = search.matches('/').count() + 1;
        Statement::new(BY_TIME)
            .bind(bucket)
            .bind(&prefix)
            .bind(format!("{prefix}{search}").to_lowercase())
            .bind(segments.to_string())
            .bind(order)
            .bind(limit.to_string())
            .bind(offset.to_string())
            .bind(column)
    };
    rendered_json_response(caller.read(statement).await?)
}
