-- Statements that make and remove the policies and triggers that the project added to tables of the platform, with their comments.
-- Parameters: $1 schemas of the platform; $2 schemas of the project.
with added_trigger as (
  select t.oid, t.tgenabled, format('trigger %I on %I.%I', t.tgname, n.nspname, c.relname) as name,
    format('alter table %I.%I %%s trigger %I', n.nspname, c.relname, t.tgname) as alter
  from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid
    join pg_namespace as n on n.oid = c.relnamespace
    join pg_proc as p on p.oid = t.tgfoid
    join pg_namespace as pn on pn.oid = p.pronamespace
  where not t.tgisinternal and t.tgparentid = 0 and n.nspname = any ($1::text[])
    and (pn.nspname = any ($2::text[]) or (pn.nspname = 'supabase_functions' and p.proname = 'http_request'))
),
added_policy as (
  select p.oid, format('policy %I on %I.%I', p.polname, n.nspname, c.relname) as name
  from pg_policy as p
    join pg_class as c on c.oid = p.polrelid
    join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = any ($1::text[])
    -- The platform's own, which hides versions of objects.
    and (n.nspname, c.relname, p.polname) is distinct from ('storage', 'objects', 'objects_of_today')
)
select format('create policy %I on %I.%I as %s for %s to %s', policyname, schemaname, tablename, permissive, cmd, (
    select string_agg(case when role = 'public' then 'public' else quote_ident(role) end, ', ') from unnest(roles) as role
  )) || coalesce(' using (' || qual || ')', '') || coalesce(' with check (' || with_check || ')', ''),
  format('drop policy %I on %I.%I', policyname, schemaname, tablename)
from pg_policies where schemaname = any ($1::text[])
  and (schemaname, tablename, policyname) is distinct from ('storage', 'objects', 'objects_of_today')
union all
select pg_get_triggerdef(oid) || case tgenabled when 'O' then '' else '; ' || replace(alter, '%s',
    case tgenabled when 'A' then 'enable always' when 'R' then 'enable replica' else 'disable' end) end,
  'drop ' || name
from added_trigger
union all
select format('comment on %s is %L', t.name, d.description), format('comment on %s is null', t.name)
from added_trigger as t join pg_description as d on d.objoid = t.oid and d.classoid = 'pg_trigger'::regclass
union all
select format('comment on %s is %L', p.name, d.description), format('comment on %s is null', p.name)
from added_policy as p join pg_description as d on d.objoid = p.oid and d.classoid = 'pg_policy'::regclass
