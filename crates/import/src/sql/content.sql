-- Counts a project's relations and functions, to tell whether a database is empty.
-- Parameter: $1 schemas of the project.
select
  (
    select count(*) from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = any ($1::text[]) and n.nspname <> 'supabase_migrations' and c.relkind in ('r', 'v', 'm', 'p', 'f')
      and not exists (
        select from pg_depend as d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
      )
  ),
  (
    select count(*) from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname = any ($1::text[]) and not exists (
      select from pg_depend as d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
    )
  )
