select concat_ws(E'\n',
  format('create policy %I on %s as %s for %s to %s', p.polname, p.polrelid::regclass,
    case when p.polpermissive then 'permissive' else 'restrictive' end,
    case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
    (select string_agg(case when role = 0 then 'public' else quote_ident(pg_get_userbyid(role)) end, ', ' order by position)
      from unnest(p.polroles) with ordinality as r(role, position)))
    || coalesce(E'\n  using (' || pg_get_expr(p.polqual, p.polrelid) || ')', '')
    || coalesce(E'\n  with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '')
    || ';',
  (select format('comment on policy %I on %s is %L;', p.polname, p.polrelid::regclass, description)
    from obj_description(p.oid, 'pg_policy') as description where description is not null))
from pg_policy p
where p.oid = $1::text::oid
