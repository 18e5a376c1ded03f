select
  p.oid::text as oid,
  n.nspname as schema,
  p.proname as name,
  pg_get_function_arguments(p.oid) as arguments,
  coalesce(pg_get_function_result(p.oid), '') as returns,
  p.prokind::text as kind
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  -- Functions of extensions are left out, because there would be many more of them than of the project's own.
  and not exists (
    select from pg_depend d
    where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
  )
order by n.nspname, p.proname, p.oid
