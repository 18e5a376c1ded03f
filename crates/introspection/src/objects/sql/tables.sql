select
  c.oid::text as oid, n.nspname::text as schema, c.relname::text as name, null::text as table_name,
  jsonb_build_object(
    'kind', c.relkind,
    'rls', c.relrowsecurity,
    'forced', c.relforcerowsecurity,
    'owner', pg_get_userbyid(c.relowner),
    'rows', case when c.reltuples >= 0 then c.reltuples::int8 end,
    'partition', c.relispartition,
    'unlogged', c.relpersistence = 'u',
    'comment', obj_description(c.oid, 'pg_class')
  )::text as details
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'f')
  and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  and ($1::text is null or n.nspname = $1)
order by n.nspname, c.relname
