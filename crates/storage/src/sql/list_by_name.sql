-- One level below a folder by name. Parameters: $1 bucket, $2 folder with its slash, $3 search, $4 limit, $5 offset,
-- $6 asc or desc. In a bucket that keeps versions nothing is listed, and the second column says so: list_by_name_versions.sql is for it.
-- One statement for both would be planned for both each time.
with bucket as materialized (select storage.keeps_versions($1::text) as keeps_versions)
select coalesce(json_agg(json_build_object(
         'name', name,
         'id', id,
         'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'last_accessed_at', to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         'metadata', metadata
       )), '[]'), (select keeps_versions from bucket) as keeps_versions
from (
  select * from storage.walk_folder($1::text, $2::text, $3::text)
  where $6::text = 'asc' and not (select keeps_versions from bucket)
  union all
  select * from storage.walk_folder_backwards($1::text, $2::text, $3::text)
  where $6::text = 'desc' and not (select keeps_versions from bucket)
  limit $4::bigint offset $5::bigint
) level
