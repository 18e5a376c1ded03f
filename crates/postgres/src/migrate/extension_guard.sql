-- Guards the creation of extensions in a database of the cluster that has no platform schema. `postgres` may create databases, and in one of its
-- own the scripts of trusted extensions run as a superuser beside whatever it has made there. The functions of the platform that these
-- call were made before, with names that begin with `selvedge_`.
--
-- All of it is in pg_catalog, and the event trigger belongs to the extension plpgsql: so a dump of the database does not have it.

-- The scripts of contrib and of pgvector call nothing that a schema of the project could have in the place of PostgreSQL's own.
create or replace function pg_catalog.selvedge_is_known_script(extension_name text) returns boolean
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $guard$
  select extension_name = any (array[
    'adminpack', 'amcheck', 'autoinc', 'bloom', 'btree_gin', 'btree_gist', 'citext', 'cube', 'dblink', 'dict_int', 'dict_xsyn',
    'earthdistance', 'fuzzystrmatch', 'hstore', 'insert_username', 'intagg', 'intarray', 'isn', 'lo', 'ltree', 'moddatetime',
    'pg_buffercache', 'pg_prewarm', 'pg_stat_statements', 'pg_trgm', 'pg_walinspect', 'pgcrypto', 'pgrowlocks', 'pgstattuple', 'plpgsql',
    'postgres_fdw', 'refint', 'seg', 'sslinfo', 'tablefunc', 'tcn', 'tsm_system_rows', 'tsm_system_time', 'unaccent', 'uuid-ossp', 'vector'
  ]::text[])
$guard$;

-- Here PostgreSQL alone decides what `postgres` creates.
create or replace function pg_catalog.selvedge_is_allowed_extension(extension_name text) returns boolean
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $guard$
  select false
$guard$;

create or replace function pg_catalog.selvedge_check_extension() returns event_trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  -- The lines of PG_CONTEXT are in the language of the server's messages.
  set lc_messages = 'C'
as $guard$
declare
  callers text;
  statement text[];
begin
  -- Whoever has logged in says nothing of whose statement this is: autovacuum logs in as a superuser and runs functions of the project.
  if exists (
    -- A database that became one of a project has the platform's own check.
    select from pg_event_trigger as t join pg_roles as o on o.oid = t.evtowner and o.rolsuper
    where t.evtname = 'selvedge_check_extension_scripts' and t.evtenabled = 'A'
      and t.evtfoid = to_regprocedure('_selvedge.check_extension_scripts()')::oid
  ) and not exists (
    -- A copy of a project of earlier days has the one of those days.
    select from pg_proc as own
    where own.pronamespace = 'pg_catalog'::regnamespace and starts_with(own.proname::text, 'selvedge_'::text)
      and own.proname <> all (array['selvedge_check_extension', 'selvedge_is_known_script', 'selvedge_is_allowed_extension']::name[])
      and not exists (
        select from pg_proc as p
        join pg_namespace as n on n.oid = p.pronamespace and n.nspname = '_selvedge'
        join pg_roles as o on o.oid = p.proowner and o.rolsuper
        where 'selvedge_' || p.proname::text = own.proname::text
          and replace(p.prosrc, '_selvedge.'::text, 'pg_catalog.selvedge_'::text) = own.prosrc
      )
  ) then
    return;
  end if;
  get diagnostics callers = pg_context;
  -- The first line is this function's own.
  callers := case when strpos(callers, E'\n') = 0 then ''::text else substr(callers, strpos(callers, E'\n') + 1) end;
  statement := case
    when callers = ''::text then pg_catalog.selvedge_read_extension_statement(current_query(), false)
    when starts_with(callers, 'SQL statement "'::text) then pg_catalog.selvedge_read_extension_statement(substr(callers, 16), true)
  end;
  -- In such a copy the code of the project's event triggers may run after this check.
  if not coalesce(statement[1] = ''::text or pg_catalog.selvedge_is_known_script(statement[1]), false) and exists (
    select from pg_event_trigger as t
    join pg_proc as p on p.oid = t.evtfoid and p.proname ~ '^event_trigger_[0-9]+$'::text
    join pg_namespace as n on n.oid = p.pronamespace and n.nspname = '_selvedge'
    where t.evtevent = 'ddl_command_start' and t.evtenabled <> 'D' and (t.evttags is null or tg_tag = any (t.evttags))
  ) then
    raise insufficient_privilege using
      message = 'an event trigger of the project may run before the script of the extension, in a database that an earlier version has made',
      hint = 'Drop or disable the event trigger, or bring the database up to date.';
  end if;
  perform pg_catalog.selvedge_check_extension_statement(tg_tag, callers);
end
$guard$;
revoke all on function pg_catalog.selvedge_check_extension() from public;

do $$
declare
  earlier regprocedure;
begin
  for earlier in
    select p.oid from pg_proc as p
    where p.pronamespace = 'pg_catalog'::regnamespace
      and p.proname = any (array[
        'selvedge_find_named_extension', 'selvedge_find_callable_names', 'selvedge_clean_script_part'
      ]::name[]) and p.pronargs < 3
  loop
    begin
      execute 'drop function ' || earlier::text;
    exception when dependent_objects_still_exist then
      -- Nothing calls it any more, but somebody may have made a view that does.
      null;
    end;
  end loop;
  -- In a copy of a project an event trigger of the project may have this name.
  if exists (
    select from pg_event_trigger as t
    where t.evtname = 'selvedge_check_extension' and t.evtfoid <> 'pg_catalog.selvedge_check_extension()'::regprocedure
  ) then
    execute 'alter event trigger selvedge_check_extension rename to ' || quote_ident('renamed_' || gen_random_uuid()::text);
  end if;
  if not exists (select from pg_event_trigger where evtname = 'selvedge_check_extension') then
    create event trigger selvedge_check_extension on ddl_command_start when tag in ('CREATE EXTENSION', 'ALTER EXTENSION')
      execute function pg_catalog.selvedge_check_extension();
  end if;
  -- session_replication_role switches other event triggers off, and everybody may let it be set for their own sessions.
  alter event trigger selvedge_check_extension enable always;
  if not exists (
    select from pg_depend as d join pg_event_trigger as t on t.oid = d.objid and t.evtname = 'selvedge_check_extension'
    where d.classid = 'pg_event_trigger'::regclass and d.deptype = 'e'
  ) then
    alter extension plpgsql add event trigger selvedge_check_extension;
  end if;
end
$$;

-- A copy of a project that an earlier version has made keeps the functions of those days that run as a superuser, and rights on its tables, with
-- the faults that they had. There they run as their callers.
do $$
declare
  found record;
begin
  if not exists (
    select from pg_namespace as n join pg_roles as o on o.oid = n.nspowner and o.rolsuper where n.nspname = '_selvedge'
  ) then
    return;
  end if;
  if exists (
    select from pg_class as c join pg_roles as o on o.oid = c.relowner and o.rolsuper
    where c.oid = to_regclass('_selvedge.platform_migrations'::text)::oid
  ) then
    if ({files_query}) = '{files}' and ({functions_query}) = '{functions}' then
      return;
    end if;
  end if;
  update pg_proc as p set prosecdef = false
  from pg_roles as o
  where o.oid = p.proowner and o.rolsuper and p.prosecdef and p.pronamespace <> 'pg_catalog'::regnamespace;
  for found in
    select distinct c.oid::regclass::text as relation, g.rolname::text as grantee
    from pg_class as c
    join pg_roles as o on o.oid = c.relowner and o.rolsuper
    cross join lateral (
      select acl.grantee, acl.privilege_type from aclexplode(c.relacl) as acl
      union all
      select acl.grantee, acl.privilege_type from pg_attribute as a, aclexplode(a.attacl) as acl where a.attrelid = c.oid
    ) as r
    left join pg_roles as g on g.oid = r.grantee
    where c.oid >= 16384 and c.relkind in ('r', 'p', 'v', 'm', 'f') and r.privilege_type in ('REFERENCES', 'TRIGGER')
      and g.rolsuper is not true
  loop
    execute 'revoke references, trigger on table ' || found.relation || ' from ' || coalesce(quote_ident(found.grantee), 'public'::text)
      || ' cascade';
  end loop;
end
$$
