-- One bucket as JSON. Parameter: $1 id.
select json_build_object(
  'id', id,
  'name', name,
  'owner', coalesce(owner::text, ''),
  'public', coalesce(public, false),
  'file_size_limit', file_size_limit,
  'allowed_mime_types', allowed_mime_types,
  'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
)
from storage.buckets
where id = $1
