-- One level below a folder of a bucket with versions by name, with the version of each object. Parameters: $1 bucket, $2 folder with its slash,
-- $3 search, $4 limit, $5 offset, $6 asc or desc.
select coalesce(json_agg(json_build_object(
         'name', name,
         'id', id,
         'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'last_accessed_at', to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'metadata', metadata,
         'version', version,
         'archived_at', null,
         'is_delete_marker', case when id is not null then false end,
         'is_versioned', is_versioned
       )), '[]')
from (
  select * from storage.walk_folder_with_version($1::text, $2::text, $3::text) where $6::text = 'asc'
  union all
  select * from storage.walk_folder_backwards_with_version($1::text, $2::text, $3::text) where $6::text = 'desc'
  limit $4::bigint offset $5::bigint
) level
