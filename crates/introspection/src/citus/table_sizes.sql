-- Rows and bytes of Citus's tables, as of the last VACUUM or ANALYZE of their shards; null when other nodes store some of them.
-- A shard has the name of its table and its number; that of a name too long for this is not found, and its size is unknown.
-- Citus hides shards from queries on pg_class unless citus.override_table_visibility is off.
with here as (
  select coalesce((select groupid from pg_catalog.pg_dist_local_group), 0) as groupid
)
select
  p.logicalrelid::oid::text as oid,
  case when count(c.oid) = count(*) and bool_and(c.reltuples >= 0) then sum(c.reltuples)::int8 end as rows,
  case when count(c.oid) = count(*)
    then (sum(size.row_pages + size.index_pages) * current_setting('block_size')::int8)::int8 end as bytes,
  case when count(c.oid) = count(*)
    then (sum(size.index_pages) * current_setting('block_size')::int8)::int8 end as index_bytes
from pg_catalog.pg_dist_partition p
cross join here
join pg_class t on t.oid = p.logicalrelid
left join pg_catalog.pg_dist_shard s on s.logicalrelid = p.logicalrelid
left join pg_class c on c.relnamespace = t.relnamespace and c.relname = (t.relname || '_' || s.shardid)::name
  and exists (
    select from pg_catalog.pg_dist_placement o where o.shardid = s.shardid and o.groupid = here.groupid)
left join lateral (
  select
    greatest(c.relpages, 0)::int8 + coalesce((select b.relpages from pg_class b where b.oid = c.reltoastrelid), 0) as row_pages,
    coalesce((select sum(i.relpages) from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid), 0)
      as index_pages
) size on true
group by p.logicalrelid
