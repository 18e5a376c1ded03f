-- What may be left out of the functions and operators that the script of an extension could call. Databases that `postgres` makes have a copy of
-- this function (extension_guard.sql), and there a schema may have any name that is the platform's in a project.

-- As in 0162_extension_checks.sql, but the platform's schemas are left out only where they are a superuser's and nobody else can create in
-- them, and a function that may be called with other types than it declares counts although PostgreSQL has one that declares the same.
create or replace function _selvedge.find_callable_names(script text) returns setof text
  language sql stable
  set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on
as $$
  with platform_schema as (
    select n.oid from pg_namespace as n join pg_roles as o on o.oid = n.nspowner and o.rolsuper
    where n.nspname = any (array['information_schema', '_selvedge', 'selvedge_console']::name[]) and not exists (
      select from aclexplode(n.nspacl) as a left join pg_roles as r on r.oid = a.grantee
      where a.privilege_type = 'CREATE'::text and r.rolsuper is not true
    )
  ),
  project_schema as (
    select n.oid from pg_namespace as n
    where n.nspname !~ '^pg_(catalog$|toast|temp_)'::text and not exists (select from platform_schema as s where s.oid = n.oid)
  ),
  planted as (
    select p.oid::regprocedure::text as object, p.proname::text as name, true as is_function
    from pg_proc as p join pg_roles as r on r.oid = p.proowner and not r.rolsuper
    where p.pronamespace in (select s.oid from project_schema as s)
      -- PostgreSQL's own come first. Default values and VARIADIC let a function be called with the types of another one of PostgreSQL's.
      and not (p.pronargdefaults = 0 and p.provariadic = 0::oid and exists (
        select from pg_proc as c
        where c.pronamespace = 'pg_catalog'::regnamespace and c.proname = p.proname and c.proargtypes = p.proargtypes
      ))
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
