//! What an import has written to `storage.objects`: a note of each row, in a table of the platform that exists until the import is complete.
//!
//! People may use the target meanwhile. A row that is as noted is the import's, which may replace or delete it. Every other one is theirs: they
//! have stored it, or changed or moved what was imported. A noted object without its row was deleted by them, and does not come back.

use anyhow::Result;
use selvedge_database::unfinished_import;
use tokio_postgres::{Client, Row};
use uuid::Uuid;

use super::object::SourceObject;

/// `is_done` is false from before a row is written until the commit is known. Whether people have deleted it is not known then. The replica
/// identity lets rows be deleted where the source has a publication for all tables.
const CREATE: &str = "
    create table if not exists _selvedge.copied_objects (
      import_xid xid8, id uuid not null, version text not null, bucket_id text not null, name text not null, is_done boolean not null);
    alter table _selvedge.copied_objects replica identity full;
    create index if not exists copied_objects_id on _selvedge.copied_objects (id);
    create index if not exists copied_objects_name on _selvedge.copied_objects (bucket_id, name)";

/// Notes of an import that was rolled back, or replaced by this one.
const DELETE_OTHERS: &str =
    "delete from _selvedge.copied_objects where import_xid is distinct from $1::text::xid8";

/// Those of these objects, and those that were imported under their names.
const FIND: &str = "
    select id, version, bucket_id, name, is_done from _selvedge.copied_objects where id = any ($1)
    union
    select id, version, bucket_id, name, is_done from _selvedge.copied_objects
    where (bucket_id, name) in (select * from unnest($2::text[], $3::text[]))";

const BEGIN: &str = "
    with reopened as (update _selvedge.copied_objects set is_done = false where id = any ($6))
    insert into _selvedge.copied_objects
    select $1::text::xid8, n.*, false from unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) as n";

const FINISH: &str = "
    with replaced as (delete from _selvedge.copied_objects where id = any ($6))
    insert into _selvedge.copied_objects
    select $1::text::xid8, n.*, true from unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) as n";

/// A row of `storage.objects` as an import writes it.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    pub(crate) id: Uuid,
    version: String,
    bucket: String,
    name: String,
    /// Whether the row was written, or left to people.
    pub(crate) is_done: bool,
}

impl Note {
    pub(crate) fn of(object: &SourceObject) -> Self {
        Self {
            id: object.id,
            version: object.version.to_string(),
            bucket: object.bucket.clone(),
            name: object.name.clone(),
            is_done: false,
        }
    }

    /// Reads a row of [`FIND`].
    fn parse(row: &Row) -> Self {
        Self {
            id: row.get(0),
            version: row.get(1),
            bucket: row.get(2),
            name: row.get(3),
            is_done: row.get(4),
        }
    }
}

/// Ids, versions, buckets and names of notes, as parameters of a statement.
pub(crate) struct NoteColumns<'n> {
    pub(crate) ids: Vec<Uuid>,
    pub(crate) versions: Vec<&'n str>,
    pub(crate) buckets: Vec<&'n str>,
    pub(crate) names: Vec<&'n str>,
}

impl<'n> NoteColumns<'n> {
    pub(crate) fn of(notes: impl Iterator<Item = &'n Note> + Clone) -> Self {
        Self {
            ids: notes.clone().map(|note| note.id).collect(),
            versions: notes.clone().map(|note| note.version.as_str()).collect(),
            buckets: notes.clone().map(|note| note.bucket.as_str()).collect(),
            names: notes.map(|note| note.name.as_str()).collect(),
        }
    }
}

/// The notes of the import whose objects are copied now.
pub(crate) struct CopiedObjects<'c> {
    superuser: &'c Client,
    /// The transaction that has imported the database; `None` where an earlier version has not noted it.
    import: Option<String>,
}

impl<'c> CopiedObjects<'c> {
    /// Opens the notes.
    pub(crate) async fn open(superuser: &'c Client) -> Result<Self> {
        let unfinished = unfinished_import::find(superuser).await?;
        let import = unfinished.and_then(|unfinished| unfinished.transaction);
        superuser.batch_execute(CREATE).await?;
        superuser.execute(DELETE_OTHERS, &[&import]).await?;
        Ok(Self { superuser, import })
    }

    /// Returns the notes of these objects and of those that were imported under their names.
    pub(crate) async fn find(&self, objects: &[Note]) -> Result<Vec<Note>> {
        let columns = NoteColumns::of(objects.iter());
        let rows = self
            .superuser
            .query(FIND, &[&columns.ids, &columns.buckets, &columns.names])
            .await?;
        Ok(rows.iter().map(Note::parse).collect())
    }

    /// Notes that `new` is about to be written in place of `old`.
    pub(crate) async fn begin(&self, old: &[Note], new: &[Note]) -> Result<()> {
        self.write(BEGIN, old, new).await
    }

    /// Notes that `new` is done, in place of `old`.
    pub(crate) async fn finish(&self, old: &[Note], new: &[Note]) -> Result<()> {
        self.write(FINISH, old, new).await
    }

    async fn write(&self, statement: &str, old: &[Note], new: &[Note]) -> Result<()> {
        let columns = NoteColumns::of(new.iter());
        let ids: Vec<Uuid> = old.iter().chain(new).map(|note| note.id).collect();
        self.superuser
            .execute(
                statement,
                &[
                    &self.import,
                    &columns.ids,
                    &columns.versions,
                    &columns.buckets,
                    &columns.names,
                    &ids,
                ],
            )
            .await?;
        Ok(())
    }

    /// The ids of the objects that this import has copied so far.
    pub(crate) async fn list_ids(&self) -> Result<Vec<Uuid>> {
        let ids = "select distinct id from _selvedge.copied_objects";
        let rows = self.superuser.query(ids, &[]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Returns the notes of these ids.
    pub(crate) async fn find_ids(&self, ids: &[Uuid]) -> Result<Vec<Note>> {
        let none: [&str; 0] = [];
        let rows = self
            .superuser
            .query(FIND, &[&ids, &none.as_slice(), &none.as_slice()])
            .await?;
        Ok(rows.iter().map(Note::parse).collect())
    }
}
