-- One level below a folder by name. Parameters: $1 bucket, $2 folder with its slash, $3 search, $4 asc or desc, $5 limit,
-- $6 offset.
select coalesce(json_agg(json_build_object(
         'name', name,
         'id', id,
         'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'last_accessed_at', to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'metadata', metadata
       ) order by position), '[]')
from storage.walk_level_ignoring_case(
  $1::text, $2::text, $3::text, $5::text::integer, $6::text::integer, $4::text = 'desc'
) with ordinality as level (name, id, updated_at, created_at, last_accessed_at, metadata, position)
