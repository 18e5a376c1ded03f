-- One level below a folder, ordered by lower-cased key. Parameters: $1 bucket, $2 folder with its slash, $3 folder and
-- search in lower case, $4 segments of a row's name, $5 asc or desc, $6 limit, $7 offset.
-- Range conditions use the index on (bucket_id, lower(name) collate "C"); starts_with makes % and _ literals.
with level as (
  select o.*,
         array_to_string((string_to_array(substr(o.name, length($2::text) + 1), '/'))[1:$4::int], '/') as entry,
         cardinality(string_to_array(substr(o.name, length($2::text) + 1), '/')) > $4::int as is_folder
  from storage.objects o
  where o.bucket_id = $1
    and lower(o.name) collate "C" >= $3::text
    and lower(o.name) collate "C" < $3::text || chr(1114111)
    and starts_with(lower(o.name), $3::text)
),
-- Folders that differ in case only are one row; files never are.
entries as (
  select distinct on (sort_key, file_name)
         lower(entry) || case when is_folder then '/' else '' end collate "C" as sort_key,
         case when is_folder then null else name end collate "C" as file_name,
         level.*
  from level
  order by sort_key, file_name, name collate "C"
),
page as (
  select row_number() over (
           order by case when $5 = 'asc' then sort_key end, case when $5 = 'desc' then sort_key end desc,
                    case when $5 = 'asc' then file_name end, case when $5 = 'desc' then file_name end desc
         ) as position,
         entries.*
  from entries
)
select coalesce(json_agg(json_build_object(
         'name', entry,
         'id', case when is_folder then null else id end,
         'updated_at', case when is_folder then null else to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end,
         'created_at', case when is_folder then null else to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end,
         'last_accessed_at', case when is_folder then null else to_char(last_accessed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end,
         'metadata', case when is_folder then null else metadata end
       ) order by position), '[]')
from page
where position > $7::bigint and position <= $7::bigint + $6::bigint
