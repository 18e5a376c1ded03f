-- The object with exactly this key, as the list of its folder shows it. Parameters: $1 bucket, $2 key, $3 offset.
select coalesce(json_agg(json_build_object(
         'name', substring(name from '[^/]*$'),
         'id', id,
         'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'last_accessed_at', to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'metadata', metadata
       )), '[]')
from (select * from only storage.objects where bucket_id = $1 and name = $2 offset $3::bigint) found
