-- The extensions that could be installed stand behind those that are.
select
  coalesce(x.oid::text, '') as oid, n.nspname::text as schema, v.name::text as name, null::text as table_name,
  jsonb_build_object(
    'installed', x.oid is not null,
    'version', x.extversion,
    'default_version', v.default_version,
    'comment', v.comment
  )::text as details
from pg_available_extensions v
left join pg_extension x on x.extname = v.name
left join pg_namespace n on n.oid = x.extnamespace
where $1::text is null or n.nspname = $1
order by x.oid is null, v.name
