-- A page of keys of a bucket with versions, with the version of each object, by name, flat or grouped at the next slash. Parameters: $1 bucket,
-- $2 prefix, $3 whether to group, $4 asc or desc, $5 limit, $6 name after which to start.
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
    else json_build_object(
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
  end
)), '[]')
from (
  select w.name, w.id, w.metadata, w.version, w.is_versioned, w.id is null as folder,
         to_char(w.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as updated,
         to_char(w.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created,
         to_char(w.last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as accessed
  from (
    select * from storage.walk_level_with_version($1::text, $2::text, case when $3::boolean then '/' else '' end, $6::text)
    where $4::text = 'asc'
    union all
    select * from storage.walk_level_backwards_with_version($1::text, $2::text, case when $3::boolean then '/' else '' end, $6::text)
    where $4::text = 'desc'
    limit $5::bigint
  ) w
) page
