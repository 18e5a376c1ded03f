-- Statements of the policies and triggers that the project added to tables of the platform, with their comments.
-- Parameters: $1 schemas of the platform; $2 schemas of the project.
with added_trigger as (
  select t.oid, t.tgname, t.tgenabled, n.nspname, c.relname
  from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid
    join pg_namespace as n on n.oid = c.relnamespace
    join pg_proc as p on p.oid = t.tgfoid
    join pg_namespace as pn on pn.oid = p.pronamespace
  where not t.tgisinternal and t.tgparentid = 0 and n.nspname = any ($1::text[])
    and (pn.nspname = any ($2::text[]) or (pn.nspname = 'supabase_functions' and p.proname = 'http_request'))
)
select format('create policy %I on %I.%I as %s for %s to %s', policyname, schemaname, tablename, permissive, cmd, (
    select string_agg(case when role = 'public' then 'public' else quote_ident(role) end, ', ') from unnest(roles) as role
  )) || coalesce(' using (' || qual || ')', '') || coalesce(' with check (' || with_check || ')', '')
from pg_policies where schemaname = any ($1::text[])
union all
select pg_get_triggerdef(oid) || case tgenabled when 'O' then '' else format('; alter table %I.%I %s trigger %I', nspname, relname,
  case tgenabled when 'A' then 'enable always' when 'R' then 'enable replica' else 'disable' end, tgname) end
from added_trigger
union all
select format('comment on trigger %I on %I.%I is %L', t.tgname, t.nspname, t.relname, d.description)
from added_trigger as t join pg_description as d on d.objoid = t.oid and d.classoid = 'pg_trigger'::regclass
union all
select format('comment on policy %I on %I.%I is %L', p.polname, n.nspname, c.relname, d.description)
from pg_policy as p
  join pg_class as c on c.oid = p.polrelid
  join pg_namespace as n on n.oid = c.relnamespace
  join pg_description as d on d.objoid = p.oid and d.classoid = 'pg_policy'::regclass
where n.nspname = any ($1::text[])
