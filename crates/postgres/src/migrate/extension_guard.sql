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
  set standard_conforming_strings = on
  -- The lines of PG_CONTEXT are in the language of the server's messages.
  set lc_messages = 'C'
as $guard$
declare
  callers text;
begin
  if (select r.rolsuper from pg_roles as r where r.rolname = session_user) or exists (
    -- A database that became one of a project has the platform's own check.
    select from pg_event_trigger as t join pg_roles as o on o.oid = t.evtowner and o.rolsuper
    where t.evtname = 'selvedge_check_extension_scripts' and t.evtenabled = 'A'
  ) then
    return;
  end if;
  get diagnostics callers = pg_context;
  -- The first line is this function's own.
  perform pg_catalog.selvedge_check_extension_statement(
    tg_tag, case when strpos(callers, E'\n') = 0 then ''::text else substr(callers, strpos(callers, E'\n') + 1) end
  );
end
$guard$;
revoke all on function pg_catalog.selvedge_check_extension() from public;
-- Of earlier versions.
drop function if exists pg_catalog.selvedge_find_named_extension(text, boolean);
drop function if exists pg_catalog.selvedge_find_callable_names(text);

do $$
begin
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
$$
