select
  p.oid::int8 as id,
  n.nspname as schema,
  c.relname as table,
  c.oid::int8 as table_id,
  p.polname as name,
  case when p.polpermissive then 'PERMISSIVE' else 'RESTRICTIVE' end as action,
  (
    select json_agg(coalesce(r.rolname, 'public') order by r.rolname)
    from unnest(p.polroles) as member(oid)
    left join pg_roles r on r.oid = member.oid
  ) as roles,
  case p.polcmd
    when 'r' then 'SELECT'
    when 'a' then 'INSERT'
    when 'w' then 'UPDATE'
    when 'd' then 'DELETE'
    else 'ALL'
  end as command,
  pg_get_expr(p.polqual, p.polrelid) as definition,
  pg_get_expr(p.polwithcheck, p.polrelid) as check
from pg_policy p
join pg_class c on c.oid = p.polrelid
join pg_namespace n on n.oid = c.relnamespace
