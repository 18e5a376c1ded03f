-- As in 0190_extension_script_tokens.sql, but a setting of the path to a list of names leads nowhere else. The functions of many extensions have such
-- paths, and of a script that may call everything in its path, as one with `security definer` may, everything counted then that the database has, in
-- whatever schema: so a database with the check could not get the platform schema, whose vault is such an extension.

create or replace function _selvedge.find_callable_names(calling text, naming text, schemas text[]) returns setof text
  language sql stable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
  with script as (
    select lower(p.whole collate "C") as text, lower(p.whole collate "default") as varied, p.whole collate "C" as whole,
      -- What a list of plain names leads to is found by these names.
      coalesce(calling, naming, ''::text) ~* ('\msearch_path\M'::text collate "C") and regexp_replace(coalesce(calling, naming, ''::text), (
        '\mset\s+(?:(?:local|session)\s+)?search_path\s*(?:=|\mto\M)\s*' || l.schema || '(?:\s*,\s*' || l.schema || ')*(?=\s*(?:;|$|\m[a-z]))'
      ) collate "C", ''::text, 'gi'::text) ~* ('\msearch_path\M'::text collate "C") as changes_path
    from concat_ws(E';\n'::text, calling, naming) as p (whole)
    cross join (values ('(?:(?!default\M)[a-z_]\w*|"[a-z_]\w*"|''[a-z_]\w*''|@extschema(?::[a-z0-9_-]+)?@)'::text)) as l (schema)
  ),
  place as (
    select n.oid, case
      when schemas is null or n.nspname::text = any (schemas) or n.oid = pg_my_temp_schema() or s.changes_path then true
      when n.nspname ~ '[^\x01-\x7f]'::text then strpos(s.varied, lower(n.nspname::text collate "default")) > 0
        or strpos(s.text, lower(n.nspname::text collate "C")) > 0
      when strpos(s.text, lower(n.nspname::text collate "C")) = 0 then false
      when n.nspname !~ '^[A-Za-z_][A-Za-z0-9_]*$'::text then true
      else s.whole ~* (('(^|[^A-Za-z0-9_$])' || n.nspname::text || '([^A-Za-z0-9_$]|$)') collate "C")
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
      when n.kind = 'function'::text then calling ~* (('(^|[^A-Za-z0-9_$])' || n.name || '"?\s*([(]|/[*]|--)'::text) collate "C")
        or naming ~* (('(^|[^A-Za-z0-9_$])' || n.name || '([^A-Za-z0-9_$]|$)') collate "C")
      else calling ~* (('(^|[^A-Za-z0-9_$])_?' || n.name || '([^A-Za-z0-9_$]|$)') collate "C")
    end as is_called
    from (select distinct r.name, r.kind from reached as r) as n cross join script as s
  )
  select r.object from reached as r join name as n on n.name = r.name and n.kind = r.kind and n.is_called
  order by r.object
$$;
