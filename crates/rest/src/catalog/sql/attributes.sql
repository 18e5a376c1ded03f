-- Names of relations and their columns in every schema, because a foreign key or view may lead through schemas without endpoints.
-- Schemas whose names begin with one of $2 are left out, unless they are in $1.
select
  c.oid as oid,
  n.nspname::text as schema,
  c.relname::text as name,
  c.relkind in ('v', 'm') as is_view,
  array_agg(a.attnum order by a.attnum) as numbers,
  array_agg(a.attname::text order by a.attnum) as names
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relkind in ('r', 'v', 'm', 'f', 'p')
  -- by their dependencies on the schemas, for which there is an index: pg_class would have to be read as a whole
  and c.oid = any (array(
    select d.objid
    from pg_catalog.pg_namespace s
    join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_namespace'::regclass and d.refobjid = s.oid
      and d.classid = 'pg_catalog.pg_class'::regclass
    where s.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
      and not pg_catalog.pg_is_other_temp_schema(s.oid)
      and (s.nspname::text = any ($1)
           or not exists (select from unnest($2::text[]) prefix where s.nspname::text ^@ prefix))))
group by c.oid, n.nspname, c.relname, c.relkind;
