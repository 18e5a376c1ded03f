-- The buckets a caller may see. Parameters: $1 substring of the name or null, $2 sort column or '', $3 asc or desc,
-- $4 limit or null, $5 offset, $6 whether the client knows newer fields.
-- position() takes % and _ literally.
with page as (
  select row_number() over (
           order by
             case when $3 = 'asc' then case $2 when 'id' then b.id when 'name' then b.name end collate "C" end,
             case when $3 = 'desc' then case $2 when 'id' then b.id when 'name' then b.name end collate "C" end desc,
             case when $3 = 'asc' then case $2 when 'created_at' then b.created_at when 'updated_at' then b.updated_at end end,
             case when $3 = 'desc' then case $2 when 'created_at' then b.created_at when 'updated_at' then b.updated_at end end desc
         ) as position,
         b.*
  from storage.buckets b
  where $1::text is null or position(lower($1::text) in lower(b.name)) > 0
)
select coalesce(json_agg((
  case when $6::boolean
    then jsonb_build_object('type', type, 'versioning_status', versioning_status)
    else '{}'::jsonb
  end || jsonb_build_object(
    'id', id,
    'name', name,
    'owner', coalesce(owner::text, ''),
    'public', coalesce(public, false),
    'file_size_limit', file_size_limit,
    'allowed_mime_types', allowed_mime_types,
    'created_at', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  )) order by position), '[]')
from page
where position > $5::bigint and ($4::bigint is null or position <= $5::bigint + $4::bigint)
