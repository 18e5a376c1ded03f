-- Tables, partitions and materialized views with their bytes on the disk.
select
  c.oid::text as oid,
  n.nspname::text as schema,
  c.relname::text as name,
  pg_table_size(c.oid) as bytes,
  pg_indexes_size(c.oid) as index_bytes,
  greatest(c.reltuples, 0)::bigint as rows
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'm')
  and n.nspname not in ('pg_catalog', 'information_schema')
  and not pg_is_other_temp_schema(n.oid)
