-- A page of versions, markers and common prefixes of the S3 protocol, each key's newest first. Parameters: $1 bucket, $2 prefix, $3 delimiter,
-- $4 limit, $5 key marker, $6 version id marker.
with matching as (
  select o.*, storage.common_prefix_of(o.name, $2::text, $3::text) as folder
  from storage.objects as o
  where o.bucket_id = $1
    and o.name collate "C" >= $2::text
    and o.name collate "C" < $2::text || chr(1114111)
),
last as (
  select coalesce(o.archived_at, 'infinity') as archived_at
  from storage.objects as o
  where o.bucket_id = $1 and o.name = $5::text
    and (o.version = $6::text or $6::text = 'null' and not o.is_versioned)
),
entries as (
  select m.name collate "C" as name, false as is_prefix, m.version, m.archived_at, m.is_delete_marker, m.is_versioned, m.metadata, m.updated_at
  from matching as m
  where m.folder is null
  union all
  select distinct m.folder collate "C", true, null, null::timestamptz, null::boolean, null::boolean, null::jsonb, null::timestamptz
  from matching as m
  where m.folder is not null
)
select e.name, e.is_prefix, case when e.is_versioned then e.version else 'null' end as version, e.archived_at is null as is_latest,
       e.is_delete_marker, e.metadata ->> 'eTag' as etag, e.metadata ->> 'size' as size,
       e.metadata ->> 'lastModified' as last_modified, e.updated_at
from entries as e
where e.name > $5::text and not (e.is_prefix and starts_with($5::text, e.name))
  or e.name = $5::text and not e.is_prefix
    and coalesce(e.archived_at, 'infinity') < (select last.archived_at from last)
order by e.name, e.archived_at desc nulls first, e.version
limit $4::text::integer
