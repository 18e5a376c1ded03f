-- What somebody else has prepared in a database, so that the platform schema would run their code with a superuser's rights, or give
-- its rights to their roles. Returns one sentence per object.
with platform_schemas as (
  select n.oid, n.nspname, n.nspowner
  from pg_catalog.pg_namespace as n
  where n.nspname operator(pg_catalog.=) any (array[
    '_selvedge', 'auth', 'storage', 'realtime', '_realtime', 'vault', 'graphql', 'graphql_public', 'net', 'cron', 'pgmq',
    'supabase_functions', 'selvedge_console', 'pgbouncer'
  ]::pg_catalog.name[])
), own_tables as (
  select c.oid, c.relname, c.relowner
  from pg_catalog.pg_class as c
  join platform_schemas as s on s.oid operator(pg_catalog.=) c.relnamespace
  where s.nspname operator(pg_catalog.=) '_selvedge'::pg_catalog.name
    and c.relname operator(pg_catalog.=) any (array['platform_migrations', 'shipped_extensions']::pg_catalog.name[])
), is_new as (
  select not exists (
    select from own_tables as t join pg_catalog.pg_authid as a on a.oid operator(pg_catalog.=) t.relowner
    where a.rolsuper and t.relname operator(pg_catalog.=) 'platform_migrations'::pg_catalog.name
  ) as value
), services as (
  select a.oid, a.rolname, a.rolsuper, a.rolcreaterole, a.rolcreatedb, a.rolreplication, a.rolbypassrls
  from pg_catalog.pg_authid as a
  where a.rolname operator(pg_catalog.=) any (array[
    'supabase_admin', 'authenticator', 'supabase_auth_admin', 'supabase_storage_admin', 'supabase_realtime_admin',
    'supabase_functions_admin', 'supabase_replication_admin', 'selvedge_console_reader', 'selvedge_console_operator',
    'selvedge_console_service'
  ]::pg_catalog.name[])
    or a.rolname operator(pg_catalog.~) '^selvedge_console_reader_[0-9]+$'::pg_catalog.text
)
-- Services create their tables in the schemas of a database that has the platform, so these may belong to their roles.
select pg_catalog.format('schema %s belongs to %s, who is no superuser', s.nspname, o.rolname)
from platform_schemas as s
join pg_catalog.pg_authid as o on o.oid operator(pg_catalog.=) s.nspowner
where not o.rolsuper
  and ((select value from is_new) or s.nspname operator(pg_catalog.=) '_selvedge'::pg_catalog.name)
union all
select pg_catalog.format('_selvedge.%s belongs to %s, who is no superuser', t.relname, o.rolname)
from own_tables as t
join pg_catalog.pg_authid as o on o.oid operator(pg_catalog.=) t.relowner
where not o.rolsuper
union all
select pg_catalog.format('role %s exists and is no superuser', a.rolname)
from services as a
where a.rolname operator(pg_catalog.=) 'supabase_admin'::pg_catalog.name and not a.rolsuper
union all
select pg_catalog.format('role %s is a superuser', a.rolname)
from pg_catalog.pg_authid as a
where a.rolsuper and (select value from is_new)
  and (a.rolname operator(pg_catalog.=) any (array[
    'postgres', 'anon', 'authenticated', 'service_role', 'authenticator', 'supabase_auth_admin', 'supabase_storage_admin',
    'supabase_realtime_admin', 'supabase_functions_admin', 'supabase_replication_admin', 'supabase_read_only_user',
    'dashboard_user', 'pgbouncer', 'selvedge_console_reader', 'selvedge_console_operator', 'selvedge_console_service'
  ]::pg_catalog.name[]) or a.rolname operator(pg_catalog.~) '^selvedge_console_reader_[0-9]+$'::pg_catalog.text)
union all
select pg_catalog.format('role %s has more rights than the API gives to everybody', a.rolname)
from pg_catalog.pg_authid as a
where (select value from is_new) and not a.rolsuper
  and a.rolname operator(pg_catalog.=) any (array['anon', 'authenticated', 'authenticator']::pg_catalog.name[])
  and (a.rolcreaterole or a.rolcreatedb or a.rolreplication or a.rolbypassrls)
union all
select pg_catalog.format('role %s is a member of %s', m.rolname, s.rolname)
from services as s
join pg_catalog.pg_auth_members as a on a.roleid operator(pg_catalog.=) s.oid
join pg_catalog.pg_authid as m on m.oid operator(pg_catalog.=) a.member
where (select value from is_new) and not m.rolsuper
  and m.rolname operator(pg_catalog.<>) 'postgres'::pg_catalog.name
  and not exists (select from services as o where o.oid operator(pg_catalog.=) m.oid)
