select
  p.oid::text as oid, n.nspname::text as schema, p.proname::text as name, null::text as table_name,
  jsonb_build_object(
    'kind', case p.prokind when 'p' then 'procedure' when 'a' then 'aggregate' when 'w' then 'window' else 'function' end,
    'arguments', pg_get_function_arguments(p.oid),
    'identity_arguments', pg_get_function_identity_arguments(p.oid),
    'returns', pg_get_function_result(p.oid),
    'language', l.lanname,
    'volatility', case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
    'security_definer', p.prosecdef,
    'settings', coalesce(to_jsonb(p.proconfig), '[]'),
    'owner', pg_get_userbyid(p.proowner),
    'extension', (select x.extname from pg_depend d join pg_extension x on x.oid = d.refobjid
      where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e' limit 1),
    'comment', obj_description(p.oid, 'pg_proc')
  )::text as details
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
join pg_language l on l.oid = p.prolang
where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  and ($1::text is null or n.nspname = $1)
order by n.nspname, p.proname, p.oid
