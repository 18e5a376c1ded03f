-- What a project has made stays out of the scripts of extensions that a superuser runs (CVE-2018-1058).
--
-- PostgreSQL runs the script of an extension with the extension's own schema in the search path. That is a schema of the project, and a
-- function there is called in the place of PostgreSQL's own when it takes exactly the types that the script passes. The scripts of contrib
-- and those that the server brings along call nothing so; what those of others call nobody knows. So these are not run as long as a function or an
-- operator of the project has a name that stands in them.

-- The texts of the scripts of an extension; null where they cannot be found.
create function _selvedge.read_extension_scripts(name text) returns text
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  folder text := (select c.setting || '/extension' from pg_config() as c where c.name = 'SHAREDIR'::text);
  scripts text;
begin
  select string_agg(pg_read_file(folder || '/'::text || f.file), E'\n;\n'::text) into scripts
  from pg_ls_dir(folder) as f (file)
  where starts_with(f.file, read_extension_scripts.name || '--'::text) and right(f.file, 4) = '.sql'::text;
  return scripts;
exception
  when undefined_file or insufficient_privilege or character_not_in_repertoire or program_limit_exceeded then
    return null;
end
$$;
revoke all on function _selvedge.read_extension_scripts(text) from public;

-- What is left of a script without comments, and without statements that call nothing while they run: those that make functions,
-- casts, operators and types. What stands behind a semicolon within the body of a function is left, too.
create function _selvedge.find_calling_statements(script text) returns text
  language sql immutable
  set search_path = pg_catalog, pg_temp
as $$
  select case when script is not null then coalesce(string_agg(s.statement, E';\n'::text), ''::text) end
  from regexp_split_to_table(
    regexp_replace(regexp_replace(script, E'^\\\\[^\n]*'::text, ''::text, 'gn'::text), '--[^\n]*'::text, ''::text, 'g'::text), ';'::text
  ) as s (statement)
  where s.statement !~* ('^\s*(/\*([^*]|\*[^/])*\*/\s*)*('
    || 'create\s+(or\s+replace\s+)?(function|procedure|aggregate|cast|operator|type|access\s+method)'
    || '|alter\s+(extension|function|operator|type|access\s+method)|drop|comment\s+on|grant|revoke)\M'::text)
$$;
revoke all on function _selvedge.find_calling_statements(text) from public;

-- Functions and operators of others than superusers whose names a script calls. Without a text those that have the name of one of
-- PostgreSQL's own.
create function _selvedge.find_callable_names(script text) returns setof text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  with planted as (
    select p.oid::regprocedure::text as object, p.proname::text as name, true as is_function
    from pg_proc as p join pg_roles as r on r.oid = p.proowner and not r.rolsuper
    where has_schema_privilege('postgres'::name, p.pronamespace, 'create'::text)
      -- PostgreSQL's own come first.
      and not exists (
        select from pg_proc as c
        where c.pronamespace = 'pg_catalog'::regnamespace and c.proname = p.proname and c.proargtypes = p.proargtypes
      )
    union all
    select o.oid::regoperator::text, o.oprname::text, false
    from pg_operator as o join pg_roles as r on r.oid = o.oprowner and not r.rolsuper
    where has_schema_privilege('postgres'::name, o.oprnamespace, 'create'::text)
      and not exists (
        select from pg_operator as c
        where c.oprnamespace = 'pg_catalog'::regnamespace and c.oprname = o.oprname and c.oprleft = o.oprleft and c.oprright = o.oprright
      )
  ),
  name as (
    select n.name, n.is_function, case
      when script is null then case when n.is_function
        then exists (select from pg_proc as p where p.proname::text = n.name and p.pronamespace = 'pg_catalog'::regnamespace)
        else exists (select from pg_operator as o where o.oprname::text = n.name and o.oprnamespace = 'pg_catalog'::regnamespace) end
      -- The first question is answered fast, and mostly by no.
      when strpos(lower(script), lower(n.name)) = 0 then false
      when n.is_function and n.name ~ '^[A-Za-z_][A-Za-z0-9_]*$'::text
        then script ~* ('(^|[^A-Za-z0-9_$])' || n.name || '"?\s*\('::text)
      else true end as is_called
    from (select distinct p.name, p.is_function from planted as p) as n
  )
  select p.object from planted as p join name as n on n.name = p.name and n.is_function = p.is_function and n.is_called
  order by p.object
$$;
revoke all on function _selvedge.find_callable_names(text) from public;

-- Waits until nobody else can add a function or an operator before the end of this transaction.
create function _selvedge.wait_for_callable_names() returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  deadline timestamptz := clock_timestamp() + '10 seconds'::interval;
  others text[];
begin
  -- No new one is added.
  lock table pg_catalog.pg_proc, pg_catalog.pg_operator in share row exclusive mode;
  -- PostgreSQL lets go of such a lock before a transaction ends, so others may have added one that is not committed.
  select array_agg(l.virtualtransaction) into others
  from pg_locks as l
  left join pg_stat_get_activity(null) as a on a.pid = l.pid
  left join pg_roles as r on r.oid = a.usesysid
  where l.locktype = 'transactionid'::text and l.granted and l.mode = 'ExclusiveLock'::text and l.pid is distinct from pg_backend_pid()
    -- Prepared transactions have no process.
    and (l.pid is null or (
      a.backend_type = 'client backend'::text and not coalesce(r.rolsuper, false)
      and a.datid = (select d.oid from pg_database as d where d.datname = current_database())
    ));
  while exists (select from pg_locks as l where l.locktype = 'transactionid'::text and l.granted and l.virtualtransaction = any (others)) loop
    if clock_timestamp() > deadline then
      raise lock_not_available using
        message = 'other transactions are open, which may have added functions that the script of an extension would call',
        hint = 'Repeat it when they have ended.';
    end if;
    perform pg_sleep(0.02);
  end loop;
end
$$;
revoke all on function _selvedge.wait_for_callable_names() from public;

-- Fires before an extension is created or updated. Which one that is PostgreSQL does not say yet, so all that may be are looked at.
create function _selvedge.check_extension_scripts() returns event_trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  extension record;
  script text;
  found text;
begin
  for extension in
    select a.name::text as name
    from pg_available_extensions as a
    where (a.installed_version is null) = (tg_tag = 'CREATE EXTENSION'::text)
      and not exists (select from _selvedge.shipped_extensions as s where s.name = a.name::text)
      and a.name::text <> all (array[
        'adminpack', 'amcheck', 'autoinc', 'bloom', 'btree_gin', 'btree_gist', 'citext', 'cube', 'dblink', 'dict_int', 'dict_xsyn',
        'earthdistance', 'file_fdw', 'fuzzystrmatch', 'hstore', 'insert_username', 'intagg', 'intarray', 'isn', 'lo', 'ltree', 'moddatetime',
        'old_snapshot', 'pageinspect', 'pg_buffercache', 'pg_freespacemap', 'pg_logicalinspect', 'pg_overexplain', 'pg_prewarm',
        'pg_stat_statements', 'pg_surgery', 'pg_trgm', 'pg_visibility', 'pg_walinspect', 'pgcrypto', 'pgrowlocks', 'pgstattuple', 'plpgsql',
        'postgres_fdw', 'refint', 'seg', 'sslinfo', 'tablefunc', 'tcn', 'tsm_system_rows', 'tsm_system_time', 'unaccent', 'uuid-ossp', 'xml2',
        'hstore_plperl', 'hstore_plperlu', 'hstore_plpython3u', 'jsonb_plperl', 'jsonb_plperlu', 'jsonb_plpython3u', 'ltree_plpython3u',
        'bool_plperl', 'bool_plperlu', 'plperl', 'plperlu', 'plpython3u', 'pltcl', 'pltclu'
      ]::text[])
      and _selvedge.is_allowed_extension(a.name::text)
  loop
    perform _selvedge.require_current_snapshot();
    script := _selvedge.find_calling_statements(_selvedge.read_extension_scripts(extension.name));
    -- That of pgvector, for example, only makes functions and types.
    continue when script !~ '\w'::text;
    perform _selvedge.wait_for_callable_names();
    select string_agg(n.object, ', '::text) into found
    from _selvedge.find_callable_names(script) as n (object);
    if found is not null then
      raise insufficient_privilege using
        message = 'the script of the extension "' || extension.name || '" could call, as a superuser, what is not a superuser''s: ' || found,
        hint = 'Create or update extensions before these are created, or rename them for the time being.';
    end if;
  end loop;
end
$$;
revoke all on function _selvedge.check_extension_scripts() from public;
create event trigger selvedge_check_extension_scripts on ddl_command_start when tag in ('CREATE EXTENSION', 'ALTER EXTENSION')
  execute function _selvedge.check_extension_scripts();
-- session_replication_role switches other event triggers off, and `postgres` may set it.
alter event trigger selvedge_check_extension_scripts enable always;
