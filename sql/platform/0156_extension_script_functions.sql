-- Functions that the script of an extension makes and calls itself. 0155_extension_names.sql left out the bodies of all functions; what a script
-- calls runs while it runs, with its search path.

create or replace function _selvedge.find_calling_statements(script text) returns text
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  -- Comments and commands of psql are none of its statements.
  cleaned constant text := regexp_replace(
    regexp_replace(script, E'^\\\\[^\n]*'::text, ''::text, 'gn'::text), '--[^\n]*'::text, ''::text, 'g'::text
  );
  tag_pattern constant text := '[$](?:[A-Za-z_][A-Za-z0-9_]*)?[$]';
  beginning constant text := '^\s*(?:/\*(?:[^*]|\*[^/])*\*/\s*)*';
  made constant text := beginning || 'create\s+(?:or\s+replace\s+)?(?:function|procedure)\s+(?:(?:"[^"]+"|[\w$@]+)\s*\.\s*)?("[^"]+"|[\w$]+)\s*\(';
  pieces constant text[] := regexp_split_to_array(cleaned, tag_pattern);
  tags constant text[] := array(select t.found[1] from regexp_matches(cleaned, '(' || tag_pattern || ')', 'g'::text) as t (found));
  outside text[] := '{}';
  bodies text[] := '{}';
  opened text;
  is_body boolean := false;
  quotes integer := 0;
  calling text;
  mentioning text;
  functions text[];
  name text;
  is_added boolean;
begin
  if script is null then
    return null;
  end if;
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
    return cleaned;
  end if;
  -- What is left when statements are gone that call nothing while they run. Those that name functions without a call, such as of
  -- operators, may have them called by others.
  select
    coalesce(string_agg(s.statement, E';\n'::text) filter (where s.statement !~* (beginning
      || '(?:create\s+(?:or\s+replace\s+)?(?:function|procedure|aggregate|cast|operator|type|access\s+method)'
      || '|alter\s+(?:extension|function|operator|type|access\s+method)|drop|comment\s+on|grant|revoke)\M')), ''::text),
    coalesce(string_agg(s.statement, E';\n'::text) filter (where s.statement ~* (beginning
      || 'create\s+(?:aggregate|cast|operator|type|access\s+method)\M')), ''::text),
    -- A function of another language than these is none of a project's names.
    coalesce(array_agg(s.statement) filter (where s.statement ~* made and s.statement !~* '\mlanguage\s+''?(?:c|internal)\M'), '{}'::text[])
  into calling, mentioning, functions
  from regexp_split_to_table(array_to_string(outside, ' '::text), ';'::text) as s (statement);
  loop
    is_added := false;
    for n in 1 .. cardinality(functions) loop
      continue when functions[n] is null;
      name := lower(trim(both '"' from (regexp_match(functions[n], made, 'i'::text))[1]));
      if strpos(lower(calling || mentioning), name) > 0 then
        -- Its own name is no call.
        calling := calling || E';\ndo ' || regexp_replace(functions[n], made, '('::text, 'i'::text) || coalesce(
          (select string_agg(E';\ndo ' || bodies[b.found[1]::integer], ''::text) from regexp_matches(functions[n], '<body (\d+)>', 'g'::text) as b (found)),
          ''::text
        );
        functions[n] := null;
        is_added := true;
      end if;
    end loop;
    exit when not is_added;
  end loop;
  return calling;
end
$$;
drop function _selvedge.cut_function_bodies(text);
