-- One level below a folder with versions and markers: folders first by name, then rows, each key's newest first. Parameters: $1 bucket, $2
-- folder with its slash, $3 folder and search in lower case, $4 segments of a row's name, $5 asc or desc, $6 limit, $7 offset, $8 name or
-- a time column, $9 and $10 exclude, include or only for noncurrent rows and for markers, $11 the one key that is listed, or null.
with level as (
  select o.*,
         array_to_string((string_to_array(substr(o.name, length($2::text) + 1), '/'))[1:$4::int], '/') as entry,
         $11::text is null and cardinality(string_to_array(substr(o.name, length($2::text) + 1), '/')) > $4::int as is_folder
  from storage.objects o
  where o.bucket_id = $1
    and storage.fold(o.name) collate "C" >= $3::text
    and storage.fold(o.name) collate "C" < $3::text || chr(1114111)
    and ($11::text is null or o.name = $11::text)
    and case $9 when 'exclude' then o.archived_at is null when 'only' then o.archived_at is not null else true end
    and case $10 when 'exclude' then not o.is_delete_marker when 'only' then o.is_delete_marker else true end
),
entries as (
  select distinct entry, true as is_folder, null::uuid as id, null::timestamptz as updated_at,
         null::timestamptz as created_at, null::timestamptz as last_accessed_at, null::jsonb as metadata,
         null::text as version, null::timestamptz as archived_at, null::boolean as is_delete_marker,
         null::boolean as is_versioned, null::timestamptz as sort_time
  from level where is_folder
  union all
  select entry, false, id, updated_at, created_at, last_accessed_at, metadata, version, archived_at, is_delete_marker, is_versioned,
         case $8 when 'updated_at' then updated_at when 'created_at' then created_at when 'last_accessed_at' then last_accessed_at end
  from level where not is_folder
),
page as (
  select row_number() over (
           order by case when $8 = 'name' then false else not is_folder end,
                    case when $5 = 'asc' then sort_time end, case when $5 = 'desc' then sort_time end desc,
                    case when $5 = 'asc' then entry collate "C" end, case when $5 = 'desc' then entry collate "C" end desc,
                    archived_at desc nulls first, version
         ) as position,
         entries.*
  from entries
)
select coalesce(json_agg(json_build_object(
         'name', entry,
         'id', id,
         'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'last_accessed_at', to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'metadata', metadata,
         'version', version,
         'archived_at', to_char(archived_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'is_delete_marker', is_delete_marker,
         'is_versioned', is_versioned
       ) order by position), '[]')
from page
where position > $7::bigint and position <= $7::bigint + $6::bigint
