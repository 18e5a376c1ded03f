//! `POST /object/list/{bucket}`: the files and folders directly below a prefix.

use actix_web::{HttpResponse, web};

use crate::context::RequestContext;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::{Fields, read_object};
use crate::response::json::rendered_json_response;
use crate::validation::names::check_bucket_name;
use crate::versions::{HistoryFilter, is_left_to_versions};

/// Entries of a page when the request names no limit, and at most.
const DEFAULT_LIMIT: i64 = 100;
const MAX_LIMIT: i64 = 1500;
const COLUMNS: [&str; 4] = ["name", "updated_at", "created_at", "last_accessed_at"];

const BY_NAME: &str = include_str!("../sql/list_by_name.sql");
const BY_NAME_WITH_VERSIONS: &str = include_str!("../sql/list_by_name_versions.sql");
const BY_TIME: &str = include_str!("../sql/list_by_time.sql");
const EXACT: &str = include_str!("../sql/list_exact.sql");
/// Reads the whole level, because a key may have many rows.
const HISTORY: &str = include_str!("../sql/list_history.sql");

/// An array of files and folders (rows without id) below `prefix`, names relative to it. With `exactMatch` the one object whose
/// key is `prefix`, or `search` below it. With `noncurrentVersions` or `deleteMarkers` also rows of the history, a key's newest first. In a
/// bucket with versions rows tell theirs.
/// Source: STORE-021 to STORE-023, STORE-075 to STORE-077, STORE-214, STORE-216.
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
    let list = List::read(&body)?;
    check_bucket_name(bucket)?;
    if let Some(filter) = HistoryFilter::read(&body)? {
        let statement = list.build_history(bucket, filter);
        return rendered_json_response(caller.with_versions().read(statement).await?);
    }
    if list.is_exact {
        return rendered_json_response(caller.read(list.build_exact(bucket)).await?);
    }
    if list.column != "name" {
        return rendered_json_response(caller.read(list.build_by_time(bucket)).await?);
    }
    let mut rows = caller.read(list.build_by_name(BY_NAME, bucket)).await?;
    if is_left_to_versions(&rows)? {
        rows = caller
            .read(list.build_by_name(BY_NAME_WITH_VERSIONS, bucket))
            .await?;
    }
    rendered_json_response(rows)
}

/// The fields of the body.
struct List {
    prefix: String,
    search: String,
    limit: i64,
    offset: i64,
    column: &'static str,
    order: &'static str,
    is_exact: bool,
}

impl List {
    fn read(body: &Fields) -> Result<Self, StorageError> {
        let prefix = body.required_text("prefix")?;
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
        Ok(Self {
            prefix,
            search,
            limit,
            // Compat: the offset is a 32-bit integer; a larger one is after the end of every list.
            offset: offset.min(i64::from(i32::MAX)),
            column,
            order,
            is_exact: body.boolean("exactMatch")?.unwrap_or(false),
        })
    }

    /// The prefix with the slash that ends a folder.
    fn folder(&self) -> String {
        if self.prefix.is_empty() || self.prefix.ends_with('/') {
            self.prefix.clone()
        } else {
            format!("{}/", self.prefix)
        }
    }

    /// The one key that `exactMatch` lists.
    fn key(&self) -> String {
        if self.search.is_empty() {
            self.prefix.clone()
        } else {
            format!("{}{}", self.folder(), self.search)
        }
    }

    fn build_exact(self, bucket: &str) -> Statement {
        Statement::new(EXACT)
            .bind(bucket)
            .bind(self.key())
            .bind(self.offset.to_string())
    }

    fn build_history(self, bucket: &str, filter: HistoryFilter) -> Statement {
        let key = self.is_exact.then(|| self.key());
        let (folder, search) = match &key {
            Some(key) => key.split_at(key.rfind('/').map_or(0, |slash| slash + 1)),
            None => ("", self.search.as_str()),
        };
        let folder = if key.is_some() {
            folder.to_owned()
        } else {
            self.folder()
        };
        let segments = search.matches('/').count() + 1;
        Statement::new(HISTORY)
            .bind(bucket)
            .bind(&folder)
            .bind(format!("{folder}{search}").to_lowercase())
            .bind(segments.to_string())
            .bind(self.order)
            .bind(self.limit.to_string())
            .bind(self.offset.to_string())
            .bind(self.column)
            .bind(filter.noncurrent)
            .bind(filter.markers)
            .bind_optional(key.as_deref())
    }

    fn build_by_name(&self, sql: &'static str, bucket: &str) -> Statement {
        Statement::new(sql)
            .bind(bucket)
            .bind(self.folder())
            .bind(&self.search)
            .bind(self.limit.to_string())
            .bind(self.offset.to_string())
            .bind(self.order)
    }

    fn build_by_time(self, bucket: &str) -> Statement {
        let folder = self.folder();
        // A search that contains slashes spells out folders: an entry is named by those segments and the next one.
        let segments = self.search.matches('/').count() + 1;
        Statement::new(BY_TIME)
            .bind(bucket)
            .bind(&folder)
            .bind(format!("{folder}{}", self.search).to_lowercase())
            .bind(segments.to_string())
            .bind(self.order)
            .bind(self.limit.to_string())
            .bind(self.offset.to_string())
            .bind(self.column)
    }
}
