-- The object with exactly this key, as the list of its folder shows it, with its version where the bucket keeps some. Parameters: $1 bucket,
-- $2 key, $3 offset.
select coalesce(json_agg(case
  when not (select storage.keeps_versions($1::text)) then json_build_object(
    'name', key,
    'id', id,
    'updated_at', updated,
    'created_at', created,
    'last_accessed_at', accessed,
    'metadata', metadata)
  else json_build_object(
    'name', key,
    'id', id,
    'updated_at', updated,
    'created_at', created,
    'last_accessed_at', accessed,
    'metadata', metadata,
    'version', version,
    'archived_at', null,
    'is_delete_marker', false,
    'is_versioned', is_versioned)
end), '[]')
from (
  select o.id, o.metadata, o.version, o.is_versioned, substring(o.name from '[^/]*$') as key,
         to_char(o.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as updated,
         to_char(o.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created,
         to_char(o.last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as accessed
  from only storage.objects o
  where o.bucket_id = $1 and o.name = $2
  offset $3::bigint
) found
