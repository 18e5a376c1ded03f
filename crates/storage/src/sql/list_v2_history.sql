-- A page of keys with a prefix, with versions and markers, flat or grouped at the next slash. Parameters: $1 bucket, $2 prefix, $3 whether
-- to group, $4 name, created_at or updated_at, $5 asc or desc, $6 limit, $7 name after which to start, $8 its time, $9 and $10 exclude,
-- include or only for noncurrent rows and for markers, $11 whether the prefix is the whole key, $12 when the last row was archived
-- (infinity for a current one), $13 its version.
-- Names compare bytewise, times in whole milliseconds with the name as tie-breaker. Rows of a key come newest first.
with matching as (
  select o.*, case when $11::boolean then 0 else position('/' in substr(o.name, length($2::text) + 1)) end as slash
  from storage.objects o
  where o.bucket_id = $1
    and o.name collate "C" >= $2::text
    and o.name collate "C" < $2::text || chr(1114111)
    and starts_with(o.name, $2::text)
    and (not $11::boolean or o.name = $2::text)
    and case $9 when 'exclude' then o.archived_at is null when 'only' then o.archived_at is not null else true end
    and case $10 when 'exclude' then not o.is_delete_marker when 'only' then o.is_delete_marker else true end
),
entries as (
  select false as folder, name collate "C" as name, id, metadata, updated_at, created_at, last_accessed_at, version, archived_at,
         is_delete_marker, is_versioned,
         case $4 when 'created_at' then date_trunc('milliseconds', created_at)
                 when 'updated_at' then date_trunc('milliseconds', updated_at) end as time
  from matching
  where not $3::boolean or slash = 0
  union all
  select true, left(name, length($2::text) + slash) collate "C", null, null, null, null, null, null, null, null, null,
         case when $4 <> 'name' then date_trunc('milliseconds', min(created_at)) end
  from matching
  where $3::boolean and slash > 0
  group by left(name, length($2::text) + slash)
),
page as (
  select *
  from entries
  where case
    when $7::text is null then true
    when name = $7::text and time is not distinct from $8::timestamptz then
      coalesce(archived_at, 'infinity') < $12::timestamptz
      or coalesce(archived_at, 'infinity') = $12::timestamptz and version collate "C" > $13::text
    when $4 = 'name' and $5 = 'asc' then name > $7::text
    when $4 = 'name' then name < $7::text
    when $5 = 'asc' then (time, name) > ($8::timestamptz, $7::text collate "C")
    else (time, name) < ($8::timestamptz, $7::text collate "C")
  end
  order by case when $5 = 'asc' then time end, case when $5 = 'desc' then time end desc,
           case when $5 = 'asc' then name end, case when $5 = 'desc' then name end desc,
           archived_at desc nulls first, version collate "C"
  limit $6::bigint
)
select coalesce(json_agg(json_build_object(
  'folder', folder,
  'name', name,
  'time', to_char(time at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'archived', case when folder then null else coalesce(to_char(archived_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'infinity') end,
  'version', version,
  'json', case
    when folder then json_build_object(
      'key', substring(rtrim(name, '/') from '[^/]*$'),
      'name', name,
      'id', null,
      'updated_at', to_char(time at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'created_at', to_char(time at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'last_accessed_at', null,
      'metadata', null)
    else json_build_object(
      'key', substring(name from '[^/]*$'),
      'name', name,
      'id', id,
      'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'last_accessed_at', to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'metadata', metadata,
      'version', version,
      'archived_at', to_char(archived_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'is_delete_marker', is_delete_marker,
      'is_versioned', is_versioned)
  end
) order by case when $5 = 'asc' then time end, case when $5 = 'desc' then time end desc,
           case when $5 = 'asc' then name end, case when $5 = 'desc' then name end desc,
           archived_at desc nulls first, version collate "C"), '[]')
from page
