-- Which extension a statement is about. PostgreSQL does not tell its event triggers, so 0136_extension_scripts.sql asked the scripts of all
-- extensions that may be created, and one that nobody uses refused every other. The text of the statement tells, when nothing stands
-- between it and the trigger: the innermost statement is either what the client has sent, or what a function runs, and PostgreSQL names that
-- one in the lines that say from where the trigger was called. Of every other statement all extensions are asked as before.

-- A script without the bodies of functions that stand between dollars. Such a body may hold semicolons, and none of its statements
-- runs when the function is made. Those of DO blocks are kept.
create function _selvedge.cut_function_bodies(script text) returns text
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  tag_pattern constant text := '[$](?:[A-Za-z_][A-Za-z0-9_]*)?[$]';
  pieces text[] := regexp_split_to_array(script, tag_pattern);
  tags text[] := array(select t.found[1] from regexp_matches(script, '('::text || tag_pattern || ')'::text, 'g'::text) as t (found));
  kept text[] := '{}';
  opened text;
  is_body boolean := false;
  quotes integer := 0;
begin
  for n in 1 .. coalesce(cardinality(pieces), 0) loop
    if opened is null or not is_body then
      kept := kept || pieces[n];
    end if;
    exit when n > cardinality(tags);
    if opened is null then
      -- Within quotes nothing begins.
      quotes := quotes + length(pieces[n]) - length(replace(pieces[n], ''''::text, ''::text));
      opened := tags[n];
      is_body := quotes % 2 = 0 and regexp_replace(pieces[n], '^.*;'::text, ''::text)
        ~* '^\s*(/\*([^*]|\*[^/])*\*/\s*)*create\s+(or\s+replace\s+)?(function|procedure)\M.*\mas\s*$'::text;
    elsif opened = tags[n] then
      opened := null;
    end if;
    if not is_body then
      kept := kept || tags[n];
    end if;
  end loop;
  -- A body that never ends is none.
  return case when opened is null then array_to_string(kept, ' '::text) else script end;
end
$$;
revoke all on function _selvedge.cut_function_bodies(text) from public;

-- As in 0136_extension_scripts.sql, but without the bodies of functions.
create or replace function _selvedge.find_calling_statements(script text) returns text
  language sql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
  select case when script is not null then coalesce(string_agg(s.statement, E';\n'::text), ''::text) end
  from regexp_split_to_table(
    _selvedge.cut_function_bodies(
      regexp_replace(regexp_replace(script, E'^\\\\[^\n]*'::text, ''::text, 'gn'::text), '--[^\n]*'::text, ''::text, 'g'::text)
    ), ';'::text
  ) as s (statement)
  where s.statement !~* ('^\s*(/\*([^*]|\*[^/])*\*/\s*)*('
    || 'create\s+(or\s+replace\s+)?(function|procedure|aggregate|cast|operator|type|access\s+method)'
    || '|alter\s+(extension|function|operator|type|access\s+method)|drop|comment\s+on|grant|revoke)\M'::text)
$$;
-- Whoever calls these may have switched off that a backslash in a text means itself, as it does in their patterns and scripts.
alter function _selvedge.find_callable_names(text) set standard_conforming_strings = on;
alter function _selvedge.check_extension_schema(text, text) set standard_conforming_strings = on;
alter function _selvedge.install_by_script(text, boolean, text) set standard_conforming_strings = on;

-- Whether the script of an extension is known to call nothing by a name without a schema that a project could have as well.
create function _selvedge.is_known_script(extension_name text) returns boolean
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select exists (select from _selvedge.shipped_extensions as s where s.name = is_known_script.extension_name)
    or extension_name = any (array[
      'adminpack', 'amcheck', 'autoinc', 'bloom', 'btree_gin', 'btree_gist', 'citext', 'cube', 'dblink', 'dict_int', 'dict_xsyn',
      'earthdistance', 'file_fdw', 'fuzzystrmatch', 'hstore', 'insert_username', 'intagg', 'intarray', 'isn', 'lo', 'ltree', 'moddatetime',
      'old_snapshot', 'pageinspect', 'pg_buffercache', 'pg_freespacemap', 'pg_logicalinspect', 'pg_overexplain', 'pg_prewarm',
      'pg_stat_statements', 'pg_surgery', 'pg_trgm', 'pg_visibility', 'pg_walinspect', 'pgcrypto', 'pgrowlocks', 'pgstattuple', 'plpgsql',
      'postgres_fdw', 'refint', 'seg', 'sslinfo', 'tablefunc', 'tcn', 'tsm_system_rows', 'tsm_system_time', 'unaccent', 'uuid-ossp', 'xml2',
      'hstore_plperl', 'hstore_plperlu', 'hstore_plpython3u', 'jsonb_plperl', 'jsonb_plperlu', 'jsonb_plpython3u', 'ltree_plpython3u',
      'bool_plperl', 'bool_plperlu', 'plperl', 'plperlu', 'plpython3u', 'pltcl', 'pltclu'
    ]::text[])
$$;
revoke all on function _selvedge.is_known_script(text) from public;

-- The name of the extension that a statement creates or updates; an empty text if it is about one and runs no script; null if it is anything
-- else, more than one statement, or written in an unusual way. With `has_end` the text goes on with a quote and further lines, which no
-- statement can hide: after what is accepted here, none goes on with a quote.
create function _selvedge.find_named_extension(statement text, has_end boolean) returns text
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  gap constant text := '[ \t\n\r\f\v]+';
  beginning constant text := '^(?:[ \t\n\r\f\v]|--[^\n\r]*[\n\r]|/[*][^*/]*[*]/)*';
  extension_name constant text := '(?:([a-z_][a-z0-9_$]*)|"([^"]+)")';
  other_name constant text := '(?:[a-z_][a-z0-9_$]*|"[^"]+")';
  version constant text := '(?:[a-z_][a-z0-9_$]*|"[^"]+"|''[^''\\]*'')';
  ending constant text := '[ \t\n\r\f\v]*;?[ \t\n\r\f\v]*' || case when has_end then '"(?:\n|$)' else '$' end;
  -- Letters of other languages are no variants of these.
  given constant text collate "C" := statement;
  parts text[];
  name text;
begin
  parts := coalesce(
    regexp_match(given, beginning || 'create' || gap || 'extension(?:' || gap || 'if' || gap || 'not' || gap || 'exists)?' || gap
      || extension_name || '(?:' || gap || 'with)?(?:' || gap || '(?:schema' || gap || other_name || '|version' || gap || version
      || '|cascade))*' || ending, 'i'::text),
    regexp_match(given, beginning || 'alter' || gap || 'extension' || gap || extension_name || gap || 'update(?:' || gap || 'to' || gap
      || version || ')?' || ending, 'i'::text)
  );
  if parts is null then
    -- Without a semicolon no second statement follows.
    return case when given ~* (beginning || 'alter' || gap || 'extension' || gap || other_name || gap
      || '(?:add|drop|set)\M[^;]*(?:;[ \t\n\r\f\v]*)?$') then ''::text end;
  end if;
  name := coalesce(lower(parts[1] collate "C"), parts[2]);
  -- PostgreSQL cuts longer names.
  return case when octet_length(name) < 64 then name end;
end
$$;
revoke all on function _selvedge.find_named_extension(text, boolean) from public;

-- Refuses a statement about an extension whose script could call something of the project. `callers` are the lines of PG_CONTEXT behind the
-- trigger's own; none of them when the client has sent the statement itself.
create function _selvedge.check_extension_statement(tag text, callers text) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  named text := case
    when callers = ''::text then _selvedge.find_named_extension(current_query(), false)
    when starts_with(callers, 'SQL statement "'::text) then _selvedge.find_named_extension(substr(callers, 16), true)
  end;
  extension record;
  script text;
  callable text;
  names text[] := '{}';
  objects text[] := '{}';
begin
  if named = ''::text or _selvedge.is_known_script(named) then
    return;
  end if;
  for extension in
    with recursive needed (name) as (
      select named collate "C" where named is not null
      union
      -- CASCADE creates them along.
      select r.name::text from needed as n
      join pg_available_extension_versions as v on v.name::text = n.name
      cross join unnest(v.requires) as r (name)
    )
    select a.name::text as name
    from pg_available_extensions as a
    where (named is null or a.name::text in (select n.name from needed as n))
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
    end if;
    script := _selvedge.find_calling_statements(_selvedge.read_extension_scripts(extension.name));
    -- That of pgvector, for example, only makes functions and types.
    continue when script !~ '\w'::text;
    perform _selvedge.wait_for_callable_names();
    -- Others create it after the same wait only.
    continue when tag = 'ALTER EXTENSION'::text and not exists (select from pg_extension as e where e.extname::text = extension.name);
    select string_agg(n.object, ', '::text) into callable
    from _selvedge.find_callable_names(script) as n (object);
    if callable is not null then
      names := names || extension.name;
      objects := objects || callable;
    end if;
  end loop;
  if names = '{}'::text[] then
    return;
  end if;
  if named is null then
    raise insufficient_privilege using
      message = 'the extension may be "' || array_to_string(names, '" or "'::text)
        || '", whose script could call, as a superuser, what is not a superuser''s: ' || array_to_string(objects, ', '::text),
      hint = 'If it is another one, send CREATE or ALTER EXTENSION alone: among other statements PostgreSQL does not say which one it is.';
  end if;
  raise insufficient_privilege using
    message = 'the script of the extension "' || array_to_string(names, '" or "'::text)
      || '" could call, as a superuser, what is not a superuser''s: ' || array_to_string(objects, ', '::text),
    hint = 'Create or update extensions before these are created, or rename them for the time being.';
end
$$;
revoke all on function _selvedge.check_extension_statement(text, text) from public;

-- Fires before an extension is created or updated.
create or replace function _selvedge.check_extension_scripts() returns event_trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  -- The lines are in the language of the server's messages.
  set lc_messages = 'C'
as $$
declare
  callers text;
begin
  get diagnostics callers = pg_context;
  -- The first line is this function's own.
  perform _selvedge.check_extension_statement(
    tg_tag, case when strpos(callers, E'\n') = 0 then ''::text else substr(callers, strpos(callers, E'\n') + 1) end
  );
end
$$;

-- As in 0121_event_trigger_calls.sql. The code of a project's event triggers may run after the check above and before the script, and make
-- what the script would call, so it is checked once more.
create or replace function _selvedge.run_event_trigger(original oid, event text, tag text) returns void
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  -- The lines are in the language of the server's messages.
  set lc_messages = 'C'
as $$
declare
  body text := 'event_trigger_' || original::text || '_body';
  callers text;
  expected text := 'SQL statement "SELECT _selvedge.run_event_trigger(' || original::text || '::oid, tg_event, tg_tag) limit 1"'
    || E'\nPL/pgSQL function _selvedge.event_trigger_' || original::text || '() line 1 at PERFORM';
begin
  get diagnostics callers = pg_context;
  -- The first line is this function's own.
  callers := substr(callers, strpos(callers, E'\n') + 1);
  if callers is null or not (callers = expected or starts_with(callers, expected || E'\n')) then
    raise insufficient_privilege using message = 'only an event trigger may call this';
  end if;
  if (select r.rolsuper from pg_roles as r where r.rolname = 'postgres') then
    -- The project's code would run as a superuser for everybody.
    return;
  end if;
  if not exists (
    select from pg_event_trigger as t
    join _selvedge.event_trigger_functions as f on f.copy = t.evtfoid
    where f.original = run_event_trigger.original and t.evtevent::text = event and t.evtenabled <> 'D'
      and (t.evttags is null or tag = any (t.evttags))
  ) then
    raise insufficient_privilege using message = 'there is no such event trigger';
  end if;
  -- A transaction that only reads can lock no row, and without the lock the code could be another one at the call than at the check.
  if current_setting('transaction_read_only'::text) <> 'off' then
    if event = 'login' then
      return;
    end if;
    raise read_only_sql_transaction using message = 'event triggers do not run in a read-only transaction';
  end if;
  -- The lock keeps `postgres` from changing its function between the check and the call. Where the transaction sees the database as it
  -- was at its beginning, a function that was changed since cannot be locked (SQLSTATE 40001).
  perform from pg_proc as p where p.oid = to_regprocedure('_selvedge.' || body || '(text, text)')::oid for share;
  if not exists (
    select from pg_proc as p
    where p.oid = to_regprocedure('_selvedge.' || body || '(text, text)')::oid
      and p.prosecdef and p.proowner = 'postgres'::regrole
      and not exists (select from unnest(p.proconfig) as setting where setting !~ '^search_path=')
  ) then
    raise insufficient_privilege using
      message = 'the code of an event trigger was changed by hand',
      hint = 'Replace the function that CREATE EVENT TRIGGER named.';
  end if;
  execute 'select _selvedge.' || body || '($1, $2)' using event, tag;
  if event = 'ddl_command_start' and tag in ('CREATE EXTENSION', 'ALTER EXTENSION') then
    perform _selvedge.check_extension_statement(tag, substr(callers, length(expected) + 2));
  end if;
end
$$;
