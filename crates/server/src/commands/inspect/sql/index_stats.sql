-- Size and use of each index, beside how often its table was read without an index.
select
  format('%I.%I', i.schemaname, i.indexrelname) as name,
  pg_size_pretty(pg_relation_size(i.indexrelid)) as size,
  -- Of an index that was never used, 0 %, also when its table was never read.
  coalesce(round(100.0 * i.idx_scan / nullif(i.idx_scan + t.seq_scan, 0), 1), 0)::text || '%' as percent_used,
  i.idx_scan as index_scans,
  t.seq_scan as seq_scans,
  i.idx_scan = 0 as unused
from pg_catalog.pg_stat_user_indexes i
join pg_catalog.pg_stat_user_tables t on t.relid = i.relid
where not i.schemaname like any (current_setting('inspect.left_out')::text[])
order by pg_relation_size(i.indexrelid) desc, name
