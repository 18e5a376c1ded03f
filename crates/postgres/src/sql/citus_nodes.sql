-- The addresses of Citus's nodes, the range of its shard ids, and whether storage.objects is a distributed table.
select
  (select coalesce(array_agg(nodename || ':' || nodeport), '{}') from pg_catalog.pg_dist_node) as addresses,
  (select min(shardid) from pg_catalog.pg_dist_shard) as first_shard,
  (select max(shardid) from pg_catalog.pg_dist_shard) as last_shard,
  exists (
    select from pg_catalog.pg_dist_partition p
    join pg_catalog.pg_class c on c.oid = p.logicalrelid and c.relname = 'objects'
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = 'storage'
    where p.partmethod <> 'n' or p.repmodel = 't' or p.colocationid <> 0) as distributes_objects;
