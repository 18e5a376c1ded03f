-- One bucket as JSON. Parameters: $1 id, $2 whether with its rules, $3 whether the client knows newer fields.
select (jsonb_build_object(
  'id', id,
  'name', name,
  'owner', coalesce(owner::text, ''),
  'public', coalesce(public, false),
  'file_size_limit', file_size_limit,
  'allowed_mime_types', allowed_mime_types,
  'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
)
|| case when $3::boolean then jsonb_build_object('type', type, 'versioning_status', versioning_status) else '{}' end
|| case when $2::boolean then jsonb_build_object('lifecycle_configuration', lifecycle_configuration) else '{}' end)::json
from storage.buckets
where id = $1
