-- Whether each table is mostly read or mostly written. Blocks that were written are not counted by PostgreSQL; they are
-- estimated as changed rows divided by the rows of a block. One side prevails when it is five times the other.
with traffic as (
  select
    t.schemaname,
    t.relname as table_name,
    io.heap_blks_read + coalesce(io.idx_blks_read, 0) as blocks_read,
    t.n_tup_ins + t.n_tup_upd + t.n_tup_del as write_tuples,
    (t.n_tup_ins + t.n_tup_upd + t.n_tup_del) * c.relpages / greatest(c.reltuples, 1) as blocks_write
  from pg_catalog.pg_stat_user_tables t
  join pg_catalog.pg_statio_user_tables io on io.relid = t.relid
  join pg_catalog.pg_class c on c.oid = t.relid
)
select
  schemaname,
  table_name,
  blocks_read,
  write_tuples,
  blocks_write,
  case
    when blocks_write > 5 * blocks_read then round((blocks_write / blocks_read)::numeric, 1) || ':1 (Write-Heavy)'
    when blocks_read > 5 * blocks_write and blocks_write = 0 then 'Read-Only'
    when blocks_read > 5 * blocks_write then '1:' || round((blocks_read / blocks_write)::numeric, 1) || ' (Read-Heavy)'
    else '1:1 (Balanced)'
  end as activity_ratio
from traffic
where write_tuples > 0 and blocks_read > 0
order by blocks_read + blocks_write desc, schemaname, table_name
