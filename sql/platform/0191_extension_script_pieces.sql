-- As in 0190_extension_script_tokens.sql, but a long text with many delimiters takes no longer than its length, comments and quotes do not hide a
-- function that runs a text, and of a function of a library those names count that its default values are computed by.

create or replace function _selvedge.read_script_statements(
  script text, out statements text[], out outlines text[], out bodies text[], out hides_letters boolean
)
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  edge constant text := chr(1);
  newline constant text := chr(10);
  -- A letter, of whatever language, a figure, an underscore or a dollar goes on with a name. All others are these.
  no_letter constant text := '[\x01-#%-/:-@[-^`{-\x7f]';
  escapes constant text := '^' || no_letter || '?[eE]$';
  tag constant text := '^[^\x01-@[-^`{-\x7f][^\x01-/:-@[-^`{-\x7f]*$';
  marked text := replace(script, chr(13), newline);
  delimiter text;
  -- Every second one is a delimiter, and the others stand between them.
  tokens text[];
  following text;
  -- What the delimiter is in: code, a text, one with escapes, a name, a line that is a comment, a comment, or a body between dollars.
  place text := 'code';
  depth integer;
  content text;
  -- What stands in a text or a name, in pieces.
  contents text[];
  opened text;
  body text[];
  is_in_mark boolean := false;
  -- The last two letters of the code since the last text, name or body, and the kind of the text if nothing stands between.
  before text;
  ended text;
  -- A text with escapes goes on in the next line where a quote begins it.
  goes_on boolean := false;
  has_newline boolean;
  code text;
  first_newline integer;
  said text[];
  outlined text[];
begin
  hides_letters := false;
  bodies := '{}'::text[];
  if strpos(script, edge) > 0 then
    return;
  end if;
  foreach delimiter in array array['''', '"', '--', '/*', '*/', '$'] loop
    marked := replace(marked, delimiter, edge || delimiter || edge);
  end loop;
  tokens := string_to_array(marked, edge);
  before := right(tokens[1], 2);
  said := array[tokens[1]];
  outlined := said;
  for n in 1 .. cardinality(tokens) / 2 loop
    delimiter := tokens[2 * n];
    following := tokens[2 * n + 1];
    code := null;
    if is_in_mark then
      -- The second dollar of a mark.
      is_in_mark := false;
      if place = 'body' then
        body := array[following];
        continue;
      end if;
      code := following;
    elsif place = 'body' then
      if delimiter = '$' and following = opened and tokens[2 * n + 2] = '$' then
        bodies := array_append(bodies, array_to_string(body, ''));
        place := 'code';
        is_in_mark := true;
      else
        body := array_append(body, delimiter);
        body := array_append(body, following);
      end if;
      continue;
    elsif place = 'code' then
      if delimiter = '--' then
        place := 'line';
      elsif delimiter = '/*' then
        place := 'comment';
        depth := 1;
      elsif delimiter = '''' then
        place := case
          when before = '' and ended is not null then ended
          when goes_on and has_newline or right(before, 2) ~ escapes then 'escapes'
          else 'text' end;
        hides_letters := hides_letters or lower(right(before, 2)) = 'u&';
      elsif delimiter = '"' then
        place := 'name';
        hides_letters := hides_letters or lower(right(before, 2)) = 'u&';
      elsif delimiter = '$' and tokens[2 * n + 2] = '$' and (following = '' or following ~ tag) and (before = '' or right(before, 1) ~ no_letter) then
        place := 'body';
        opened := following;
        is_in_mark := true;
        said := array_append(said, '<body ' || (cardinality(bodies) + 1)::text || '>');
        outlined := array_append(outlined, said[cardinality(said)]);
      else
        -- A part of a name or of an operator.
        following := delimiter || following;
        said := array_append(said, following);
        outlined := array_append(outlined, following);
        before := right(before || following, 2);
        goes_on := false;
        ended := null;
        continue;
      end if;
      ended := null;
      goes_on := goes_on and place = 'line';
      contents := array[following];
      if place <> 'line' then
        continue;
      end if;
    elsif place = 'comment' then
      if delimiter = '*/' then
        depth := depth - 1;
      elsif delimiter = '/*' then
        if right(tokens[2 * n - 1], 1) = '*' then
          -- PostgreSQL reads the end of a comment and then an asterisk.
          statements := null;
          bodies := null;
          return;
        end if;
        depth := depth + 1;
      end if;
      if depth > 0 then
        continue;
      end if;
      place := 'code';
      code := ' ' || following;
    elsif place = 'name' then
      if delimiter <> '"' then
        contents := array_append(contents, delimiter);
        contents := array_append(contents, following);
        continue;
      end if;
      content := '"' || replace(array_to_string(contents, ''), ';', ' ') || '"';
      said := array_append(said, content);
      outlined := array_append(outlined, content);
      place := 'code';
      code := following;
    elsif place <> 'line' then
      if delimiter <> '''' or place = 'escapes' and (length(tokens[2 * n - 1]) - length(rtrim(tokens[2 * n - 1], '\'))) % 2 = 1 then
        contents := array_append(contents, delimiter);
        contents := array_append(contents, following);
        continue;
      end if;
      content := array_to_string(contents, '');
      if place = 'escapes' and strpos(content, '\') > 0 then
        content := replace(content, '\\', '  ');
        hides_letters := hides_letters or content ~ '\\[0-7xuU]';
        content := regexp_replace(content, '\\.', ' ', 'g');
      end if;
      said := array_append(said, '''' || replace(content, ';', ' ') || '''');
      outlined := array_append(outlined, case when lower(content collate "C") in ('c', 'internal') then '''' || content || '''' else '''''' end);
      ended := place;
      goes_on := place = 'escapes';
      has_newline := false;
      before := '';
      place := 'code';
      code := following;
      if code = '' then
        continue;
      end if;
    end if;
    if place = 'line' then
      first_newline := strpos(following, newline);
      if first_newline = 0 then
        continue;
      end if;
      place := 'code';
      code := substr(following, first_newline);
    end if;
    said := array_append(said, code);
    outlined := array_append(outlined, code);
    before := right(code, 2);
    ended := null;
    if goes_on then
      goes_on := code ~ '^[ \t\n\f\v]*$';
      has_newline := has_newline or strpos(code, newline) > 0;
    end if;
  end loop;
  if place not in ('code', 'line') then
    bodies := null;
    return;
  end if;
  statements := string_to_array(array_to_string(said, ''), ';');
  outlines := string_to_array(array_to_string(outlined, ''), ';');
end
$$;

create or replace function _selvedge.builds_names(code text) returns boolean
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  told constant text collate "C" := '\mexecute\s+(?:(?:function|procedure|on)\M|(?:''[^'']*''|<body \d+>)+\s*(?=;|into\M|using\M|loop\M|$))';
  -- Functions that run a text, of PostgreSQL and of contrib. Some may be given one that stands there whole.
  named constant text collate "C" := '\m(?:execute|plpy|spi_\w+|ts_rewrite|ts_stat|(?:query|schema|database)_to_xml\w*|dblink\w*|crosstab\w*|connectby|xpath_table)\M';
  running constant text collate "C" := '\m(?:(?:execute|plpy|spi_\w+)\M|(?:ts_rewrite|(?:schema|database)_to_xml\w*|dblink\w*|crosstab\w*|connectby|xpath_table)"?\s*(?:[(]|/[*]|--)'
    || '|(?:query_to_xml\w*|ts_stat)"?\s*(?:[(](?!\s*(?:''[^'']*'')+\s*[,)])|/[*]|--))';
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
  of_default constant text collate "C" := '(?:\mdefault\M|=)[^,()]*[(]';
  definer constant text collate "C" := '\msecurity\s+definer\M';
  value constant text collate "C" := '(?:[en]?(?:''(?:c|internal)?'')+|-?[0-9.]+|null|true|false|default)';
  row_of_values constant text collate "C" := '[(]\s*' || value || '(?:\s*,\s*' || value || ')*\s*[)]';
  -- Rows of values call nothing. PostGIS has eight thousand.
  of_values constant text collate "C" := '^\s*insert\s+into\s+[^()'']*(?:[(][^()'']*[)])?\s*\mvalues\s*' || row_of_values
    || '(?:\s*,\s*' || row_of_values || ')*\s*(?:on\s+conflict\s*(?:[(][^()'']*[)])?\s*do\s+nothing\s*)?$';
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
    return case when _selvedge.builds_names(script) then array[null, script] else array[script, ''] end;
  end if;
  kinds := array(
    select case
        when o.outline ~* made then
          case when o.outline ~* of_library and o.outline !~* of_two and o.outline !~* of_default then 'function of a library' else 'function' end
        when o.outline ~* of_values then 'values'
        when o.outline ~* '^\s*create\s+(?:or\s+replace\s+)?aggregate\M' then 'aggregate'
        when o.outline ~* '^\s*create\s+(?:cast|operator|type|access\s+method)\M' then 'naming'
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
  calling := array_to_string(called, E';\n');
  if is_definer or hides_letters or _selvedge.builds_names(calling) then
    return array[null, calling || E';\n' || naming];
  end if;
  return array[calling, naming];
end
$$;
