-- Tables that store rows, with their columns other than generated ones.
-- Parameters: $1 schemas whose tables are all listed; $2 further tables, as schema.name.
select n.nspname::text, c.relname::text, (
  select coalesce(array_agg(a.attname::text order by a.attnum), '{}')
  from pg_attribute as a
  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
)
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where c.relkind = 'r' and (
  n.nspname || '.' || c.relname = any ($2::text[])
  or (n.nspname = any ($1::text[]) and not exists (
    select from pg_depend as d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
  ))
)
order by 1, 2
