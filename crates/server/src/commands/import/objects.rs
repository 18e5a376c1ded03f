//! Copies storage objects: their bytes by the source's API, their rows from its database.
//!
//! The store keeps an object's bytes under the version in its row and shows them only when they are complete. An import that
//! follows an interrupted one therefore recognizes the objects that are copied already.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use selvedge_postgres::quote_identifier;
use selvedge_storage::Backend;
use serde_json::Value;
use tokio_postgres::Client;
use uuid::Uuid;

use super::catalog::list_tables;
use super::object::SourceObject;
use super::object_api::{Download, ObjectApi};
use super::report::ObjectCounts;

/// Rows per query and transaction.
const PAGE: i64 = 500;
/// Objects that are downloaded at the same time.
const PARALLEL: usize = 8;

/// Most objects that may fail before the import ends: beyond that the source's API as a whole does not work.
const MAX_FAILURES: usize = 200;

const READ_PAGE: &str = "
    select (to_jsonb(o) - 'path_tokens')::text from storage.objects as o
    where $1::uuid is null or id > $1
    order by id limit $2";

/// Objects that people have stored at the target since the import began. It neither deletes nor replaces them.
pub(super) struct NewerObjects {
    ids: BTreeSet<Uuid>,
    /// Versions by buckets and names.
    versions: BTreeMap<String, Option<String>>,
}

impl NewerObjects {
    /// Reads them; `beginning` is the SQL text of a time.
    pub(super) async fn read(target: &Client, beginning: &str) -> Result<Self> {
        let query = "select id, concat_ws('/', bucket_id, name), version from storage.objects
            where greatest(created_at, updated_at) >= $1::text::timestamptz";
        let rows = target.query(query, &[&beginning]).await?;
        Ok(Self {
            ids: rows.iter().map(|row| row.get(0)).collect(),
            versions: rows.iter().map(|row| (row.get(1), row.get(2))).collect(),
        })
    }

    /// Whether the target has another version of an object of the source.
    fn replaces(&self, object: &SourceObject) -> bool {
        let version = self.versions.get(&object.path());
        version.is_some_and(|version| *version != Some(object.version.to_string()))
    }
}

/// Copies all objects of the source, and removes rows that an earlier import copied and the source has deleted since.
pub(super) async fn copy_objects(
    source: &Client,
    target: &Client,
    api: &ObjectApi<'_>,
    store: &dyn Backend,
    newer: &NewerObjects,
) -> Result<ObjectCounts> {
    // Keeps the project's triggers on storage.objects from running: they have run at the source.
    target
        .batch_execute("set session_replication_role = replica")
        .await?;
    let columns = list_columns(target).await?;
    let mut counts = ObjectCounts::default();
    let mut kept = BTreeSet::new();
    let mut last: Option<Uuid> = None;
    loop {
        let mut page = read_page(source, last).await?;
        let Some(object) = page.last() else { break };
        last = Some(object.id);
        page.retain(|object| {
            let is_replaced = newer.replaces(object);
            if is_replaced {
                let reason = "the target has another one, which was stored after the import began";
                counts.not_copied.push((object.path(), reason.to_owned()));
            }
            !is_replaced
        });
        let rows = copy_page(&page, api, store, &mut counts, &mut kept).await?;
        write_rows(target, &columns, rows).await?;
    }
    let of_others: Vec<Uuid> = newer.ids.difference(&kept).copied().collect();
    kept.extend(&of_others);
    remove_others(target, &kept).await?;
    verify(target, &counts, &of_others).await?;
    Ok(counts)
}

/// Copies the bytes of these objects. Returns the rows of those whose bytes are in the store now.
async fn copy_page(
    page: &[SourceObject],
    api: &ObjectApi<'_>,
    store: &dyn Backend,
    counts: &mut ObjectCounts,
    kept: &mut BTreeSet<Uuid>,
) -> Result<Vec<Value>> {
    let downloads: Vec<Download> = stream::iter(page)
        .map(|object| api.copy_bytes(object, store))
        .buffered(PARALLEL)
        .try_collect()
        .await?;
    let failed = downloads
        .iter()
        .filter(|download| matches!(download, Download::Failed(_)));
    if counts.not_copied.len() + failed.count() > MAX_FAILURES {
        bail!(
            "more than {MAX_FAILURES} objects cannot be copied: {}",
            describe_failure(&downloads)
        );
    }
    let mut rows = Vec::new();
    for (object, download) in page.iter().zip(downloads) {
        match download {
            Download::Lost => {
                counts.lost.push(object.path());
                continue;
            }
            Download::Failed(reason) => {
                counts.not_copied.push((object.path(), reason));
                continue;
            }
            Download::Copied => counts.copied += 1,
            Download::AlreadyThere => counts.already_there += 1,
        }
        counts.bytes += object.size.unwrap_or_default();
        kept.insert(object.id);
        rows.push(object.row());
    }
    Ok(rows)
}

fn describe_failure(downloads: &[Download]) -> String {
    let reason = downloads.iter().find_map(|download| match download {
        Download::Failed(reason) => Some(reason.clone()),
        _ => None,
    });
    reason.unwrap_or_default()
}

async fn read_page(source: &Client, after: Option<Uuid>) -> Result<Vec<SourceObject>> {
    let rows = source.query(READ_PAGE, &[&after, &PAGE]).await?;
    rows.iter().map(|row| SourceObject::parse(row.get(0))).collect()
}

/// Lists the columns of `storage.objects` other than generated ones.
async fn list_columns(target: &Client) -> Result<Vec<String>> {
    let tables = list_tables(target, &[], &["storage.objects".to_owned()]).await?;
    let columns = tables.into_iter().flat_map(|table| table.columns);
    Ok(columns.collect())
}

/// Inserts rows in one transaction, and deletes older ones with the same id or name. All rows have the same members.
async fn write_rows(target: &Client, columns: &[String], rows: Vec<Value>) -> Result<()> {
    let Some(first) = rows.first().cloned() else {
        return Ok(());
    };
    let shared: Vec<String> = columns
        .iter()
        .filter(|column| first.get(column.as_str()).is_some())
        .map(|column| quote_identifier(column))
        .collect();
    let shared = shared.join(", ");
    let rows = Value::Array(rows).to_string();
    let records = "jsonb_populate_recordset(null::storage.objects, $1::text::jsonb)";
    target.batch_execute("begin").await?;
    // An earlier import may have inserted the object with another version or id, if it was replaced at the source since.
    target
        .execute(
            &format!(
                "delete from storage.objects as o using {records} as n
                 where o.id = n.id or (o.bucket_id = n.bucket_id and o.name = n.name)"
            ),
            &[&rows],
        )
        .await?;
    target
        .execute(
            &format!("insert into storage.objects ({shared}) select {shared} from {records}"),
            &[&rows],
        )
        .await?;
    target.batch_execute("commit").await?;
    Ok(())
}

/// Deletes the rows of all objects that are not in `kept`.
async fn remove_others(target: &Client, kept: &BTreeSet<Uuid>) -> Result<()> {
    let rows = target.query("select id from storage.objects", &[]).await?;
    let others: Vec<Uuid> = rows
        .iter()
        .map(|row| row.get(0))
        .filter(|id| !kept.contains(id))
        .collect();
    target
        .execute("delete from storage.objects where id = any ($1)", &[&others])
        .await?;
    Ok(())
}

/// Compares number and size of the target's objects, without those `of_others`, with what was copied.
async fn verify(target: &Client, counts: &ObjectCounts, of_others: &[Uuid]) -> Result<()> {
    let row = target
        .query_one(
            "select count(*), coalesce(sum(case when metadata ->> 'size' ~ '^[0-9]{1,15}$' \
             then (metadata ->> 'size')::bigint else 0 end), 0)::bigint from storage.objects where id <> all ($1)",
            &[&of_others],
        )
        .await?;
    let found: (i64, i64) = (row.get(0), row.get(1));
    let expected = (counts.copied + counts.already_there, counts.bytes);
    if (found.0.unsigned_abs(), found.1.unsigned_abs()) != expected {
        bail!(
            "{} objects of {} bytes were copied, but {} of {} are there: somebody else has changed them",
            expected.0,
            expected.1,
            found.0,
            found.1
        );
    }
    Ok(())
}
