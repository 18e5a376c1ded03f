-- Which scripts are known, which one a statement runs, and how PostgreSQL reads it.

-- Whether an extension has scripts, and all of them, of whatever version, have this text. A statement may name any version.
create function _selvedge.is_only_script(extension_name text, script text) returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  folder constant text := (select c.setting || '/extension/' from pg_config() as c where c.name = 'SHAREDIR'::text);
begin
  return coalesce((
    select bool_and((pg_stat_file(folder || f.file)).size < 33554432 and pg_read_file(folder || f.file) = script)
    from pg_ls_dir(folder) as f (file)
    where starts_with(f.file, extension_name || '--') and right(f.file, 4) = '.sql'::text
  ), false);
exception
  when undefined_file or insufficient_privilege or character_not_in_repertoire or program_limit_exceeded then
    return false;
end
$$;
revoke all on function _selvedge.is_only_script(text, text) from public;

-- As in 0166_extension_path_objects.sql, but an update, or another version, of an extension that the server brings along may run the script of
-- somebody else.
create or replace function _selvedge.is_known_script(extension_name text) returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select extension_name = any (array[
      'adminpack', 'amcheck', 'autoinc', 'bloom', 'btree_gin', 'btree_gist', 'citext', 'cube', 'dblink', 'dict_int', 'dict_xsyn',
      'earthdistance', 'file_fdw', 'fuzzystrmatch', 'hstore', 'insert_username', 'intagg', 'intarray', 'isn', 'lo', 'ltree', 'moddatetime',
      'old_snapshot', 'pageinspect', 'pg_buffercache', 'pg_freespacemap', 'pg_logicalinspect', 'pg_overexplain', 'pg_prewarm',
      'pg_stat_statements', 'pg_surgery', 'pg_trgm', 'pg_visibility', 'pg_walinspect', 'pgcrypto', 'pgrowlocks', 'pgstattuple', 'plpgsql',
      'postgres_fdw', 'refint', 'seg', 'sslinfo', 'tablefunc', 'tcn', 'tsm_system_rows', 'tsm_system_time', 'unaccent', 'uuid-ossp', 'xml2',
      'hstore_plperl', 'hstore_plperlu', 'hstore_plpython3u', 'jsonb_plperl', 'jsonb_plperlu', 'jsonb_plpython3u', 'ltree_plpython3u',
      'bool_plperl', 'bool_plperlu', 'plperl', 'plperlu', 'plpython3u', 'pltcl', 'pltclu'
    ]::text[])
    or exists (
      select from _selvedge.shipped_extensions as s
      where s.name = extension_name and (_selvedge.needs_script(s.name) or _selvedge.is_only_script(s.name, s.script))
    )
$$;

-- As in 0167_extension_checks_of_workers.sql, but the list of sessions is that of the moment.
create or replace function _selvedge.wait_for_callable_names() returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  refusal constant text := 'other transactions are open, which may have added something that the script of an extension would call';
  deadline constant timestamptz := clock_timestamp() + '10 seconds'::interval;
  others text[];
begin
  loop
    begin
      -- No new one is added.
      lock table pg_catalog.pg_namespace, pg_catalog.pg_proc, pg_catalog.pg_operator, pg_catalog.pg_class, pg_catalog.pg_type
        in share row exclusive mode;
      -- The list of sessions is that of the transaction's first look at it, and a number that a superuser's process had may be another's by now.
      perform pg_stat_clear_snapshot();
      -- PostgreSQL lets go of such a lock before a transaction ends, so others may have added one that is not committed.
      select array_agg(l.virtualtransaction) into others
      from pg_locks as l
      left join pg_stat_get_activity(null) as a on a.pid = l.pid
      left join pg_roles as r on r.oid = a.usesysid
      where l.locktype = 'transactionid'::text and l.granted and l.mode = 'ExclusiveLock'::text and l.pid is distinct from pg_backend_pid()
        -- Prepared transactions have no process.
        and (l.pid is null or (
          not coalesce(a.backend_type = 'client backend'::text and r.rolsuper, false)
          and coalesce(a.datid = (select d.oid from pg_database as d where d.datname = current_database()), true)
        ));
      while exists (
        select from pg_locks as l where l.locktype = 'transactionid'::text and l.granted and l.virtualtransaction = any (others)
      ) loop
        if clock_timestamp() > deadline then
          raise lock_not_available using message = refusal, hint = 'Repeat it when they have ended.';
        end if;
        if exists (
          select from pg_locks as l
          where not l.granted and l.virtualtransaction = any (others) and pg_backend_pid() = any (pg_blocking_pids(l.pid))
        ) then
          raise deadlock_detected using message = refusal;
        end if;
        perform pg_sleep(0.02);
      end loop;
      return;
    exception when deadlock_detected then
      -- The locks of this block are given back.
      if clock_timestamp() > deadline then
        raise;
      end if;
    end;
    perform pg_sleep(0.02);
  end loop;
end
$$;

-- As in 0167_extension_checks_of_workers.sql, but an update that changes nothing runs no script, and a session in which a backslash may
-- end no text, as it does for whoever reads scripts here, runs only those that are known. So this function leaves that setting as it is, and
-- has no text with a backslash.
create or replace function _selvedge.check_extension_statement(tag text, callers text) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  statement text[] := case
    when callers = ''::text then _selvedge.read_extension_statement(current_query(), false)
    when starts_with(callers, 'SQL statement "'::text) then _selvedge.read_extension_statement(substr(callers, 16), true)
  end;
  named text := statement[1];
  -- The text that has the name of the extension, if it can be read: not of a function in SQL, nor where a name is written by numbers of letters.
  mentioning text := case
    when named is not null then null
    when callers = ''::text then lower(current_query() collate "C")
    when starts_with(callers, 'SQL statement "'::text) then lower(callers collate "C")
  end;
  extension record;
  parts text[];
  callable text;
  scripts text[] := '{}';
  names text[] := '{}';
  objects text[] := '{}';
begin
  if named = ''::text or _selvedge.is_known_script(named) then
    return;
  end if;
  if strpos(mentioning, 'u&'::text) > 0 then
    mentioning := null;
  end if;
  for extension in
    with recursive mentioned (name) as (
      select named collate "C" where named is not null
      union
      select a.name::text from pg_available_extensions as a where strpos(mentioning, lower(a.name::text collate "C")) > 0
    ),
    needed (name) as (
      select m.name from mentioned as m
      union
      -- CASCADE creates them along.
      select r.name::text from needed as n
      join pg_available_extension_versions as v on v.name::text = n.name
      cross join unnest(v.requires) as r (name)
    )
    select a.name::text as name
    from pg_available_extensions as a
    where (coalesce(named, mentioning) is null or a.name::text in (select n.name from needed as n))
      and not _selvedge.is_known_script(a.name::text)
      -- PostgreSQL runs the script of a trusted one as a superuser, whoever creates it.
      and (
        _selvedge.is_allowed_extension(a.name::text)
        or a.name in (select v.name from pg_available_extension_versions as v where v.trusted)
      )
  loop
    perform _selvedge.require_current_snapshot();
    if tag = 'CREATE EXTENSION'::text then
      -- Of one that exists no script runs. The lock keeps others from dropping it before the statement has seen that.
      perform from pg_extension as e where e.extname::text = extension.name for key share;
      continue when found;
    else
      -- Which script runs depends on the version that is there. The lock keeps others from updating it before the statement does.
      perform from pg_extension as e where e.extname::text = extension.name for no key update;
      -- No other one is updated along, and to the version that is there no script leads.
      continue when extension.name <> named or exists (
        select from pg_extension as e join pg_available_extensions as a on a.name = e.extname
        where e.extname::text = named and e.extversion = coalesce(statement[3], a.default_version)
      );
    end if;
    scripts := scripts || extension.name;
    parts := _selvedge.split_extension_script(_selvedge.read_extension_scripts(extension.name, tag, case
      when extension.name = named then statement[3]
      -- CASCADE takes the version of the control file, and so does a statement that names none.
      when named is null and (tag <> 'CREATE EXTENSION'::text or mentioning is null or strpos(mentioning, 'version'::text) > 0) then ''::text
    end));
    -- That of pgvector, for example, only makes functions and types.
    continue when parts[1] !~ '[[:alnum:]]'::text;
    perform _selvedge.wait_for_callable_names();
    -- Others create it after the same wait only.
    continue when tag = 'ALTER EXTENSION'::text and not exists (select from pg_extension as e where e.extname::text = extension.name);
    select string_agg(n.object, ', '::text) into callable
    from _selvedge.find_callable_names(
      parts[1], parts[2], case when named is not null then _selvedge.find_extension_schemas(extension.name, statement[2]) end
    ) as n (object);
    if callable is not null then
      names := names || extension.name;
      objects := objects || callable;
    end if;
  end loop;
  if names = '{}'::text[] then
    if scripts <> '{}'::text[] and current_setting('standard_conforming_strings'::text) <> 'on' then
      raise insufficient_privilege using
        message = 'with standard_conforming_strings off nobody knows what the script of the extension "'
          || array_to_string(scripts, '" or "'::text) || '" says',
        hint = 'Set standard_conforming_strings to on.';
    end if;
    return;
  end if;
  if named is null then
    raise insufficient_privilege using
      message = 'the extension may be "' || array_to_string(names, '" or "'::text)
        || '", whose script could call, as a superuser, what is not a superuser''s: ' || left(array_to_string(objects, ', '::text), 2000),
      hint = 'If it is another one, or goes into a schema without these, send CREATE or ALTER EXTENSION alone: '
        'among other statements PostgreSQL does not say which one it is.';
  end if;
  raise insufficient_privilege using
    message = 'the script of the extension "' || array_to_string(names, '" or "'::text)
      || '" could call, as a superuser, what is not a superuser''s: ' || left(array_to_string(objects, ', '::text), 2000),
    hint = case when tag = 'CREATE EXTENSION'::text
      then 'Create it in a schema that has none of these (CREATE EXTENSION ... SCHEMA ...), create it before them, or rename them for the time being.'
      else 'Rename them for the time being.' end;
end
$$;
