//! `POST /object/list-v2/{bucket}`: keys page by page, flat or one level at a time.

use actix_web::{HttpResponse, web};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use selvedge_postgres::Row;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::context::RequestContext;
use crate::database::object_row::format_iso;
use crate::database::session::DbSession;
use crate::database::statement::Statement;
use crate::error::StorageError;
use crate::request::json_body::{Fields, read_object};
use crate::response::json::{json_response, take_rendered_json};
use crate::validation::names::check_bucket_name;
use crate::versions::{HistoryFilter, is_left_to_versions};

/// Entries of a page, folders included: the default limit and the largest.
const MAX_LIMIT: i64 = 1000;

/// Walks an index and reads only the entries of the page.
const BY_NAME: &str = include_str!("../sql/list_v2_by_name.sql");
const BY_NAME_WITH_VERSIONS: &str = include_str!("../sql/list_v2_by_name_versions.sql");
/// Sorts all entries below the prefix, because folders have the time of their first child.
const BY_TIME: &str = include_str!("../sql/list_v2.sql");
const EXACT: &str = include_str!("../sql/list_v2_exact.sql");
/// Sorts as well, because a key may have many rows.
const HISTORY: &str = include_str!("../sql/list_v2_history.sql");

/// One entry as the SQL returns it: its rendered JSON, and what a cursor needs.
#[derive(Deserialize)]
struct ListEntry<'a> {
    folder: bool,
    name: String,
    time: Option<DateTime<Utc>>,
    /// When the row was archived, in a list of versions; `infinity` for the current one.
    #[serde(default)]
    archived: Option<String>,
    #[serde(default)]
    version: Option<String>,
    #[serde(borrow)]
    json: &'a RawValue,
}

#[derive(Serialize)]
struct Page<'a> {
    #[serde(rename = "hasNext")]
    has_next: bool,
    #[serde(rename = "nextCursor", skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(rename = "nextCursorKey", skip_serializing_if = "Option::is_none")]
    next_cursor_key: Option<String>,
    folders: Vec<&'a RawValue>,
    objects: Vec<&'a RawValue>,
}

/// `{hasNext, nextCursor?, nextCursorKey?, folders, objects}`; with `exactMatch` of the one object whose key is `prefix`. In a
/// bucket with versions objects tell theirs.
/// Source: STORE-073, STORE-074, STORE-214, STORE-216.
///
/// # Errors
/// `Schema`, `InvalidParameter` for an unreadable cursor, `InvalidBucketName`.
pub(crate) async fn list_objects_v2(
    context: &RequestContext,
    bucket: &str,
    payload: web::Payload,
) -> Result<HttpResponse, StorageError> {
    let caller = context.caller()?;
    let body = read_object(&context.request, payload).await?;
    let list = List::read(bucket, &body)?;
    check_bucket_name(bucket)?;
    let rows = list.select(&caller).await?;
    let bytes = take_rendered_json(rows)?;
    let entries: Vec<ListEntry<'_>> = serde_json::from_slice(&bytes).map_err(StorageError::internal)?;
    let limit = usize::try_from(list.limit).unwrap_or(usize::MAX);
    Ok(json_response(&build_page(&entries, limit, list.sort)))
}

/// A bucket and the fields of the body.
struct List<'b> {
    bucket: &'b str,
    prefix: String,
    delimiter: bool,
    sort: Sort,
    limit: i64,
    cursor: Option<Cursor>,
    /// Whether the prefix is the whole key.
    is_exact: bool,
    history: Option<HistoryFilter>,
}

impl<'b> List<'b> {
    fn read(bucket: &'b str, body: &Fields) -> Result<Self, StorageError> {
        let prefix = body.text("prefix")?.unwrap_or_default();
        let limit = body.integer("limit", 1)?.unwrap_or(MAX_LIMIT).min(MAX_LIMIT);
        let delimiter = body.boolean("with_delimiter")?.unwrap_or(false);
        let sort = Sort::read(body)?;
        let cursor = body.text("cursor")?.filter(|cursor| !cursor.is_empty());
        let cursor = cursor.map(|text| Cursor::decode(&text)).transpose()?;
        Ok(Self {
            bucket,
            prefix,
            delimiter,
            // A cursor is only valid in the order it was made with, so it carries that order and overrides the body's.
            sort: cursor.as_ref().map_or(sort, |cursor| cursor.sort),
            limit,
            cursor,
            history: HistoryFilter::read(body)?,
            is_exact: body.boolean("exactMatch")?.unwrap_or(false),
        })
    }

    /// Selects one entry more than the page has, which shows whether another page follows.
    async fn select(&self, caller: &DbSession) -> Result<Vec<Row>, StorageError> {
        if let Some(filter) = self.history {
            return caller.with_versions().read(self.build_history(filter)).await;
        }
        if self.is_exact {
            return caller.read(self.begin(EXACT)).await;
        }
        if self.sort.column != "name" {
            return caller.read(self.build_by_time()).await;
        }
        let rows = caller.read(self.build_by_name(BY_NAME)).await?;
        match is_left_to_versions(&rows)? {
            true => caller.read(self.build_by_name(BY_NAME_WITH_VERSIONS)).await,
            false => Ok(rows),
        }
    }

    /// A statement with the parameters that all have.
    fn begin(&self, sql: &'static str) -> Statement {
        Statement::new(sql)
            .bind(self.bucket)
            .bind(&self.prefix)
            .bind(self.delimiter.to_string())
    }

    fn build_by_name(&self, sql: &'static str) -> Statement {
        self.begin(sql)
            .bind(self.sort.order)
            .bind((self.limit + 1).to_string())
            .bind(self.cursor.as_ref().map_or("", |cursor| &cursor.last_name))
    }

    fn build_by_time(&self) -> Statement {
        self.begin(BY_TIME)
            .bind(self.sort.column)
            .bind(self.sort.order)
            .bind((self.limit + 1).to_string())
            .bind_optional(self.cursor.as_ref().map(|cursor| &cursor.last_name))
            .bind_optional(self.last_time())
    }

    fn build_history(&self, filter: HistoryFilter) -> Statement {
        let text = |read: fn(&Cursor) -> Option<&str>| self.cursor.as_ref().and_then(read);
        self.begin(HISTORY)
            .bind(self.sort.column)
            .bind(self.sort.order)
            .bind((self.limit + 1).to_string())
            .bind_optional(text(|cursor| Some(&cursor.last_name)))
            .bind_optional(self.last_time())
            .bind(filter.noncurrent)
            .bind(filter.markers)
            .bind(self.is_exact.to_string())
            .bind_optional(text(|cursor| cursor.last_archived.as_deref()))
            .bind_optional(text(|cursor| cursor.last_version.as_deref()))
    }

    /// The time of the entry after which the page begins, in a list by time.
    fn last_time(&self) -> Option<String> {
        let time = self.cursor.as_ref()?.last_time?;
        Some(format_iso(time))
    }
}

fn build_page<'a>(entries: &[ListEntry<'a>], limit: usize, sort: Sort) -> Page<'a> {
    let has_next = entries.len() > limit;
    let shown = &entries[..entries.len().min(limit)];
    let last = shown.last().filter(|_| has_next);
    let of_kind = |folder| {
        shown
            .iter()
            .filter(|entry| entry.folder == folder)
            .map(|entry| entry.json)
            .collect()
    };
    let cursor = |last: &ListEntry<'_>| Cursor {
        last_name: last.name.clone(),
        last_time: last.time,
        sort,
        last_archived: last.archived.clone(),
        last_version: last.version.clone(),
    };
    Page {
        has_next,
        next_cursor: last.map(|last| cursor(last).encode()),
        // A folder's name ends with a slash; the key in the response does not.
        next_cursor_key: last.map(|last| {
            last.name
                .strip_suffix('/')
                .filter(|_| last.folder)
                .unwrap_or(&last.name)
                .to_owned()
        }),
        folders: of_kind(true),
        objects: of_kind(false),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sort {
    column: &'static str,
    order: &'static str,
}

impl Sort {
    const COLUMNS: [&'static str; 3] = ["name", "updated_at", "created_at"];
    const ORDERS: [&'static str; 2] = ["asc", "desc"];

    fn read(body: &Fields) -> Result<Self, StorageError> {
        Ok(match body.object("sortBy")? {
            None => Self::default(),
            Some(sort) => Self {
                column: sort.one_of("column", &Self::COLUMNS)?.unwrap_or("name"),
                order: sort.one_of("order", &Self::ORDERS)?.unwrap_or("asc"),
            },
        })
    }
}

impl Default for Sort {
    fn default() -> Self {
        Self {
            column: "name",
            order: "asc",
        }
    }
}

/// Where a page ended. Encoded as base64 of the lines `l:` last name, `o:` order, `c:` column, `a:` time; in a list of versions also `n:` when
/// the last row was archived, and `v:` its version.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cursor {
    last_name: String,
    last_time: Option<DateTime<Utc>>,
    sort: Sort,
    last_archived: Option<String>,
    last_version: Option<String>,
}

impl Cursor {
    fn encode(&self) -> String {
        let mut text = format!("l:{}", self.last_name);
        if self.sort != Sort::default() {
            text.push_str(&format!("\no:{}\nc:{}", self.sort.order, self.sort.column));
        }
        if let Some(time) = self.last_time.filter(|_| self.sort.column != "name") {
            text.push_str(&format!("\na:{}", format_iso(time)));
        }
        if let (Some(archived), Some(version)) = (&self.last_archived, &self.last_version) {
            text.push_str(&format!("\nn:{archived}\nv:{version}"));
        }
        STANDARD.encode(text)
    }

    fn decode(text: &str) -> Result<Self, StorageError> {
        let invalid = || StorageError::InvalidParameter("continuation token");
        let bytes = STANDARD.decode(text).map_err(|_| invalid())?;
        let lines = String::from_utf8(bytes).map_err(|_| invalid())?;
        let mut cursor = Self {
            last_name: String::new(),
            last_time: None,
            sort: Sort::default(),
            last_archived: None,
            last_version: None,
        };
        // The naming rules allow no line break in a key, so the name ends with its line.
        for line in lines.split('\n') {
            let (field, value) = line.split_once(':').ok_or_else(invalid)?;
            let word = |words: &[&'static str]| {
                words
                    .iter()
                    .find(|word| **word == value)
                    .copied()
                    .ok_or_else(invalid)
            };
            match field {
                "l" => cursor.last_name = value.to_owned(),
                "o" => cursor.sort.order = word(&Sort::ORDERS)?,
                "c" => cursor.sort.column = word(&Sort::COLUMNS)?,
                "a" => {
                    let time = DateTime::parse_from_rfc3339(value).map_err(|_| invalid())?;
                    cursor.last_time = Some(time.to_utc());
                }
                "n" if value == "infinity" || DateTime::parse_from_rfc3339(value).is_ok() => {
                    cursor.last_archived = Some(value.to_owned());
                }
                "v" => cursor.last_version = Some(value.to_owned()),
                _ => return Err(invalid()),
            }
        }
        let complete =
            !cursor.last_name.is_empty() && (cursor.sort.column == "name" || cursor.last_time.is_some());
        if complete { Ok(cursor) } else { Err(invalid()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_074_cursors_survive_a_round_trip() {
        let time = DateTime::parse_from_rfc3339("2024-01-02T03:04:05.678Z")
            .expect("a time")
            .to_utc();
        for cursor in [
            Cursor {
                last_name: "a:b/c".into(),
                last_time: None,
                sort: Sort::default(),
                last_archived: Some("infinity".into()),
                last_version: Some("v".into()),
            },
            Cursor {
                last_archived: None,
                last_version: None,
                last_name: "x".into(),
                last_time: Some(time),
                sort: Sort {
                    column: "created_at",
                    order: "desc",
                },
            },
        ] {
            assert_eq!(Cursor::decode(&cursor.encode()).expect("our own cursor"), cursor);
        }
        assert_eq!(Cursor::decode("bDpuMg==").expect("a foreign one").last_name, "n2");
        for bad in ["%", "AAAA", "", "bDo=", "bzphc2M="] {
            assert!(Cursor::decode(bad).is_err(), "{bad}");
        }
    }
}
