-- What the script of an extension is made of, and which scripts are known. The reader of 0166_extension_path_objects.sql took the end of a line
-- for a comment where it was a part of a text of several lines, and with it the end of the text and the statement behind it.

-- A part of a script between the marks of dollar quotes, without comments, and with no semicolon but those that end statements. Null where it ends
-- within a text, a quoted name or a comment, so that the mark behind it is none.
create function _selvedge.clean_script_part(part text) returns text
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  line_comment constant text := '--[^\n\r]*';
  comment constant text := '/[*](?:[^*]|[*]+[^*/])*[*]+/';
  name constant text := '"(?:[^"]|"")*"';
  -- A text with escapes goes on in the next line where a quote begins it.
  escapes constant text := '''(?:[^''\\]|\\.|'''')*';
  escaped constant text := '\m[eE]' || escapes || '''(?:[ \t]*[\n\r]\s*' || escapes || ''')*';
  plain constant text := '''(?:[^'']|'''')*''';
  -- A row of values calls nothing. PostGIS has eight thousand.
  value constant text := '(?:' || plain || '|-?[0-9.]+|[nN][uU][lL][lL])';
  row_of_values constant text := '[(](?:' || value || '\s*,\s*)+' || value || '[)]';
  ended constant text := row_of_values || '|' || line_comment || '[\n\r]|' || comment || '|' || name || '|' || escaped || '|' || plain;
  lexeme constant text := ended || '|' || line_comment || '$|/[*](?:[^*]|[*]+[^*/])*[*]*$|"(?:[^"]|"")*$'
    || '|\m[eE]' || escapes || '\\?$|''(?:[^'']|'''')*$';
  texts constant text[] := regexp_split_to_array(part, lexeme);
  lexemes constant text[] := array(select m.found[1] from regexp_matches(part, '(' || lexeme || ')', 'g'::text) as m (found));
begin
  if texts[cardinality(texts)] = ''::text and lexemes[cardinality(lexemes)] !~ ('^(?:' || ended || ')$') then
    return null;
  end if;
  -- A comment may hold others, whose end is not its own.
  if exists (select from unnest(lexemes) as l (lexeme) where starts_with(l.lexeme, '/*'::text) and strpos(substr(l.lexeme, 3), '/*'::text) > 0) then
    return null;
  end if;
  return (
    select string_agg(p.text || case
        when p.lexeme is null then ''::text
        when starts_with(p.lexeme, '--'::text) then E'\n'
        when starts_with(p.lexeme, '/*'::text) then ' '::text
        when starts_with(p.lexeme, '('::text) then '()'::text
        else replace(p.lexeme, ';'::text, ' '::text) end, ''::text order by p.number)
    from unnest(texts, lexemes) with ordinality as p (text, lexeme, number)
  );
end
$$;
revoke all on function _selvedge.clean_script_part(text) from public;

-- As in 0166_extension_path_objects.sql, but texts, names and comments are read as PostgreSQL reads them, and a function counts as one of a
-- library only if nothing else than the name of its language says so. A script that cannot be read so is a part that calls, as a whole.
create or replace function _selvedge.split_extension_script(script text) returns text[]
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  tag_pattern constant text := '[$](?:[A-Za-z_][A-Za-z0-9_]*)?[$]';
  made constant text := '^\s*create\s+(?:or\s+replace\s+)?(?:function|procedure)\s+(?:(?:"[^"]+"|[\w$@]+)\s*\.\s*)?("[^"]+"|[\w$]+)\s*\(';
  of_library constant text := '\mlanguage\s+(?:''(?:c|internal)''|(?:c|internal)\M)';
  -- One of the words may be in the text of the function.
  of_two constant text := '\mlanguage\M.*\mlanguage\M';
  -- PostgreSQL leaves out these lines, too.
  without_commands constant text := regexp_replace(script || E'\n', '^\\echo.*$', ''::text, 'ng'::text);
  pieces constant text[] := regexp_split_to_array(without_commands, tag_pattern);
  tags constant text[] := array(select t.found[1] from regexp_matches(without_commands, '(' || tag_pattern || ')', 'g'::text) as t (found));
  outside text[] := '{}';
  bodies text[] := '{}';
  pending text := ''::text;
  joined integer := 0;
  part text;
  opened text;
  is_body boolean := false;
  statements text[];
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
  -- Bodies between dollars are taken out, and numbered in their places. Those of DO blocks stay.
  for n in 1 .. cardinality(pieces) loop
    if opened is null then
      pending := pending || pieces[n];
      part := _selvedge.clean_script_part(pending);
      if part is null then
        -- Each of these is read again with what follows.
        joined := joined + 1;
        if n > cardinality(tags) or joined > 20 then
          return array[script, ''::text];
        end if;
        pending := pending || tags[n];
        continue;
      end if;
      pending := ''::text;
      joined := 0;
      outside := outside || part;
      exit when n > cardinality(tags);
      opened := tags[n];
      is_body := regexp_replace(part, '^.*;'::text, ''::text) ~* (made || '.*\mas\s*$');
      if is_body then
        bodies := bodies || ''::text;
        outside := outside || ('<body ' || cardinality(bodies)::text || '>');
      else
        outside := outside || opened;
      end if;
      continue;
    end if;
    if is_body then
      bodies[cardinality(bodies)] := bodies[cardinality(bodies)] || pieces[n];
    else
      outside := outside || pieces[n];
    end if;
    exit when n > cardinality(tags);
    if not is_body then
      outside := outside || tags[n];
    elsif opened <> tags[n] then
      bodies[cardinality(bodies)] := bodies[cardinality(bodies)] || tags[n];
    end if;
    if opened = tags[n] then
      opened := null;
    end if;
  end loop;
  if opened is not null then
    -- Nobody knows what is a body and what is not.
    return array[script, ''::text];
  end if;
  statements := regexp_split_to_array(array_to_string(outside, ' '::text), ';'::text);
  if exists (
    select from unnest(statements) as s (statement)
    where s.statement ~* '\msecurity\s+definer\M' and not (s.statement ~* of_library and s.statement !~* of_two)
  ) then
    return null;
  end if;
  -- An aggregate has a first value, which a domain may check, so its statement calls something, too.
  select
    coalesce(string_agg(s.statement, E';\n'::text) filter (where s.statement !~* (
      '^\s*(?:create\s+(?:cast|operator|type|access\s+method)'
      || '|alter\s+(?:extension|function|operator|type|access\s+method)|drop|comment\s+on|grant|revoke)\M')
      and s.statement !~* made), ''::text),
    coalesce(string_agg(s.statement, E';\n'::text) filter (where s.statement ~* (
      '^\s*create\s+(?:or\s+replace\s+)?(?:aggregate|cast|operator|type|access\s+method)\M')), ''::text),
    -- A function of a library is none of a project's names.
    coalesce(array_agg(s.statement) filter (where s.statement ~* made and not (s.statement ~* of_library and s.statement !~* of_two)), '{}'::text[])
  into calling, naming, functions
  from unnest(statements) as s (statement);
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
