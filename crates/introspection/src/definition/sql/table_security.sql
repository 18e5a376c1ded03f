select nullif(concat_ws(E'\n',
  case when c.relrowsecurity then format('alter table %s enable row level security;', c.oid::regclass) end,
  case when c.relforcerowsecurity then format('alter table %s force row level security;', c.oid::regclass) end,
  case c.relreplident
    when 'f' then format('alter table %s replica identity full;', c.oid::regclass)
    when 'n' then format('alter table %s replica identity nothing;', c.oid::regclass)
    when 'i' then (select format('alter table %s replica identity using index %I;', c.oid::regclass, i.relname)
      from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid and x.indisreplident)
  end,
  (select string_agg(
      format('create policy %I on %s as %s for %s to %s', p.polname, p.polrelid::regclass,
        case when p.polpermissive then 'permissive' else 'restrictive' end,
        case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
        (select string_agg(case when role = 0 then 'public' else quote_ident(pg_get_userbyid(role)) end, ', ' order by position)
          from unnest(p.polroles) with ordinality as r(role, position)))
      || coalesce(E'\n  using (' || pg_get_expr(p.polqual, p.polrelid) || ')', '')
      || coalesce(E'\n  with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '')
      || ';', E'\n' order by p.polname)
    from pg_policy p where p.polrelid = c.oid)), '')
from pg_class c
where c.oid = $1::text::oid
