//! Copies storage objects: their bytes by the source's API, their rows from its database.
//!
//! The store keeps an object's bytes under the version in its row and shows them only when they are complete. An import that
//! follows an interrupted one therefore recognizes the objects that are copied already.

pub(crate) mod copied_objects;
pub(crate) mod object;
pub(crate) mod object_api;

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use selvedge_postgres::quote_identifier;
use selvedge_storage::Backend;
use serde_json::Value;
use tokio_postgres::Client;
use uuid::Uuid;

use crate::catalog::list_tables;
use crate::report::ObjectCounts;
use crate::target::Target;
use copied_objects::{CopiedObjects, Note, NoteColumns};
use object::SourceObject;
use object_api::{Download, ObjectApi};

/// Rows per query and transaction.
const PAGE: usize = 500;
/// Objects that are downloaded at the same time.
const PARALLEL: usize = 8;

/// Most objects that may fail before the import ends: beyond that the source's API as a whole does not work.
const MAX_FAILURES: usize = 200;

const READ_PAGE: &str = "
    select (to_jsonb(o) - 'path_tokens')::text from storage.objects as o
    where ($1::uuid is null or id > $1)
      -- Versions and markers stay behind, where the source has columns of them.
      and to_jsonb(o) ->> 'archived_at' is null and to_jsonb(o) ->> 'is_delete_marker' is distinct from 'true'
    order by id limit $2::int8";

/// Deletes rows that are as they were noted, and returns their ids.
const DELETE: &str = "
    delete from storage.objects as o using unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as n (id, version, bucket_id, name)
    where o.id = n.id and o.version = n.version and o.bucket_id = n.bucket_id and o.name = n.name
    returning o.id";

/// An object whose bytes are in the store.
struct Stored<'p> {
    object: &'p SourceObject,
    /// An earlier import has copied them.
    was_there: bool,
}

/// Copies all objects of the source, and removes rows that an earlier import copied and the source has deleted since. What people have stored,
/// changed, moved or deleted at the target since stays as they have left it.
pub(crate) async fn copy_objects(
    source: &Client,
    target: &Target,
    api: &ObjectApi<'_>,
    store: &dyn Backend,
) -> Result<ObjectCounts> {
    let administrator = &target.administrator;
    // Keeps the project's triggers on storage.objects from running: they have run at the source.
    administrator
        .batch_execute("set session_replication_role = replica")
        .await?;
    let columns = list_columns(administrator).await?;
    let copied = CopiedObjects::open(&target.superuser).await?;
    let mut counts = ObjectCounts::default();
    let mut seen = BTreeSet::new();
    let mut last: Option<Uuid> = None;
    loop {
        let page = read_page(source, last).await?;
        let Some(object) = page.last() else { break };
        last = Some(object.id);
        let stored = copy_page(&page, api, store, &mut counts, &mut seen).await?;
        let written = write_page(administrator, &copied, &columns, &stored).await?;
        for Stored { object, was_there } in stored {
            if written.contains(&object.id) {
                counts.bytes += object.size.unwrap_or_default();
                counts.copied += u64::from(!was_there);
                counts.already_there += u64::from(was_there);
            } else {
                counts.changed_here.push(object.path());
            }
        }
    }
    remove_others(administrator, &copied, &seen).await?;
    Ok(counts)
}

/// Copies the bytes of these objects. Returns those whose bytes are in the store now, and adds those that the source still has to `seen`.
async fn copy_page<'p>(
    page: &'p [SourceObject],
    api: &ObjectApi<'_>,
    store: &dyn Backend,
    counts: &mut ObjectCounts,
    seen: &mut BTreeSet<Uuid>,
) -> Result<Vec<Stored<'p>>> {
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
    let mut stored = Vec::new();
    for (object, download) in page.iter().zip(downloads) {
        let was_there = match download {
            Download::Lost => {
                counts.lost.push(object.path());
                continue;
            }
            Download::Failed(reason) => {
                seen.insert(object.id);
                counts.not_copied.push((object.path(), reason));
                continue;
            }
            Download::Copied => false,
            Download::AlreadyThere => true,
        };
        seen.insert(object.id);
        stored.push(Stored { object, was_there });
    }
    Ok(stored)
}

fn describe_failure(downloads: &[Download]) -> String {
    let reason = downloads.iter().find_map(|download| match download {
        Download::Failed(reason) => Some(reason.clone()),
        _ => None,
    });
    reason.unwrap_or_default()
}

async fn read_page(source: &Client, after: Option<Uuid>) -> Result<Vec<SourceObject>> {
    let rows = source.query(READ_PAGE, &[&after, &i64::try_from(PAGE)?]).await?;
    rows.iter().map(|row| SourceObject::parse(row.get(0))).collect()
}

/// Lists the columns of `storage.objects` other than generated ones.
async fn list_columns(target: &Client) -> Result<Vec<String>> {
    let tables = list_tables(target, &[], &["storage.objects".to_owned()]).await?;
    let columns = tables.into_iter().flat_map(|table| table.columns);
    Ok(columns.collect())
}

/// Writes the rows of these objects in one transaction, in place of those that an earlier import wrote. Returns the ids of those that are
/// written: not those whose ids or names people use by now, nor those that they have changed or deleted.
async fn write_page(
    administrator: &Client,
    copied: &CopiedObjects<'_>,
    columns: &[String],
    stored: &[Stored<'_>],
) -> Result<BTreeSet<Uuid>> {
    let new: Vec<Note> = stored.iter().map(|stored| Note::of(stored.object)).collect();
    let old = copied.find(&new).await?;
    let done: BTreeSet<Uuid> = old
        .iter()
        .filter(|note| note.is_done)
        .map(|note| note.id)
        .collect();
    copied.begin(&old, &new).await?;
    administrator.batch_execute("begin").await?;
    // Rows of a version that noted none are recognized by being as at the source.
    let deleted = delete_noted(administrator, old.iter().chain(&new)).await?;
    let is_ours = |object: &SourceObject| !done.contains(&object.id) || deleted.contains(&object.id);
    let objects = stored.iter().map(|stored| stored.object);
    let rows = objects.filter(|object| is_ours(object)).map(SourceObject::row);
    let written = insert_rows(administrator, columns, rows.collect()).await?;
    administrator.batch_execute("commit").await?;
    // Notes of objects that only have, or had, the name of one of these, and that people have deleted or changed: they stay as they are.
    let is_another = |note: &&Note| !new.iter().any(|one| one.id == note.id) && !deleted.contains(&note.id);
    let kept: Vec<Note> = old
        .iter()
        .filter(|note| note.is_done)
        .filter(is_another)
        .cloned()
        .collect();
    copied.finish(&old, &[new, kept].concat()).await?;
    Ok(written)
}

async fn delete_noted<'n>(
    administrator: &Client,
    notes: impl Iterator<Item = &'n Note> + Clone,
) -> Result<BTreeSet<Uuid>> {
    let notes = NoteColumns::of(notes);
    let deleted = administrator
        .query(
            DELETE,
            &[&notes.ids, &notes.versions, &notes.buckets, &notes.names],
        )
        .await?;
    Ok(deleted.iter().map(|row| row.get(0)).collect())
}

/// Inserts rows where nobody has one of their ids or names. All have the same members. Returns the ids of the inserted ones.
async fn insert_rows(administrator: &Client, columns: &[String], rows: Vec<Value>) -> Result<BTreeSet<Uuid>> {
    let Some(first) = rows.first() else {
        return Ok(BTreeSet::new());
    };
    let shared: Vec<String> = columns
        .iter()
        .filter(|column| first.get(column.as_str()).is_some())
        .map(|column| quote_identifier(column))
        .collect();
    let shared = shared.join(", ");
    // Foreign keys are not checked in this session, and people may delete a bucket meanwhile.
    let insert = format!(
        "with rows as (
           select * from jsonb_populate_recordset(null::storage.objects, $1::text::jsonb)
         ), kept as (
           select id from storage.buckets where id in (select bucket_id from rows) for key share
         )
         insert into storage.objects ({shared})
         select {shared} from rows where bucket_id in (select id from kept)
         on conflict do nothing returning id"
    );
    let rows = Value::Array(rows).to_string();
    let inserted = administrator.query(&insert, &[&rows]).await?;
    Ok(inserted.iter().map(|row| row.get(0)).collect())
}

/// Deletes the rows of imported objects that the source does not have any more.
async fn remove_others(
    administrator: &Client,
    copied: &CopiedObjects<'_>,
    seen: &BTreeSet<Uuid>,
) -> Result<()> {
    let mut others = copied.list_ids().await?;
    others.retain(|id| !seen.contains(id));
    for ids in others.chunks(PAGE) {
        delete_noted(administrator, copied.find_ids(ids).await?.iter()).await?;
    }
    Ok(())
}
