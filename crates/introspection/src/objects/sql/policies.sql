select
  p.oid::text as oid, n.nspname::text as schema, p.polname::text as name, c.relname::text as table_name,
  jsonb_build_object(
    'table_oid', c.oid::text,
    'command', case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update'
      when 'd' then 'delete' else 'all' end,
    'permissive', p.polpermissive,
    'roles', (select jsonb_agg(case when role = 0 then 'public' else pg_get_userbyid(role) end order by position)
      from unnest(p.polroles) with ordinality as r(role, position)),
    'using', pg_get_expr(p.polqual, p.polrelid),
    'check', pg_get_expr(p.polwithcheck, p.polrelid),
    'enabled', c.relrowsecurity,
    'comment', obj_description(p.oid, 'pg_policy')
  )::text as details
from pg_policy p
join pg_class c on c.oid = p.polrelid
join pg_namespace n on n.oid = c.relnamespace
where ($1::text is null or n.nspname = $1)
order by n.nspname, c.relname, p.polname
