-- As in 0191_extension_script_pieces.sql, but of a function of a library every default value counts that is no plain one, as an operator or a domain is
-- computed by the caller, too, and a table that is read by a name of pieces may be a view. A path that ALTER FUNCTION sets is one of the function, and
-- RESET ALL changes the path as well.

create or replace function _selvedge.builds_names(code text) returns boolean
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  told constant text collate "C" := '\mexecute\s+(?:(?:function|procedure|on)\M|(?:''[^'']*''|<body \d+>)+\s*(?=;|into\M|using\M|loop\M|$))';
  -- Functions that run a text, of PostgreSQL and of contrib. Some may be given one that stands there whole.
  named constant text collate "C" := '\m(?:execute|plpy|spi_\w+|ts_rewrite|ts_stat|(?:query|table|schema|database)_to_xml\w*|dblink\w*|crosstab\w*|connectby|xpath_table)\M';
  running constant text collate "C" := '\m(?:(?:execute|plpy|spi_\w+)\M|(?:ts_rewrite|(?:schema|database)_to_xml\w*|dblink\w*|crosstab\w*|connectby|xpath_table)"?\s*(?:[(]|/[*]|--)'
    || '|(?:(?:query|table)_to_xml\w*|ts_stat)"?\s*(?:[(](?!\s*(?:''[^'']*'')+\s*[,)])|/[*]|--))';
  statements text[];
  bodies text[];
begin
  if code is null or code !~* named then
    return false;
  end if;
  select r.statements, r.bodies into statements, bodies from _selvedge.read_script_statements(code) as r;
  -- Where it cannot be read its comments count as well.
  return regexp_replace(coalesce(array_to_string(statements || bodies, ';'), code), told, '', 'gi') ~* running;
end
$$;

create or replace function _selvedge.split_extension_script(script text) returns text[]
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  made constant text collate "C" := '^\s*create\s+(?:or\s+replace\s+)?(?:function|procedure)\s+(?:(?:"[^"]+"|[\w$@]+)\s*\.\s*)?("[^"]+"|[\w$]+)\s*\(';
  of_library constant text collate "C" := '\mlanguage\s+(?:''(?:c|internal)''|(?:c|internal)\M)';
  -- The second one may be the name of an argument.
  of_two constant text collate "C" := '\mlanguage\M.*\mlanguage\M';
  -- Whoever calls a function computes the default values of its arguments.
  of_default constant text collate "C" := '\mdefault\M|=';
  -- These call nothing. Other types may be domains of the project.
  plain_default constant text collate "C" := '(?:\mdefault\M|=)\s*(?:[en]?(?:''(?:c|internal)?'')+|[-+]?[0-9.]+|null|true|false)'
    || '(?:\s*::\s*(?:pg_catalog\s*\.\s*)?(?:text|bytea|bool|boolean|int[248]?|integer|bigint|smallint|float[48]|real|numeric|jsonb?|name|oid|uuid'
    || '|date|interval|timestamptz?|varchar|double\s+precision|character\s+varying)(?:\s*\[\s*\])*)*\s*(?=[,)])';
  definer constant text collate "C" := '\msecurity\s+definer\M';
  value constant text collate "C" := '(?:[en]?(?:''(?:c|internal)?'')+|-?[0-9.]+|null|true|false|default)';
  row_of_values constant text collate "C" := '[(]\s*' || value || '(?:\s*,\s*' || value || ')*\s*[)]';
  -- Rows of values call nothing. PostGIS has eight thousand.
  of_values constant text collate "C" := '^\s*insert\s+into\s+[^()'']*(?:[(][^()'']*[)])?\s*\mvalues\s*' || row_of_values
    || '(?:\s*,\s*' || row_of_values || ')*\s*(?:on\s+conflict\s*(?:[(][^()'']*[)])?\s*do\s+nothing\s*)?$';
  reset_all constant text collate "C" := '\mreset\s+all\M';
  no_letters constant text := E'\t\n\x0b\f\r !"#$%&''()*+,-./:;<=>?@[\\]^`{|}~';
  gaps constant text := repeat(' ', length(no_letters));
  statements text[] collate "C";
  outlines text[] collate "C";
  kinds text[];
  bodies text[] collate "C";
  hides_letters boolean;
  is_definer boolean;
  called text[] collate "C";
  calling text collate "C";
  naming text collate "C";
  functions text[] collate "C";
  names text[] collate "C";
  -- The places of plain names among all, and those of other names.
  places jsonb;
  others integer[];
  unread text collate "C";
  reached integer[];
  n integer;
begin
  if script is null then
    return null;
  end if;
  -- PostgreSQL leaves out these lines, too.
  select r.statements, r.outlines, r.bodies, r.hides_letters into statements, outlines, bodies, hides_letters
  from _selvedge.read_script_statements(regexp_replace(script, '^\\echo.*$', '', 'ng')) as r;
  if statements is null then
    script := regexp_replace(script, reset_all, 'reset search_path', 'gi');
    return case when _selvedge.builds_names(script) then array[null, script] else array[script, ''] end;
  end if;
  kinds := array(
    select case
        when o.outline ~* made then
          case when o.outline ~* of_library and o.outline !~* of_two and regexp_replace(o.outline, plain_default, '', 'gi') !~* of_default then 'function of a library' else 'function' end
        when o.outline ~* of_values then 'values'
        when o.outline ~* '^\s*create\s+(?:or\s+replace\s+)?aggregate\M' then 'aggregate'
        when o.outline ~* '^\s*create\s+(?:cast|operator|type|access\s+method)\M' then 'naming'
        when o.outline ~* '^\s*alter\s+function\M.*\msearch_path\M' then 'calling'
        when o.outline ~* '^\s*(?:alter\s+(?:extension|function|operator|type|access\s+method)|drop|comment\s+on|grant|revoke)\M' then 'silent'
        else 'calling' end
    from unnest(outlines) with ordinality as o (outline, number) order by o.number
  );
  -- An aggregate has a first value, which a domain may check, so its statement calls something, too.
  select
    coalesce(string_agg(
      case when s.kind = 'values' then regexp_replace(s.outline, '\mvalues\M.*$', 'values ()', 'i') else s.statement end, E';\n'
    ) filter (where s.kind in ('values', 'aggregate', 'calling')), ''),
    coalesce(string_agg(s.statement, E';\n') filter (where s.kind in ('aggregate', 'naming')), ''),
    coalesce(array_agg(s.statement order by s.number) filter (where s.kind = 'function'), '{}'),
    coalesce(
      array_agg(lower(trim(both '"' from (regexp_match(s.outline, made, 'i'))[1])) order by s.number) filter (where s.kind = 'function'), '{}'
    ),
    -- Whoever calls such a function goes on to run it. What is written in C has no names in it.
    coalesce(bool_or(s.statement ~* definer) filter (where s.kind <> 'function of a library'), false)
  into calling, naming, functions, names, is_definer
  from unnest(statements, outlines, kinds) with ordinality as s (statement, outline, kind, number);
  -- What stands between dollars in these statements runs as well: that of DO blocks.
  unread := (
    select string_agg(bodies[b.found[1]::integer], E';\n')
    from regexp_matches(calling, '<body (\d{1,9})>', 'g') as b (found)
  );
  is_definer := is_definer or coalesce(unread ~* definer, false);
  called := array[calling, coalesce(unread, '')];
  unread := lower(array_to_string(called || naming, E';\n'));
  places := coalesce((
    select jsonb_object_agg(p.name, p.places)
    from (
      select f.name, jsonb_agg(f.number) as places
      from unnest(names) with ordinality as f (name, number) where f.name ~ '^[a-z0-9_]+$' group by f.name
    ) as p
  ), '{}');
  others := array(select f.number::integer from unnest(names) with ordinality as f (name, number) where f.name !~ '^[a-z0-9_]+$');
  -- The functions of the script that are called, and those that these call.
  loop
    reached := array(
      with word (word) as materialized (
        select string_to_table(translate(unread, no_letters, gaps), ' ')
        union all
        -- Behind a backslash stands no letter of a name in a text with escapes.
        select string_to_table(translate(regexp_replace(unread, '\\.', ' ', 'g'), no_letters, gaps), ' ') where strpos(unread, '\') > 0
      )
      select c.number
      from (
        select p.place::integer from word as w cross join jsonb_array_elements_text(places -> w.word) as p (place)
        union
        -- In encodings of one byte a letter of another language may be a variant of the one that is written.
        select o.place from unnest(others) as o (place)
        where names[o.place] ~ '[^\x01-\x7f]' or strpos(unread, names[o.place]) > 0
      ) as c (number)
      where names[c.number] is not null
      order by c.number
    );
    exit when reached = '{}';
    -- Its own name is no call.
    unread := (
      select string_agg(E';\ndo ' || regexp_replace(functions[c.number], made, '(', 'i') || coalesce((
          select string_agg(E';\ndo ' || bodies[b.found[1]::integer], '')
          from regexp_matches(functions[c.number], '<body (\d{1,9})>', 'g') as b (found)
        ), ''), '' order by c.number)
      from unnest(reached) as c (number)
    );
    called := called || unread;
    unread := lower(unread);
    foreach n in array reached loop
      names[n] := null;
    end loop;
  end loop;
  calling := regexp_replace(array_to_string(called, E';\n'), reset_all, 'reset search_path', 'gi');
  if is_definer or hides_letters or _selvedge.builds_names(calling) then
    return array[null, calling || E';\n' || naming];
  end if;
  return array[calling, naming];
end
$$;
