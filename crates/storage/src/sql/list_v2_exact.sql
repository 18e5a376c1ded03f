-- The object with exactly this key, as a page of one entry. Parameters: $1 bucket, $2 key, $3 whether entries have the last
-- segment of their key.
select coalesce(json_agg(json_build_object(
  'folder', false,
  'name', name,
  'time', null,
  'json', case
    when $3::boolean then json_build_object(
      'key', substring(name from '[^/]*$'),
      'name', name,
      'id', id,
      'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'last_accessed_at', to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'metadata', metadata)
    else json_build_object(
      'id', id,
      'name', name,
      'metadata', metadata,
      'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'last_accessed_at', to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  end
)), '[]')
from only storage.objects
where bucket_id = $1 and name = $2
