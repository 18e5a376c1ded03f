-- `postgres` is never more than `postgres` (docs/decisions.md, "Rights of `postgres`"): roles, tables and functions of the platform. Each
-- statement also mends databases that an earlier version made.

-- Names of the platform's roles, except for `postgres` and the roles of the API, which have no more rights than it. Jobs do not run as
-- one of them, and projects do not change their attributes.
create function _selvedge.is_reserved_role(name text) returns boolean
  language sql immutable
begin atomic
  select name operator(pg_catalog.~) '^(pg_|supabase_|selvedge_)'::text or name operator(pg_catalog.=) any (array['authenticator'::text, 'dashboard_user', 'pgbouncer']);
end;

-- Only Auth's and Storage's own rows need these roles; neither service creates roles. On PostgreSQL 15 CREATEROLE is the right to
-- grant nearly every role.
alter role supabase_storage_admin nocreaterole;
alter role supabase_functions_admin nocreaterole;

-- Tables that decide what a superuser runs --------------------------------------------------------------------------------

-- Refuses changes by everybody but superusers, also by roles with pg_write_all_data, which `postgres` can grant to itself on
-- PostgreSQL 15. ALWAYS, because session_replication_role switches ordinary triggers off, and `postgres` may set it.
create function _selvedge.refuse_change() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if not coalesce((select r.rolsuper from pg_roles as r where r.rolname = current_user), false) then
    raise insufficient_privilege using message = 'permission denied for table ' || tg_table_name::text;
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end
$$;
revoke all on function _selvedge.refuse_change() from public;

do $$
declare
  guarded pg_catalog.regclass;
begin
  foreach guarded in array array[
    '_selvedge.platform_migrations', '_selvedge.shipped_extensions', '_selvedge.installed_extensions',
    '_selvedge.event_trigger_functions'
  ]::pg_catalog.regclass[]
  loop
    execute pg_catalog.format(
      'create trigger selvedge_refuse_change before insert or update or delete on %1$s
         for each row execute function _selvedge.refuse_change();
       create trigger selvedge_refuse_truncate before truncate on %1$s
         for each statement execute function _selvedge.refuse_change();
       alter table %1$s enable always trigger selvedge_refuse_change, enable always trigger selvedge_refuse_truncate',
      guarded);
  end loop;
end
$$;

-- Whoever may reference a table has its foreign keys checked with the rights of the table's owner, by casts and operators of the
-- referencing type; whoever may create triggers has them run with the rights of whoever writes. So no role but a superuser has
-- either on a table of the platform or of an extension. Tables that a superuser has made for a project are its own: `selvedge doctor`
-- shows them. Where `postgres` itself is a superuser, its tables are those of the project.
create function _selvedge.is_table_of_the_platform(relation oid) returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    join pg_roles as o on o.oid = c.relowner and o.rolsuper and o.rolname <> 'postgres'
    -- Those of initdb's own catalogs are nobody's to change.
    where c.oid = relation and c.oid >= 16384 and (
      n.nspname in (
        '_selvedge', 'selvedge_console', 'vault', 'realtime', 'auth', 'storage', 'graphql', 'graphql_public', 'cron', 'net', 'pgmq'
      )
      or exists (
        select from pg_depend as d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e' and d.refclassid = 'pg_extension'::regclass
      )
    )
  )
$$;
revoke all on function _selvedge.is_table_of_the_platform(oid) from public;

create function _selvedge.close_tables_of_superusers() returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  found record;
  -- Members of extensions whose privileges are those of their script: what is revoked here is no change that a dump repeats.
  unchanged oid[] := array(
    select c.oid from pg_class as c
    join pg_init_privs as i on i.classoid = 'pg_class'::regclass and i.objoid = c.oid and i.objsubid = 0
    where i.initprivs = c.relacl and _selvedge.is_table_of_the_platform(c.oid)
  );
begin
  for found in
    select distinct c.oid::regclass as relation, coalesce(g.rolname::text, 'public') as grantee
    from pg_class as c
    cross join lateral (
      select acl.grantee, acl.privilege_type from aclexplode(c.relacl) as acl
      union all
      select acl.grantee, acl.privilege_type
      from pg_attribute as col, aclexplode(col.attacl) as acl where col.attrelid = c.oid
    ) as a
    left join pg_roles as g on g.oid = a.grantee
    where a.privilege_type in ('REFERENCES', 'TRIGGER') and g.rolsuper is not true
      and c.relkind in ('r', 'p', 'v', 'm', 'f') and _selvedge.is_table_of_the_platform(c.oid)
  loop
    execute 'revoke references, trigger on table ' || found.relation::text || ' from '
      || case when found.grantee = 'public' then 'public' else quote_ident(found.grantee) end || ' cascade';
  end loop;
  -- A grant of single columns that another role has passed on does not go with the right of that role.
  update pg_attribute as col set attacl = (
    select array_agg(makeaclitem(a.grantee, a.grantor, a.privilege_type, a.is_grantable))
    from aclexplode(col.attacl) as a
    left join pg_roles as g on g.oid = a.grantee
    where a.privilege_type <> 'REFERENCES' or g.rolsuper
  )
  where col.attacl is not null and _selvedge.is_table_of_the_platform(col.attrelid) and exists (
    select from aclexplode(col.attacl) as a
    left join pg_roles as g on g.oid = a.grantee
    where a.privilege_type = 'REFERENCES' and g.rolsuper is not true
  );
  update pg_init_privs as i set initprivs = c.relacl
  from pg_class as c
  where c.oid = any (unchanged) and c.relacl is not null and c.relacl <> i.initprivs
    and i.classoid = 'pg_class'::regclass and i.objoid = c.oid and i.objsubid = 0;
end
$$;
revoke all on function _selvedge.close_tables_of_superusers() from public;

-- The same for tables that come: extensions create theirs with the default privileges of their owner.
do $$
declare
  found record;
begin
  for found in
    select distinct r.rolname as owner, n.nspname as schema, g.rolname as grantee
    from pg_catalog.pg_default_acl as d
    join pg_catalog.pg_roles as r on r.oid = d.defaclrole and r.rolsuper and r.rolname <> 'postgres'
    left join pg_catalog.pg_namespace as n on n.oid = d.defaclnamespace
    cross join lateral pg_catalog.aclexplode(d.defaclacl) as a
    join pg_catalog.pg_roles as g on g.oid = a.grantee and not g.rolsuper
    where d.defaclobjtype = 'r' and a.privilege_type in ('REFERENCES', 'TRIGGER')
  loop
    execute pg_catalog.format(
      'alter default privileges for role %I %s revoke references, trigger on tables from %I cascade', found.owner,
      case when found.schema is null then '' else pg_catalog.format('in schema %I', found.schema) end, found.grantee);
  end loop;
end
$$;
select _selvedge.close_tables_of_superusers();

-- What was made with these rights is removed, once. `selvedge doctor` shows what comes later.
do $$
declare
  found record;
begin
  for found in
    select c.conname::text as name, c.conrelid::pg_catalog.regclass as relation
    from pg_catalog.pg_constraint as c
    join pg_catalog.pg_class as f on f.oid = c.conrelid
    join pg_catalog.pg_roles as w on w.oid = f.relowner and not w.rolsuper
    where c.contype = 'f' and c.conparentid = 0 and _selvedge.is_table_of_the_platform(c.confrelid)
      -- A key of the same type is compared by the type's own operator, and nothing is cast.
      and exists (
        select from unnest(c.conkey, c.confkey) as k (ours, theirs)
        join pg_catalog.pg_attribute as x on x.attrelid = c.conrelid and x.attnum = k.ours
        join pg_catalog.pg_attribute as y on y.attrelid = c.confrelid and y.attnum = k.theirs
        where x.atttypid <> y.atttypid
      )
  loop
    raise warning 'the foreign key % of % was removed: it referenced a table of a superuser by another type',
      found.name, found.relation;
    execute 'alter table ' || found.relation::text || ' drop constraint ' || pg_catalog.quote_ident(found.name);
  end loop;
  for found in
    select t.tgname::text as name, t.tgrelid::pg_catalog.regclass as relation
    from pg_catalog.pg_trigger as t
    join pg_catalog.pg_proc as p on p.oid = t.tgfoid
    join pg_catalog.pg_roles as w on w.oid = p.proowner and not w.rolsuper
    where not t.tgisinternal and t.tgparentid = 0 and _selvedge.is_table_of_the_platform(t.tgrelid)
  loop
    raise warning 'the trigger % of % was removed: it ran a function of another role on a table of a superuser',
      found.name, found.relation;
    execute 'drop trigger ' || pg_catalog.quote_ident(found.name) || ' on ' || found.relation::text;
  end loop;
end
$$;

-- Functions ---------------------------------------------------------------------------------------------------------------

-- Event triggers of the platform run in every session, a superuser's included. With an empty path, types of pg_temp come first. The schema
-- `extensions` belongs to `postgres`, so a project may have dropped these two, or put functions of its own in their place.
do $do$
declare
  watch record;
begin
  for watch in
    select w.name, w.event, pg_catalog.to_regprocedure('extensions.' || w.name || '()') as routine, w.source
    from (values
      ('pgrst_ddl_watch'::text, 'ddl_command_end'::text, $source$
begin
  if current_setting('application_name') like 'citus\_%' then
    return;
  end if;
  if exists (
    select from pg_catalog.pg_event_trigger_ddl_commands() as command
    where (
        command.command_tag in (
          'CREATE SCHEMA', 'ALTER SCHEMA', 'CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'ALTER TABLE',
          'CREATE FOREIGN TABLE', 'ALTER FOREIGN TABLE', 'CREATE VIEW', 'ALTER VIEW', 'CREATE MATERIALIZED VIEW',
          'ALTER MATERIALIZED VIEW', 'CREATE FUNCTION', 'ALTER FUNCTION', 'CREATE TRIGGER', 'CREATE TYPE',
          'ALTER TYPE', 'CREATE DOMAIN', 'ALTER DOMAIN', 'CREATE RULE', 'CREATE INDEX', 'CREATE CAST', 'COMMENT'
        )
        -- Privileges are not part of the catalog, but a GRANT may make a function or table visible that was hidden.
        or command.command_tag in ('GRANT', 'REVOKE')
      )
      and command.schema_name is distinct from 'pg_temp'
      and coalesce(command.object_identity, '') !~ '(^| on )pg_temp\.'
  ) then
    notify pgrst, 'reload schema';
  end if;
end
$source$::text),
      ('pgrst_drop_watch', 'sql_drop', $source$
begin
  if current_setting('application_name') like 'citus\_%' then
    return;
  end if;
  if exists (
    select from pg_catalog.pg_event_trigger_dropped_objects() as object
    where object.object_type in (
        'schema', 'table', 'table column', 'table constraint', 'foreign table', 'view', 'materialized view', 'function',
        'trigger', 'type', 'domain', 'rule', 'index', 'cast'
      )
      and not object.is_temporary
  ) then
    notify pgrst, 'reload schema';
  end if;
end
$source$)
    ) as w (name, event, source)
  loop
    if pg_catalog.to_regnamespace('extensions') is null or exists (
      select from pg_catalog.pg_proc as p join pg_catalog.pg_roles as o on o.oid = p.proowner
      where p.oid = watch.routine and not o.rolsuper
    ) then
      raise warning 'the event trigger % is not there, so the API learns of changed tables only by NOTIFY pgrst', watch.name
        using hint = 'The schema extensions was dropped, or has a function of this name that does not belong to a superuser.';
      continue;
    end if;
    execute pg_catalog.format(
      'create or replace function extensions.%I() returns event_trigger language plpgsql set search_path = pg_catalog, pg_temp as %L',
      watch.name, watch.source);
    if not exists (select from pg_catalog.pg_event_trigger as t where t.evtname = watch.name) then
      execute pg_catalog.format('create event trigger %1$I on %2$s execute function extensions.%1$I()', watch.name, watch.event);
    end if;
  end loop;
end
$do$;
-- A project may also have dropped those of realtime, or have one of its own there: its role owns them, and `postgres` is a member.
do $$
declare
  found record;
begin
  for found in
    select w.name, p.oid::pg_catalog.regprocedure as routine, coalesce(o.rolsuper or o.rolname = 'supabase_realtime_admin', false) as is_ours
    from (values
      ('realtime.announce_catalog_change()'::text), ('realtime.maintain_messages_partitions(integer)'),
      ('selvedge_console.write_audit'), ('selvedge_console.refuse_change_of_audit()'),
      ('selvedge_console.find_project_member(uuid)'), ('selvedge_console.list_project_members()')
    ) as w (name)
    left join pg_catalog.pg_proc as p
      on p.oid = case when w.name ~ '\)$' then pg_catalog.to_regprocedure(w.name)::oid else pg_catalog.to_regproc(w.name)::oid end
    left join pg_catalog.pg_roles as o on o.oid = p.proowner
  loop
    if found.is_ours then
      execute 'alter function ' || found.routine::text || ' set search_path = pg_catalog, pg_temp';
    else
      raise warning 'the function % stays as it is: the platform''s own was dropped or replaced', found.name;
    end if;
  end loop;
end
$$;

-- Users of the project who may sign in to the console are read by a role that can do nothing else: auth.users does not belong to a
-- superuser, so that predicates of its indexes, its policies and rules may be a project's, and run with the rights of whoever reads.
do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'selvedge_console_members') then
    create role selvedge_console_members;
  end if;
end
$$;
alter role selvedge_console_members
  nosuperuser nologin noinherit nocreatedb nocreaterole noreplication bypassrls password null;
grant usage on schema auth to selvedge_console_members;
grant select (id, email, phone, raw_app_meta_data, deleted_at, banned_until) on auth.users to selvedge_console_members;
grant select (user_id, status) on auth.mfa_factors to selvedge_console_members;
do $$
declare
  found record;
begin
  for found in
    select p.oid::pg_catalog.regprocedure as routine
    from pg_catalog.pg_proc as p
    join pg_catalog.pg_roles as o on o.oid = p.proowner and o.rolsuper
    where p.oid = any (array[
      pg_catalog.to_regprocedure('selvedge_console.find_project_member(uuid)')::oid,
      pg_catalog.to_regprocedure('selvedge_console.list_project_members()')::oid
    ])
  loop
    execute 'alter function ' || found.routine::text || ' owner to selvedge_console_members';
  end loop;
end
$$;

-- plpgsql belongs to the superuser: with CASCADE its owner could drop the functions of the platform. The migration runner passes
-- COMMENT ON EXTENSION plpgsql by, which dumps contain.
create or replace function _selvedge.is_allowed_extension(name text) returns boolean
  language sql immutable
begin atomic
  select _selvedge.is_extension_of_the_image(name) or name operator(pg_catalog.=) any (array[
    'supabase-dbdev'::text, 'basejump-supabase_test_helpers', 'basejump@supabase_test_helpers'
  ]);
end;
update pg_catalog.pg_extension set extowner = 10 where extname = 'plpgsql' and extowner <> 10;
delete from pg_catalog.pg_shdepend as d
using pg_catalog.pg_extension as e, pg_catalog.pg_database as db
where e.extname = 'plpgsql' and db.datname = pg_catalog.current_database()
  and d.dbid = db.oid and d.classid = 'pg_catalog.pg_extension'::pg_catalog.regclass and d.objid = e.oid and d.deptype = 'o';

-- The console's operator writes rows of the project, but not the history of migrations: `migration fetch` makes files of it, which the next
-- run executes.
do $$
begin
  if pg_catalog.to_regclass('supabase_migrations.schema_migrations') is not null then
    revoke insert, update, delete on all tables in schema supabase_migrations from selvedge_console_operator;
  end if;
end
$$;
