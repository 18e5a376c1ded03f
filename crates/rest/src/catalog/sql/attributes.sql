-- Names of relations and their columns in every schema: a foreign key or view may pass through schemas without endpoints.
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
  and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
  and not pg_catalog.pg_is_other_temp_schema(n.oid)
group by c.oid, n.nspname, c.relname, c.relkind;
