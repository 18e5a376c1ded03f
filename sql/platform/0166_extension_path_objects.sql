-- What the script of an extension may meet in its search path, third edition of 0136_extension_scripts.sql. PostgreSQL runs a script with the
-- schema of the extension in the path, then those of the extensions that it requires, and temporary objects last. Until now functions
-- and operators of others than superusers counted, in all schemas. Now tables, views, sequences and types count as well, because views,
-- triggers and domains call functions, and objects in other schemas than these count only where the script names the schema.

-- The extension that a statement creates or updates, the schema that the statement names, and the version: null if it names none. A schema that
-- could be read in two ways is null as well, and such a version an empty text. One empty text alone if the statement is about an
-- extension and runs no script; null if it is anything else, more than one statement, or written in an unusual way. With `has_end` the text
-- goes on with a quote and further lines, which no statement can hide.
create function _selvedge.read_extension_statement(statement text, has_end boolean) returns text[]
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  gap constant text := '[ \t\n\r\f\v]+';
  beginning constant text := '^(?:[ \t\n\r\f\v]|--[^\n\r]*[\n\r]|/[*][^*/]*[*]/)*';
  found_name constant text := '(?:([a-z_][a-z0-9_$]*)|"([^"]+)")';
  other_name constant text := '(?:[a-z_][a-z0-9_$]*|"[^"]+")';
  found_version constant text := '(?:([a-z_][a-z0-9_$]*)|"([^"]+)"|''([^''\\]*)'')';
  -- PostgreSQL refuses an option that is given twice.
  choice constant text := '(?:' || gap || '(?:schema' || gap || found_name || '|version' || gap || found_version || '|cascade))?';
  -- Where the statement ends in a name in quotes, the quote behind it may also be the second one of a doubled quote, with which the name
  -- goes on. Then nothing may follow that could hold another statement.
  ending constant text := '(?:[ \t\n\r\f\v]*;?[ \t\n\r\f\v]*' || case when has_end then '(?<!")"(?:\n|$)|"(?:\n[^;]*)?$)' else '$)' end;
  -- Letters of other languages are no variants of these.
  given constant text collate "C" := statement;
  parts text[];
  target text;
  version text;
begin
  parts := regexp_match(given, beginning || 'create' || gap || 'extension(?:' || gap || 'if' || gap || 'not' || gap || 'exists)?' || gap
    || found_name || '(?:' || gap || 'with)?' || repeat(choice, 3) || ending, 'i'::text);
  if parts is not null then
    target := coalesce(lower(coalesce(parts[3], parts[8], parts[13]) collate "C"), parts[4], parts[9], parts[14]);
    version := coalesce(
      lower(coalesce(parts[5], parts[10], parts[15]) collate "C"), parts[6], parts[11], parts[16], parts[7], parts[12], parts[17]
    );
  else
    parts := regexp_match(given, beginning || 'alter' || gap || 'extension' || gap || found_name || gap || 'update(?:' || gap || 'to' || gap
      || found_version || ')?' || ending, 'i'::text);
    version := coalesce(lower(parts[3] collate "C"), parts[4], parts[5]);
  end if;
  if parts is null then
    -- Without a semicolon no second statement follows.
    return case when given ~* (beginning || 'alter' || gap || 'extension' || gap || other_name || gap
      || '(?:add|drop|set)\M[^;]*(?:;[ \t\n\r\f\v]*)?$') then array[''::text] end;
  end if;
  -- PostgreSQL cuts longer names. A name that seems to end at a doubled quote may go on.
  if octet_length(target) >= 64 or strpos(given, '""'::text) > 0 then
    target := null;
  end if;
  if octet_length(version) >= 64 or strpos(given, '""'::text) > 0 then
    version := ''::text;
  end if;
  parts := array[coalesce(lower(parts[1] collate "C"), parts[2]), target, version];
  return case when octet_length(parts[1]) < 64 then parts end;
end
$$;
revoke all on function _selvedge.read_extension_statement(text, boolean) from public;
drop function _selvedge.find_named_extension(text, boolean);

-- The text of the scripts that a statement runs; null where they cannot be found. `tag` is CREATE EXTENSION or ALTER EXTENSION, `given_version` the one
-- that the statement names: null if it names none, an empty text if nobody knows.
create function _selvedge.read_extension_scripts(extension_name text, tag text, given_version text) returns text
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  folder constant text := (select c.setting || '/extension/' from pg_config() as c where c.name = 'SHAREDIR'::text);
  target constant text := coalesce(
    given_version, (select a.default_version from pg_available_extensions as a where a.name::text = extension_name)
  );
  present constant text := (select e.extversion from pg_extension as e where e.extname::text = extension_name);
  wanted constant text := extension_name || '--' || case when tag = 'CREATE EXTENSION'::text then ''::text else present || '--' end
    || target || '.sql';
  files text[];
  size bigint;
  scripts text;
begin
  -- PostgreSQL runs this one alone where it is there. PostGIS has a hundred others, of eight megabytes each.
  if target <> ''::text and exists (select from pg_ls_dir(folder) as f (file) where f.file = wanted) then
    return pg_read_file(folder || wanted);
  end if;
  select array_agg(f.file), sum((pg_stat_file(folder || f.file)).size) into files, size
  from pg_ls_dir(folder) as f (file)
  where starts_with(f.file, extension_name || '--') and right(f.file, 4) = '.sql'::text;
  if size < 33554432 then
    select string_agg(pg_read_file(folder || f.file), E'\n;\n'::text) into scripts from unnest(files) as f (file);
  end if;
  return scripts;
exception
  when undefined_file or insufficient_privilege or character_not_in_repertoire or program_limit_exceeded then
    return null;
end
$$;
revoke all on function _selvedge.read_extension_scripts(text, text, text) from public;
drop function _selvedge.read_extension_scripts(text);

-- The schemas in which the script of an extension looks for names: its own, and those of the extensions that it requires. `given` is
-- the one that the statement names, which CASCADE passes on. Null where one of them is decided by the caller's search path.
create function _selvedge.find_extension_schemas(extension_name text, given text) returns text[]
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  with part (name) as (
    select extension_name
    union
    select r.name::text
    from pg_available_extension_versions as v cross join unnest(v.requires) as r (name)
    where v.name::text = extension_name
  ),
  place (name) as (
    select n.nspname::text
    from part as p
    join pg_extension as e on e.extname::text = p.name
    join pg_namespace as n on n.oid = e.extnamespace
    union
    select coalesce(v.schema::text, given)
    from part as p
    join pg_available_extension_versions as v on v.name::text = p.name
    where not exists (select from pg_extension as e where e.extname::text = p.name)
  )
  select case when not bool_or(p.name is null) then array_agg(p.name) end from place as p
$$;
revoke all on function _selvedge.find_extension_schemas(text, text) from public;

-- Two parts of a script: the statements that call something while they run, with the bodies of the functions that they call, and those that
-- name functions which others call later: of aggregates, casts, operators and types. Everything that nobody can read is in the first. Null for
-- a script that makes functions which run as a superuser: with names that are looked up when they are called.
create function _selvedge.split_extension_script(script text) returns text[]
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  tag_pattern constant text := '[$](?:[A-Za-z_][A-Za-z0-9_]*)?[$]';
  beginning constant text := '^\s*(?:/\*(?:[^*]|\*[^/])*\*/\s*)*';
  made constant text := beginning || 'create\s+(?:or\s+replace\s+)?(?:function|procedure)\s+(?:(?:"[^"]+"|[\w$@]+)\s*\.\s*)?("[^"]+"|[\w$]+)\s*\(';
  value constant text := '(?:''(?:[^'']|'''')*''|-?[0-9.]+|null)';
  cleaned text;
  pieces text[];
  tags text[];
  outside text[] := '{}';
  bodies text[] := '{}';
  opened text;
  is_body boolean := false;
  quotes integer := 0;
  calling text;
  naming text;
  functions text[];
  names text[];
  unread text;
  more text;
begin
  if script is null then
    return null;
  end if;
  -- Commands of psql and comments are none of its statements. Behind a quote that is open two hyphens may be a part of a text. Rows of values,
  -- of which PostGIS has eight thousand, call nothing.
  select string_agg(case
      when l.line ~ '^\\echo\M' then ''::text
      when starts_with(l.line, '('::text) and l.line ~* ('^\((?:' || value || '\s*,\s*)+' || value || '\)\s*[,;]?\s*$')
        then '()'::text || right(rtrim(l.line), 1)
      when strpos(l.line, '--'::text) = 0 or strpos(l.before, '\'::text) > 0
        or (length(l.before) - length(replace(l.before, ''''::text, ''::text))) % 2 = 1 then l.line
      else l.before end, E'\n'::text order by l.number)
  into cleaned
  from (
    select s.line, s.number, split_part(s.line, '--'::text, 1) as before
    from unnest(string_to_array(script, E'\n'::text)) with ordinality as s (line, number)
  ) as l;
  pieces := regexp_split_to_array(cleaned, tag_pattern);
  tags := array(select t.found[1] from regexp_matches(cleaned, '(' || tag_pattern || ')', 'g'::text) as t (found));
  -- Bodies between dollars are taken out, and numbered in their places. Those of DO blocks stay.
  for n in 1 .. cardinality(pieces) loop
    if opened is not null and is_body then
      bodies[cardinality(bodies)] := bodies[cardinality(bodies)] || pieces[n];
    else
      outside := outside || pieces[n];
    end if;
    exit when n > cardinality(tags);
    if opened is null then
      -- Within quotes nothing begins.
      quotes := quotes + length(pieces[n]) - length(replace(pieces[n], ''''::text, ''::text));
      opened := tags[n];
      is_body := quotes % 2 = 0 and regexp_replace(pieces[n], '^.*;'::text, ''::text) ~* (made || '.*\mas\s*$');
      if is_body then
        bodies := bodies || ''::text;
        outside := outside || ('<body ' || cardinality(bodies)::text || '>');
        continue;
      end if;
    elsif opened = tags[n] then
      opened := null;
      continue when is_body;
    end if;
    if is_body then
      bodies[cardinality(bodies)] := bodies[cardinality(bodies)] || tags[n];
    else
      outside := outside || tags[n];
    end if;
  end loop;
  if opened is not null then
    -- Nobody knows what is a body and what is not.
    return array[cleaned, ''::text];
  end if;
  if exists (
    select from regexp_split_to_table(array_to_string(outside, ' '::text), ';'::text) as s (statement)
    where s.statement ~* '\msecurity\s+definer\M' and s.statement !~* '\mlanguage\s+''?(?:c|internal)\M'
  ) then
    return null;
  end if;
  -- An aggregate has a first value, which a domain may check, so its statement calls something, too.
  select
    coalesce(string_agg(s.statement, E';\n'::text) filter (where s.statement !~* (beginning
      || '(?:create\s+(?:cast|operator|type|access\s+method)'
      || '|alter\s+(?:extension|function|operator|type|access\s+method)|drop|comment\s+on|grant|revoke)\M')
      and s.statement !~* made), ''::text),
    coalesce(string_agg(s.statement, E';\n'::text) filter (where s.statement ~* (beginning
      || 'create\s+(?:or\s+replace\s+)?(?:aggregate|cast|operator|type|access\s+method)\M')), ''::text),
    -- A function of another language than these is none of a project's names.
    coalesce(array_agg(s.statement) filter (where s.statement ~* made and s.statement !~* '\mlanguage\s+''?(?:c|internal)\M'), '{}'::text[])
  into calling, naming, functions
  from regexp_split_to_table(array_to_string(outside, ' '::text), ';'::text) as s (statement);
  names := array(
    select lower(trim(both '"' from (regexp_match(f.statement, made, 'i'::text))[1]))
    from unnest(functions) with ordinality as f (statement, number) order by f.number
  );
  unread := lower(calling || naming);
  loop
    more := ''::text;
    for n in 1 .. cardinality(functions) loop
      if strpos(unread, names[n]) > 0 then
        -- Its own name is no call.
        more := more || E';\ndo ' || regexp_replace(functions[n], made, '('::text, 'i'::text) || coalesce(
          (select string_agg(E';\ndo ' || bodies[b.found[1]::integer], ''::text) from regexp_matches(functions[n], '<body (\d+)>', 'g'::text) as b (found)),
          ''::text
        );
        names[n] := null;
      end if;
    end loop;
    exit when more = ''::text;
    calling := calling || more;
    unread := lower(more);
  end loop;
  return array[calling, naming];
end
$$;
revoke all on function _selvedge.split_extension_script(text) from public;
drop function _selvedge.find_calling_statements(text);

-- Objects of others than superusers that a script finds by the names in it: functions, operators, tables, views, sequences, types.
-- `calling` and `naming` are its two parts, null where nobody could read it; `schemas` are those of its path, null where they are not known.
-- In them everything counts of a script without a text. PostgreSQL's own objects come first, so what has the name of one does not count.
create function _selvedge.find_callable_names(calling text, naming text, schemas text[]) returns setof text
  language sql stable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
  with script as (
    select lower(calling || naming) as text, coalesce(calling ~* '\msearch_path\M'::text, false) as changes_path
  ),
  place as (
    select n.oid, case
      when schemas is null or n.nspname::text = any (schemas) or n.oid = pg_my_temp_schema() or s.changes_path then true
      when calling is null or strpos(s.text, lower(n.nspname::text)) = 0 then false
      when n.nspname !~ '^[A-Za-z_][A-Za-z0-9_]*$'::text then true
      else calling || naming ~* ('(^|[^A-Za-z0-9_$])' || n.nspname::text || '([^A-Za-z0-9_$]|$)')
    end as is_reached
    from pg_namespace as n cross join script as s
    where (n.nspname !~ '^pg_(catalog$|toast|temp_)'::text or n.oid = pg_my_temp_schema()) and not exists (
      -- The platform's own. In a database without the platform they are names like any other.
      select from pg_roles as o
      where o.oid = n.nspowner and o.rolsuper
        and n.nspname = any (array['information_schema', '_selvedge', 'selvedge_console']::name[]) and not exists (
          select from aclexplode(n.nspacl) as a left join pg_roles as r on r.oid = a.grantee
          where a.privilege_type = 'CREATE'::text and r.rolsuper is not true
        )
    )
  ),
  planted as (
    select p.oid::regprocedure::text as object, p.proname::text as name, 'function'::text as kind, p.pronamespace as place
    from pg_proc as p join pg_roles as r on r.oid = p.proowner and not r.rolsuper
    -- Default values and VARIADIC let a function be called with the types of another one of PostgreSQL's.
    where not (p.pronargdefaults = 0 and p.provariadic = 0::oid and exists (
      select from pg_proc as c
      where c.pronamespace = 'pg_catalog'::regnamespace and c.proname = p.proname and c.proargtypes = p.proargtypes
    ))
    union all
    select o.oid::regoperator::text, o.oprname::text, 'operator'::text, o.oprnamespace
    from pg_operator as o join pg_roles as r on r.oid = o.oprowner and not r.rolsuper
    where not exists (
      select from pg_operator as c
      where c.oprnamespace = 'pg_catalog'::regnamespace and c.oprname = o.oprname and c.oprleft = o.oprleft and c.oprright = o.oprright
    )
    union all
    select c.oid::regclass::text, c.relname::text, 'relation'::text, c.relnamespace
    from pg_class as c join pg_roles as r on r.oid = c.relowner and not r.rolsuper
    where c.relkind = any (array['r', 'p', 'v', 'm', 'f', 'S']::"char"[])
      and not exists (select from pg_class as k where k.relnamespace = 'pg_catalog'::regnamespace and k.relname = c.relname)
    union all
    -- The row types of tables have the tables' names, and arrays the names of their elements behind an underscore.
    select t.oid::regtype::text, t.typname::text, 'type'::text, t.typnamespace
    from pg_type as t join pg_roles as r on r.oid = t.typowner and not r.rolsuper
    where (t.typrelid = 0::oid or exists (select from pg_class as c where c.oid = t.typrelid and c.relkind = 'c'))
      and not exists (select from pg_type as e where e.typarray = t.oid)
      and not exists (select from pg_type as k where k.typnamespace = 'pg_catalog'::regnamespace and k.typname = t.typname)
  ),
  reached as (
    select p.object, p.name, p.kind from planted as p join place as n on n.oid = p.place and n.is_reached
  ),
  name as (
    select n.name, n.kind, case
      when calling is null then true
      -- The first question is answered fast, and mostly by no.
      when strpos(s.text, lower(n.name)) = 0 then false
      when n.name !~ '^[A-Za-z_][A-Za-z0-9_]*$'::text then true
      when n.kind = 'function'::text then calling ~* ('(^|[^A-Za-z0-9_$])' || n.name || '"?\s*\('::text)
        or naming ~* ('(^|[^A-Za-z0-9_$])' || n.name || '([^A-Za-z0-9_$]|$)')
      else calling ~* ('(^|[^A-Za-z0-9_$])_?' || n.name || '([^A-Za-z0-9_$]|$)')
    end as is_called
    from (select distinct r.name, r.kind from reached as r) as n cross join script as s
  )
  select r.object from reached as r join name as n on n.name = r.name and n.kind = r.kind and n.is_called
  order by r.object
$$;
revoke all on function _selvedge.find_callable_names(text, text, text[]) from public;
drop function _selvedge.find_callable_names(text);

-- As in 0136_extension_scripts.sql, but for all that may be found by a name: nobody else can add an object, or move or rename one or its schema,
-- before the end of this transaction.
create or replace function _selvedge.wait_for_callable_names() returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  deadline timestamptz := clock_timestamp() + '10 seconds'::interval;
  others text[];
begin
  -- No new one is added.
  lock table pg_catalog.pg_namespace, pg_catalog.pg_proc, pg_catalog.pg_operator, pg_catalog.pg_class, pg_catalog.pg_type
    in share row exclusive mode;
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
        message = 'other transactions are open, which may have added something that the script of an extension would call',
        hint = 'Repeat it when they have ended.';
    end if;
    perform pg_sleep(0.02);
  end loop;
end
$$;

-- As in 0155_extension_names.sql. Of an extension that the server brings along, PostgreSQL may have the files of somebody else.
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
      where s.name = extension_name
        and (_selvedge.needs_script(s.name) or strpos(_selvedge.read_extension_scripts(s.name, 'CREATE EXTENSION'::text, null), s.script) > 0)
    )
$$;

-- Refuses a statement about an extension whose script could call something of the project. `callers` are the lines of PG_CONTEXT behind the
-- trigger's own; none of them when the client has sent the statement itself.
create or replace function _selvedge.check_extension_statement(tag text, callers text) returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
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
    end if;
    parts := _selvedge.split_extension_script(_selvedge.read_extension_scripts(extension.name, tag, case
      when extension.name = named then statement[3]
      -- CASCADE takes the version of the control file, and so does a statement that names none.
      when named is null and (tag <> 'CREATE EXTENSION'::text or mentioning is null or strpos(mentioning, 'version'::text) > 0) then ''::text
    end));
    -- That of pgvector, for example, only makes functions and types.
    continue when parts[1] !~ '\w'::text;
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
      then 'Create it in a schema that has none of these (CREATE EXTENSION … SCHEMA …), create it before them, or rename them for the time being.'
      else 'Rename them for the time being.' end;
end
$$;
