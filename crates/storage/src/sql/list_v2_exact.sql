-- The object with exactly this key, as a page of one entry, with its version where the bucket keeps some. Parameters: $1 bucket, $2 key,
-- $3 whether entries have the last segment of their key.
select coalesce(json_agg(json_build_object(
  'folder', false,
  'name', name,
  'time', null,
  'json', case
    when (select storage.keeps_versions($1::text)) then json_build_object(
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
)), '[]')
from (
  select o.id, o.name, o.metadata, o.version, o.is_versioned,
         to_char(o.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as updated,
         to_char(o.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created,
         to_char(o.last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as accessed
  from only storage.objects o
  where o.bucket_id = $1 and o.name = $2
) found
