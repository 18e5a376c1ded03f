-- CREATE statements of the policies and triggers that the project added to tables of the platform.
-- Parameters: $1 schemas of the platform; $2 schemas of the project.
select format('create policy %I on %I.%I as %s for %s to %s', policyname, schemaname, tablename, permissive, cmd, (
    select string_agg(case when role = 'public' then 'public' else quote_ident(role) end, ', ') from unnest(roles) as role
  )) || coalesce(' using (' || qual || ')', '') || coalesce(' with check (' || with_check || ')', '')
from pg_policies where schemaname = any ($1::text[])
union all
select pg_get_triggerdef(t.oid) || case t.tgenabled when 'D'
  then format('; alter table %I.%I disable trigger %I', n.nspname, c.relname, t.tgname) else '' end
from pg_trigger as t
  join pg_class as c on c.oid = t.tgrelid
  join pg_namespace as n on n.oid = c.relnamespace
  join pg_proc as p on p.oid = t.tgfoid
  join pg_namespace as pn on pn.oid = p.pronamespace
where not t.tgisinternal and n.nspname = any ($1::text[])
  and (pn.nspname = any ($2::text[]) or (pn.nspname = 'supabase_functions' and p.proname = 'http_request'))
