select
  c.oid::text as oid, n.nspname::text as schema, c.relname::text as name, null::text as table_name,
  jsonb_build_object(
    'kind', case c.relkind when 'm' then 'materialized view' else 'view' end,
    'owner', pg_get_userbyid(c.relowner),
    'options', coalesce(to_jsonb(c.reloptions), '[]'),
    'security_invoker', coalesce((select option_value::bool from pg_options_to_table(c.reloptions)
      where option_name = 'security_invoker'), false),
    'populated', c.relispopulated,
    'query', pg_get_viewdef(c.oid, true),
    'comment', obj_description(c.oid, 'pg_class')
  )::text as details
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('v', 'm')
  and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  and ($1::text is null or n.nspname = $1)
order by n.nspname, c.relname
