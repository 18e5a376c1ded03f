-- Names of the tables of the exposed schemas ($1). Partitions have no endpoints.
select c.oid as oid, s.nspname::text as schema, c.relname::text as name
from pg_catalog.pg_namespace s
join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_namespace'::regclass and d.refobjid = s.oid
  and d.classid = 'pg_catalog.pg_class'::regclass
join pg_catalog.pg_class c on c.oid = d.objid and c.relkind in ('r', 'p') and not c.relispartition
where s.nspname = any ($1) and s.nspname not in ('pg_catalog', 'information_schema');
