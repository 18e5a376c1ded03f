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
  -- Behind what may be a part of a name: a letter, of whatever language, a figure or a dollar.
  begun constant text := '(?<![^\x01-#%-/:-@[-^`{-\x7f])';
  -- A text with escapes goes on in the next line where a quote begins it.
  escapes constant text := '''(?:[^''\\]|\\.|'''')*';
  escaped constant text := begun || '[eE]' || escapes || '''(?:[ \t]*[\n\r]\s*' || escapes || ''')*';
  plain constant text := '''(?:[^'']|'''')*''';
  -- A row of values calls nothing. PostGIS has eight thousand.
  value constant text := '(?:' || plain || '|-?[0-9.]+|[nN][uU][lL][lL])';
  row_of_values constant text := '[(](?:' || value || '\s*,\s*)+' || value || '[)]';
  ended constant text := row_of_values || '|' || line_comment || '[\n\r]|' || comment || '|' || name || '|' || escaped || '|' || plain;
  lexeme constant text := ended || '|' || line_comment || '$|/[*](?:[^*]|[*]+[^*/])*[*]*$|"(?:[^"]|"")*$'
    || '|' || begun || '[eE]' || escapes || '\\?$|''(?:[^'']|'''')*$';
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
-- Texts have the collation C, because with that of a Turkish database the small letter of I would be another one than i.
create or replace function _selvedge.split_extension_script(script text) returns text[]
  language plpgsql immutable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
declare
  -- The first dollar of a mark. The last one of a mark that ends no body may be the first one of another.
  first_dollar constant text collate "C" := '[$](?=(?:[^\x01-@[-^`{-\x7f][^\x01-/:-@[-^`{-\x7f]*)?[$])';
  made constant text collate "C" := '^\s*create\s+(?:or\s+replace\s+)?(?:function|procedure)\s+(?:(?:"[^"]+"|[\w$@]+)\s*\.\s*)?("[^"]+"|[\w$]+)\s*\(';
  of_library constant text collate "C" := '\mlanguage\s+(?:''(?:c|internal)''|(?:c|internal)\M)';
  -- One of the words may be in the text of the function.
  of_two constant text collate "C" := '\mlanguage\M.*\mlanguage\M';
  plain constant text collate "C" := '''(?:[^'']|'''')*''';
  definer constant text collate "C" := '\msecurity\s+definer\M';
  -- PostgreSQL leaves out these lines, too.
  without_commands constant text collate "C" := regexp_replace(script || E'\n', '^\\echo.*$', ''::text, 'ng'::text);
  pieces constant text[] collate "C" := regexp_split_to_array(without_commands, first_dollar);
  outside text[] collate "C" := '{}';
  bodies text[] collate "C" := '{}';
  pending text collate "C" := pieces[1];
  joined integer := 0;
  part text collate "C";
  mark text collate "C";
  opened text collate "C";
  rest text collate "C";
  is_mark boolean;
  is_in_mark boolean := false;
  statements text[] collate "C";
  are_of_library boolean[];
  calling text collate "C";
  run text collate "C";
  naming text collate "C";
  functions text[] collate "C";
  names text[] collate "C";
  unread text collate "C";
  more text collate "C";
begin
  if script is null then
    return null;
  end if;
  -- Bodies between dollars are taken out, and numbered in their places, because their semicolons end no statement of the script.
  for n in 2 .. cardinality(pieces) loop
    mark := '$'::text || split_part(pieces[n], '$'::text, 1) || '$'::text;
    rest := '$'::text || pieces[n];
    is_mark := false;
    if is_in_mark then
      -- This dollar is the last one of the mark before.
      rest := pieces[n];
    elsif opened is null then
      part := _selvedge.clean_script_part(pending);
      is_mark := part is not null;
      -- A part that ends within a text or a comment is read again with what follows.
      joined := case when is_mark then 0 else joined + 1 end;
      if joined > 20 then
        return array[script, ''::text];
      end if;
      if is_mark then
        opened := mark;
        bodies := bodies || ''::text;
        outside := outside || part || ('<body ' || cardinality(bodies)::text || '>');
        pending := ''::text;
      end if;
    elsif opened = mark then
      opened := null;
      is_mark := true;
    end if;
    is_in_mark := is_mark and strpos(pieces[n], '$'::text) = 0;
    if is_mark then
      rest := substr(pieces[n], length(mark));
    end if;
    if opened is null then
      pending := pending || rest;
    else
      bodies[cardinality(bodies)] := bodies[cardinality(bodies)] || rest;
    end if;
  end loop;
  part := case when opened is null then _selvedge.clean_script_part(pending) end;
  if part is null then
    -- Nobody knows what is a body and what is not.
    return array[script, ''::text];
  end if;
  outside := outside || part;
  statements := regexp_split_to_array(array_to_string(outside, ' '::text), ';'::text);
  are_of_library := array(
    select s.statement ~* of_library and s.statement !~* of_two
      -- Nor may it be in a text alone. The name of the language may be one itself.
      and regexp_replace(regexp_replace(s.statement, '\mlanguage(\s+)''(c|internal)''', 'language\1\2', 'gi'::text), plain, ''::text, 'g'::text)
        ~* of_library
    from unnest(statements) with ordinality as s (statement, number) order by s.number
  );
  -- An aggregate has a first value, which a domain may check, so its statement calls something, too.
  select
    coalesce(string_agg(s.statement, E';\n'::text) filter (where s.statement !~* (
      '^\s*(?:create\s+(?:cast|operator|type|access\s+method)'
      || '|alter\s+(?:extension|function|operator|type|access\s+method)|drop|comment\s+on|grant|revoke)\M')
      and s.statement !~* made), ''::text),
    coalesce(string_agg(s.statement, E';\n'::text) filter (where s.statement ~* (
      '^\s*create\s+(?:or\s+replace\s+)?(?:aggregate|cast|operator|type|access\s+method)\M')), ''::text),
    -- A function of a library is none of a project's names.
    coalesce(array_agg(s.statement) filter (where s.statement ~* made and not s.is_of_library), '{}'::text[])
  into calling, naming, functions
  from unnest(statements, are_of_library) as s (statement, is_of_library);
  -- What stands between dollars in these statements runs as well: that of DO blocks.
  run := (
    select string_agg(bodies[b.found[1]::integer], E';\n'::text)
    from regexp_matches(calling, '<body (\d{1,9})>', 'g'::text) as b (found)
  );
  calling := concat_ws(E';\n'::text, calling, run);
  if coalesce(run ~* definer, false) or exists (
    select from unnest(statements, are_of_library) as s (statement, is_of_library) where s.statement ~* definer and not s.is_of_library
  ) then
    return null;
  end if;
  names := array(
    select lower(trim(both '"' from (regexp_match(f.statement, made, 'i'::text))[1]))
    from unnest(functions) with ordinality as f (statement, number) order by f.number
  );
  unread := lower(calling || naming);
  loop
    more := ''::text;
    for n in 1 .. cardinality(functions) loop
      -- In encodings of one byte a letter of another language may be a variant of the one that is written.
      if strpos(unread, names[n]) > 0 or names[n] ~ '[^\x01-\x7f]' then
        -- Its own name is no call.
        more := more || E';\ndo ' || regexp_replace(functions[n], made, '('::text, 'i'::text) || coalesce(
          (select string_agg(E';\ndo ' || bodies[b.found[1]::integer], ''::text) from regexp_matches(functions[n], '<body (\d{1,9})>', 'g'::text) as b (found)),
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

-- As in 0166_extension_path_objects.sql, but names are compared as PostgreSQL compares them. The collation of the database decides nothing about
-- ASCII letters, so INIT is init in a Turkish one as well. In encodings of one byte it decides about others.
create or replace function _selvedge.find_callable_names(calling text, naming text, schemas text[]) returns setof text
  language sql stable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
  with script as (
    select lower((calling || naming) collate "C") as text, lower((calling || naming) collate "default") as varied,
      coalesce(calling ~* ('\msearch_path\M'::text collate "C"), false) as changes_path
  ),
  place as (
    select n.oid, case
      when schemas is null or n.nspname::text = any (schemas) or n.oid = pg_my_temp_schema() or s.changes_path then true
      when calling is null then false
      when n.nspname ~ '[^\x01-\x7f]'::text then strpos(s.varied, lower(n.nspname::text collate "default")) > 0
        or strpos(s.text, lower(n.nspname::text collate "C")) > 0
      when strpos(s.text, lower(n.nspname::text collate "C")) = 0 then false
      when n.nspname !~ '^[A-Za-z_][A-Za-z0-9_]*$'::text then true
      else calling || naming ~* (('(^|[^A-Za-z0-9_$])' || n.nspname::text || '([^A-Za-z0-9_$]|$)') collate "C")
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
      when n.name ~ '[^\x01-\x7f]'::text then strpos(s.varied, lower(n.name collate "default")) > 0
        or strpos(s.text, lower(n.name collate "C")) > 0
      when strpos(s.text, lower(n.name collate "C")) = 0 then false
      when n.name !~ '^[A-Za-z_][A-Za-z0-9_]*$'::text then true
      when n.kind = 'function'::text then calling ~* (('(^|[^A-Za-z0-9_$])' || n.name || '"?\s*\('::text) collate "C")
        or naming ~* (('(^|[^A-Za-z0-9_$])' || n.name || '([^A-Za-z0-9_$]|$)') collate "C")
      else calling ~* (('(^|[^A-Za-z0-9_$])_?' || n.name || '([^A-Za-z0-9_$]|$)') collate "C")
    end as is_called
    from (select distinct r.name, r.kind from reached as r) as n cross join script as s
  )
  select r.object from reached as r join name as n on n.name = r.name and n.kind = r.kind and n.is_called
  order by r.object
$$;
