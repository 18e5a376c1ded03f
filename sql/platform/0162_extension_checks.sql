-- Which extension a statement is about, and what its script could call: two ways around the checks of 0136_extension_scripts.sql and
-- 0155_extension_names.sql.

-- As in 0155_extension_names.sql, but a doubled quote within a name is not taken for its end.
create or replace function _selvedge.find_named_extension(statement text, has_end boolean) returns text
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
  -- Where the statement ends in a name in quotes, the quote behind it may also be the second one of a doubled quote, with which the name
  -- goes on. Then nothing may follow that could hold another statement.
  ending constant text := '(?:[ \t\n\r\f\v]*;?[ \t\n\r\f\v]*' || case when has_end then '(?<!")"(?:\n|$)|"(?:\n[^;]*)?$)' else '$)' end;
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

-- Functions and operators of others than superusers whose names a script calls, and all of them where nobody could read its text. They count
-- in every schema but the platform's own: an owner may take the right to create from itself after it has created something, and a script is
-- run with the schemas of what the extension requires in its path, too.
create or replace function _selvedge.find_callable_names(script text) returns setof text
  language sql stable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
  with project_schema as (
    select n.oid from pg_namespace as n
    where n.nspname !~ '^pg_(catalog$|toast|temp_)'::text and n.nspname <> all (array['information_schema', '_selvedge', 'selvedge_console']::name[])
  ),
  planted as (
    select p.oid::regprocedure::text as object, p.proname::text as name, true as is_function
    from pg_proc as p join pg_roles as r on r.oid = p.proowner and not r.rolsuper
    where p.pronamespace in (select s.oid from project_schema as s)
      -- PostgreSQL's own come first.
      and not exists (
        select from pg_proc as c
        where c.pronamespace = 'pg_catalog'::regnamespace and c.proname = p.proname and c.proargtypes = p.proargtypes
      )
    union all
    select o.oid::regoperator::text, o.oprname::text, false
    from pg_operator as o join pg_roles as r on r.oid = o.oprowner and not r.rolsuper
    where o.oprnamespace in (select s.oid from project_schema as s)
      and not exists (
        select from pg_operator as c
        where c.oprnamespace = 'pg_catalog'::regnamespace and c.oprname = o.oprname and c.oprleft = o.oprleft and c.oprright = o.oprright
      )
  ),
  name as (
    select n.name, n.is_function, case
      when script is null then true
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
