-- One level below a folder, folders first by name, then files by a time column. Parameters: $1 bucket, $2 folder with its
-- slash, $3 folder and search in lower case, $4 segments of a row's name, $5 asc or desc, $6 limit, $7 offset, $8 the
-- column. Objects have their version where the bucket keeps some. Compat: unlike by name, folders that differ in case only are two rows, so
-- that paging skips none.
with level as (
  select o.*,
         array_to_string((string_to_array(substr(o.name, length($2::text) + 1), '/'))[1:$4::int], '/') as entry,
         cardinality(string_to_array(substr(o.name, length($2::text) + 1), '/')) > $4::int as is_folder
  from only storage.objects o
  where o.bucket_id = $1
    and storage.fold(o.name) collate "C" >= $3::text
    and storage.fold(o.name) collate "C" < $3::text || chr(1114111)
),
entries as (
  select distinct entry, true as is_folder, null::uuid as id, null::timestamptz as updated_at,
         null::timestamptz as created_at, null::timestamptz as last_accessed_at, null::jsonb as metadata,
         null::text as version, null::boolean as is_versioned, null::timestamptz as sort_time
  from level where is_folder
  union all
  select entry, false, id, updated_at, created_at, last_accessed_at, metadata, version, is_versioned,
         case $8 when 'updated_at' then updated_at when 'created_at' then created_at else last_accessed_at end
  from level where not is_folder
),
page as (
  select row_number() over (
           order by is_folder desc,
                    case when $5 = 'asc' then sort_time end, case when $5 = 'desc' then sort_time end desc,
                    case when $5 = 'asc' then entry collate "C" end, case when $5 = 'desc' then entry collate "C" end desc
         ) as position,
         entries.*
  from entries
)
select coalesce(json_agg(case
  when not (select storage.keeps_versions($1::text)) then json_build_object(
    'name', entry,
    'id', id,
    'updated_at', updated,
    'created_at', created,
    'last_accessed_at', accessed,
    'metadata', metadata)
  else json_build_object(
    'name', entry,
    'id', id,
    'updated_at', updated,
    'created_at', created,
    'last_accessed_at', accessed,
    'metadata', metadata,
    'version', version,
    'archived_at', null,
    'is_delete_marker', case when id is not null then false end,
    'is_versioned', is_versioned)
end order by position), '[]')
from (
  select page.*,
         to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as updated,
         to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created,
         to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as accessed
  from page
  where position > $7::bigint and position <= $7::bigint + $6::bigint
) shown
