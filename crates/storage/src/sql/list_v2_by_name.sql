-- A page of keys with a prefix by name, flat or grouped at the next slash. Parameters: $1 bucket, $2 prefix, $3 whether to
-- group, $4 asc or desc, $5 limit, $6 name after which to start. In a bucket that keeps versions nothing is listed, and the second column says
-- so: list_v2_by_name_versions.sql is for it. One statement for both would be planned for both each time.
with bucket as materialized (select storage.keeps_versions($1::text) as keeps_versions)
select coalesce(json_agg(json_build_object(
  'folder', folder,
  'name', name,
  'time', null,
  'json', case
    when folder then json_build_object(
      'key', substring(rtrim(name, '/') from '[^/]*$'),
      'name', name,
      'id', null,
      'updated_at', null,
      'created_at', null,
      'last_accessed_at', null,
      'metadata', null)
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
)), '[]'), (select keeps_versions from bucket) as keeps_versions
from (
  select w.name, w.id, w.metadata, w.id is null as folder,
         to_char(w.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as updated,
         to_char(w.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created,
         to_char(w.last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as accessed
  from (
    select * from storage.walk_level($1::text, $2::text, case when $3::boolean then '/' else '' end, $6::text)
    where $4::text = 'asc' and not (select keeps_versions from bucket)
    union all
    select * from storage.walk_level_backwards($1::text, $2::text, case when $3::boolean then '/' else '' end, $6::text)
    where $4::text = 'desc' and not (select keeps_versions from bucket)
    limit $5::bigint
  ) w
) page
