-- What breaks the rules of privileges.sql in the roles of the whole server: one row (rule, object) for each.
with superuser as (
  select r.oid from pg_catalog.pg_roles as r where r.rolsuper
), found (rule, object) as (
  select 'nobody but superusers reads files, runs programs or writes every table'::text,
    m.member::pg_catalog.regrole || ' is a member of ' || r.rolname
  from pg_catalog.pg_auth_members as m
  join pg_catalog.pg_roles as r on r.oid = m.roleid
  where m.member not in (select oid from superuser) and (r.rolsuper or r.rolname in (
    'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files', 'pg_write_all_data'
  ))
  union all
  select 'nobody but superusers makes members of the roles that reach files', 'postgres can grant itself ' || r.rolname
  from pg_catalog.pg_roles as r
  where r.rolname in ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files') and not r.rolsuper
    and pg_catalog.current_setting('server_version_num')::int < 160000
    and (select p.rolcreaterole from pg_catalog.pg_roles as p where p.rolname = 'postgres')
  union all
  -- PostgreSQL 15 counts three of its own roles as superusers here, so that nobody can become a member.
  select 'superusers are the first one, supabase_admin and whoever asks', r.rolname::text
  from pg_catalog.pg_roles as r
  where r.rolsuper and r.oid <> 10 and r.rolname not in ('supabase_admin', session_user) and r.rolname !~ '^pg_'
  union all
  select 'nobody is a member of a role that only the platform uses', m.member::pg_catalog.regrole || ' is a member of ' || r.rolname
  from pg_catalog.pg_auth_members as m
  join pg_catalog.pg_roles as r on r.oid = m.roleid
  where m.member not in (select oid from superuser)
    and (r.rolname ~ '^selvedge_(replication|user_counts|http|console_[a-z]+(_[0-9]+)?)$' or r.rolname = 'supabase_replication_admin')
    and not (r.rolname = 'selvedge_console_reader' and m.member::pg_catalog.regrole::text ~ '^selvedge_console_reader_([0-9]|1[0-6])$')
  union all
  select 'postgres loads no library as the plugin of a replication slot', 'postgres has REPLICATION'
  from pg_catalog.pg_roles as r where r.rolname = 'postgres' and r.rolreplication
)
select f.rule, f.object from found as f
-- Where `postgres` is a superuser, there is nothing to keep from it.
where not (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = 'postgres')
order by f.rule, f.object
