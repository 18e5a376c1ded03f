-- As in 0194_extension_script_defaults.sql, but types count that are named in the arguments of functions, in columns of types, by casts and by operators.
-- A value that is given to an argument is checked by the domain that its type is, in the statement that calls the function, and a text that is
-- the default value of an array or of a row is read already when the function is made. So a domain of the project ran as a superuser.

-- Names of types that statements of these kinds have, but for PostgreSQL's own. Where nothing is called, only those of functions count that have a
-- text as default value.
create function _selvedge.find_named_types(outlines text[], kinds text[], calls boolean) returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
  with pattern as (
    select
      -- Up to the parenthesis that closes the first one, with three levels of others between.
      ('^(?:[^("]|"[^"]*")*\(('::text || replace(replace(replace(p.level, 'X'::text, p.level), 'X'::text, p.level), 'X'::text, '[^()]*'::text) || ')\)'::text)
        collate "C" as arguments,
      ('^\s*(?:(?:in|out|inout|variadic)\s+)?(?:'::text || p.word || '\s+(?!default\M)(?=[^\s=''<]))?'::text) collate "C" as name_before_type,
      p.word collate "C" as word
    from (values (
      '(?:[^()"]|"[^"]*"|\(X\))*'::text, '(?:"[^"]*"|[^\s"(),;''=<>+*/|&!~#%^?\[\]-])+'::text
    )) as p (level, word)
  ),
  statement as (
    select s.kind, regexp_replace(s.outline, '\s*\.\s*'::text, '.'::text, 'g'::text) collate "C" as outline
    from unnest(outlines, kinds) as s (outline, kind)
    where s.kind = 'function'::text or s.kind = 'function of a library'::text or s.kind = 'naming'::text and calls
  ),
  list as (
    -- Behind RETURN and BEGIN ATOMIC everything is read when the function is made.
    select concat_ws(','::text,
      coalesce((regexp_match(s.outline, p.arguments))[1], s.outline),
      case when s.kind <> 'naming'::text then substring(s.outline from '(?i)\m(?:return|begin\s+atomic)\M.*$'::text) end
    ) as list
    from statement as s cross join pattern as p
    where s.kind <> 'naming'::text or s.outline ~* '^\s*create\s+type\M[^(]*\mas\s*\('::text
  ),
  piece as (
    select regexp_replace(regexp_replace(s.piece, '\s*\[\s*[0-9]*\s*\]|\s+array\M'::text, ''::text, 'gi'::text), p.name_before_type, ''::text, 'i'::text) as piece
    from list as l
    cross join string_to_table(translate(replace(l.list, '::'::text, ' '::text), '()'::text, ',,'::text), ','::text) as s (piece)
    cross join pattern as p
    where calls or l.list ~ '''|<body'::text
    union all
    select o.found[1]
    from statement as s
    cross join regexp_matches(s.outline, '\m(?:leftarg|rightarg|subtype|element|like)\s*=\s*([^,)]*)'::text, 'gi'::text) as o (found)
    where s.kind = 'naming'::text
    union all
    select regexp_replace((regexp_match(s.outline, p.arguments))[1], '\mas\M'::text, ','::text, 'i'::text)
    from statement as s cross join pattern as p
    where s.kind = 'naming'::text and s.outline ~* '^\s*create\s+cast\M'::text
  ),
  word as (
    select distinct w.found[1] as word
    from piece as s cross join pattern as p cross join regexp_matches(s.piece, p.word, 'g'::text) as w (found)
  )
  select string_agg(w.word, ', '::text order by w.word)
  from word as w
  where w.word !~ '^[0-9]'::text and w.word !~* '^pg_catalog\.'::text and w.word !~* (
      '^(?:in|out|inout|variadic|default|null|true|false|cast|as|array|integer|int|smallint|bigint|real|float|double|precision|decimal|dec|boolean'
      || '|character|varying|national|with|without|zone|search_path)$'
    )::text and not exists (
      select from pg_type as t where t.typnamespace = 'pg_catalog'::regnamespace and t.typname = lower(w.word)::name
    )
$$;
revoke all on function _selvedge.find_named_types(text[], text[], boolean) from public;

create or replace function _selvedge.split_extension_script(script text) returns text[]
  language plpgsql stable
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
        when o.outline ~* '^\s*alter\s+type\M.*\mattribute\M' then 'calling'
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
  is_definer := is_definer or hides_letters or _selvedge.builds_names(calling);
  -- Without parentheses, so that no function is found by these names.
  calling := concat_ws(E';\n', nullif(calling, ''), _selvedge.find_named_types(outlines, kinds, calling ~ '[[:alnum:]]'));
  if is_definer then
    return array[null, calling || E';\n' || naming];
  end if;
  return array[calling, naming];
end
$$;
