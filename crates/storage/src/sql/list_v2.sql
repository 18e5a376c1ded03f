-- A page of keys with a prefix, flat or grouped at the next slash. Parameters: $1 bucket, $2 prefix, $3 whether to group,
-- $4 name, created_at or updated_at, $5 asc or desc, $6 limit, $7 name after which to start, $8 its time.
-- Objects have their version where the bucket keeps some. Names compare bytewise, times in whole milliseconds with the name as tie-breaker.
with matching as (
  select o.*, position('/' in substr(o.name, length($2::text) + 1)) as slash
  from only storage.objects o
  where o.bucket_id = $1
    and o.name collate "C" >= $2::text
    and o.name collate "C" < $2::text || chr(1114111)
    and starts_with(o.name, $2::text)
),
entries as (
  select false as folder, name collate "C" as name, id, metadata, updated_at, created_at, last_accessed_at, version, is_versioned,
         case $4 when 'created_at' then date_trunc('milliseconds', created_at)
                 when 'updated_at' then date_trunc('milliseconds', updated_at) end as time
  from matching
  where not $3::boolean or slash = 0
  union all
  select true, left(name, length($2::text) + slash) collate "C", null, null, null, null, null, null, null,
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
    when $4 = 'name' and $5 = 'asc' then name > $7::text
    when $4 = 'name' then name < $7::text
    when $5 = 'asc' then (time, name) > ($8::timestamptz, $7::text collate "C")
    else (time, name) < ($8::timestamptz, $7::text collate "C")
  end
  order by case when $5 = 'asc' then time end, case when $5 = 'desc' then time end desc,
           case when $5 = 'asc' then name end, case when $5 = 'desc' then name end desc
  limit $6::bigint
)
select coalesce(json_agg(json_build_object(
  'folder', folder,
  'name', name,
  'time', time_text,
  'json', case
    when folder then json_build_object(
      'key', substring(rtrim(name, '/') from '[^/]*$'),
      'name', name,
      'id', null,
      'updated_at', time_text,
      'created_at', time_text,
      'last_accessed_at', null,
      'metadata', null)
    when keeps_versions then json_build_object(
      'key', substring(name from '[^/]*$'),
      'name', name,
      'id', id,
      'updated_at', updated,
      'created_at', created,
      'last_accessed_at', accessed,
      'metadata', metadata,
      'version', version,
      'archived_at', null,
      'is_delete_marker', false,
      'is_versioned', is_versioned)
    when $3::boolean then json_build_object(
      'key', substring(name from '[^/]*$'),
      'name', name,
      'id', id,
      'updated_at', updated,
      'created_at', created,
      'last_accessed_at', accessed,
      'metadata', metadata)
    else json_build_object(
      'id', id,
      'name', name,
      'metadata', metadata,
      'updated_at', updated,
      'created_at', created,
      'last_accessed_at', accessed)
  end
) order by case when $5 = 'asc' then time end, case when $5 = 'desc' then time end desc,
           case when $5 = 'asc' then name end, case when $5 = 'desc' then name end desc), '[]')
from (
  select page.*,
         (select storage.keeps_versions($1::text)) as keeps_versions,
         to_char(time at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as time_text,
         to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as updated,
         to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created,
         to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as accessed
  from page
) shown
