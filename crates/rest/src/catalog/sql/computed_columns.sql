-- Functions of one row of a table that Citus distributes: its computed columns. The oldest function of a name is chosen.
select
  c.oid as relation,
  p.proname::text as name,
  n.nspname::text as schema
from pg_catalog.pg_dist_partition d
join pg_catalog.pg_class c on c.oid = d.logicalrelid
join pg_catalog.pg_proc p on p.pronargs = 1 and p.proargtypes[0] = c.reltype and not p.proretset and p.prokind = 'f'
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
order by p.oid desc;
